export type { NewRun, ReadOptions, RunStore, StoredRun } from "./stores/store.ts";
export type { StoreErrorCode } from "./stores/store-error.ts";
export { isStoreError, StoreError } from "./stores/store-error.ts";
