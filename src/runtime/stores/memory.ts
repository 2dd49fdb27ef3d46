/**
 * A store that lives as long as the process, for tests.
 *
 * @module
 */
export type { Store, StoreErrorCode } from "#sessions";
export { isStoreError, StoreError } from "#sessions";
export { createMemoryStore } from "../../sessions/stores/memory/memory-store.ts";
