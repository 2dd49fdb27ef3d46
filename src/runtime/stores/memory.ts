/**
 * A store that lives as long as the process, for tests.
 *
 * @module
 */
export type { Store } from "#sessions";
export { createMemoryStore } from "../../sessions/stores/memory/memory-store.ts";
