export type { CopiedStore, CopyPhase, CopyProgress, CopyStoreOptions } from "./copy/copy-store.ts";
export { copyStore } from "./copy/copy-store.ts";
export type { Conversation } from "./conversation.ts";
export type { LiveAgents } from "./conversation-agents.ts";
export { createLiveAgents } from "./conversation-agents.ts";
export type { ConversationChanges, ConversationOptions } from "./conversation-transcript.ts";
export { createConversation } from "./conversation-transcript.ts";
export type { SendOptions, Session, SessionSeams } from "./session.ts";
export { createSession } from "./session.ts";
export type {
  AuditEntry,
  ClaimWanted,
  HeldClaim,
  KeptEnd,
  ModelUsage,
  NewRun,
  NewThread,
  NodeNote,
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
  ThreadPage,
  ThreadsWanted,
  WholeThread,
} from "./stores/store.ts";
export type { StoreErrorCode } from "./stores/store-error.ts";
export { isStoreError, StoreError } from "./stores/store-error.ts";
export type { JobsWanted, QueueCounts, QueuedJob, RunQueue, TakenJob } from "./queues/queue.ts";
export { ANY_KIND } from "./queues/queue.ts";
export type { QueueErrorCode } from "./queues/queue-error.ts";
export { isQueueError, QueueError } from "./queues/queue-error.ts";
export { EngineQueue } from "./queues/engine-queue.ts";
export { requireReached } from "./queues/require-reached.ts";
export type { Finding } from "./finding.ts";
export type { EventLog } from "./event-log.ts";
export { createEventLog } from "./event-log.ts";
export { closeInterruptedRun } from "./event-log-closing.ts";
export type { EventBatch } from "./live-tail.ts";
export { StoredMark } from "#run";
export type { ThreadRecorder } from "./event-log-writer.ts";
export { createUsageCounter, settlementOf, titleOf } from "./thread.ts";
export { CHAT_TENANT, LOCAL_TENANT } from "./stores/thread-rules.ts";
export type { UnstoredEnds } from "./unstored-end.ts";
export { createUnstoredEnds, endWithError, storeFailure } from "./unstored-end.ts";
