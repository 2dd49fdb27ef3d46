export type { Store } from "#sessions";
export { createMemoryStore } from "../../sessions/stores/memory/memory-store.ts";
