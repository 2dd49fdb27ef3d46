export type { Conversation } from "./conversation.ts";
export type { LiveAgents, LiveAgentsOptions, Wish } from "./conversation-agents.ts";
export { CONVERSATION_LIMITS, createLiveAgents } from "./conversation-agents.ts";
export type { ConversationChanges, ConversationOptions } from "./conversation-transcript.ts";
export { createConversation } from "./conversation-transcript.ts";
export type { RunQueue } from "./run-queue.ts";
export { createRunQueue } from "./run-queue.ts";
export type { SendOptions, Session, SessionSeams } from "./session.ts";
export { createSession } from "./session.ts";
export type {
  AuditEntry,
  ModelUsage,
  NewRun,
  NewThread,
  Question,
  ReadOptions,
  RunStore,
  RunsWanted,
  Settlement,
  Store,
  StoredRun,
  StoredThread,
  ThreadPage,
  ThreadsWanted,
} from "./stores/store.ts";
export type { StoreErrorCode } from "./stores/store-error.ts";
export { isStoreError, StoreError } from "./stores/store-error.ts";
export type { EventLog, EventLogOptions, FollowOptions, LoggedRun, Rescue } from "./event-log.ts";
export { createEventLog } from "./event-log.ts";
export { closeInterruptedRun, closeInterruptedRuns } from "./event-log-closing.ts";
export type { EventBatch } from "./live-tail.ts";
export type { ThreadRecorder } from "./event-log-writer.ts";
export type { UsageTotals } from "./thread.ts";
export { createUsageTally, settlementOf, titleOf } from "./thread.ts";
export { LOCAL_TENANT } from "./stores/thread-rules.ts";
export type { UnstoredEnds, UnstoredEndsOptions } from "./unstored-end.ts";
export { createUnstoredEnds, endWithError } from "./unstored-end.ts";
