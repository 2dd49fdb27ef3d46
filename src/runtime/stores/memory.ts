/**
 * A store in memory, for tests; its content ends with the process.
 *
 * @module
 */
export type {
  AuditEntry,
  ClaimWanted,
  HeldClaim,
  ModelUsage,
  NewRun,
  NewThread,
  Question,
  ReadOptions,
  RunClaim,
  RunStore,
  RunsWanted,
  Settlement,
  Store,
  StoredAnswer,
  StoredRun,
  StoredThread,
  StoreErrorCode,
  ThreadPage,
  ThreadsWanted,
  WholeThread,
} from "#sessions";
export { isStoreError, StoreError } from "#sessions";
export { createMemoryStore } from "../../sessions/stores/memory/memory-store.ts";
