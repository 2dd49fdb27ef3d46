/**
 * Translations of our events into the vocabularies of other programs: pure functions over a run, a list or a stream of
 * events.
 *
 * @module
 */
export type { ChatEvent, ChatMessage, ChatOptions, ChatTool } from "./chat-events.ts";
export { createChatEvents, toChatEvents } from "./chat-events.ts";
export type { CollectResult } from "./collect.ts";
export { collect } from "./collect.ts";
export type {
  AnyMap,
  ErrorMap,
  EventMap,
  MessageStartMap,
  NormalisedMap,
  RetractMap,
  ToolCompleteMap,
} from "./event-map.ts";
export type { MapOf, Normalised, Tagged } from "./event-map-streams.ts";
export {
  accumulateText,
  collectType,
  createTagged,
  textOnly,
  toEvents,
  toolsOnly,
  toTagged,
} from "./event-map-streams.ts";
export { createEventMaps, toEventMaps } from "./event-maps.ts";
export type {
  AssistantMessage,
  ContentBlock,
  EndOfStream,
  ItemDiagnostic,
  ItemError,
  ItemMessage,
  ItemWarning,
  MessageEnvelope,
  ResultMessage,
  StreamEventMessage,
  StreamItem,
  SystemMessage,
  UserMessage,
  WarningEvent,
} from "./item.ts";
export { errorToString, isTerminal } from "./item-errors.ts";
export type { ItemOptions } from "./items.ts";
export { createItems, toItems } from "./items.ts";
export type {
  RawResponseEvent,
  RunCompleteEvent,
  RunItemEvent,
  RunnerArtifact,
  RunnerDocuments,
  RunnerEvent,
  RunnerMessage,
  RunnerToolCall,
  RunnerToolResult,
} from "./runner-events.ts";
export { createRunnerEvents, toRunnerEvents } from "./runner-events.ts";
export type { RunnerSseOptions, RunSummary } from "./runner-sse.ts";
export { createRunnerSse, toRunnerSse } from "./runner-sse.ts";
export type {
  ChunkUsage,
  CompleteChunk,
  RetractedText,
  StreamChunk,
  ToolResultChunk,
  ToolUseChunk,
} from "./stream-chunks.ts";
export { createStreamChunks, toStreamChunks } from "./stream-chunks.ts";
export type {
  StreamingEvent,
  StreamingMessage,
  StreamingMetadata,
  StreamingToolResult,
  StreamingToolUse,
  Visibility,
} from "./streaming-events.ts";
export { createStreamingEvents, toStreamingEvents } from "./streaming-events.ts";
export type {
  StreamingAccumulator,
  StreamingFailure,
  StreamingResult,
  StreamingResultOptions,
  StreamingToolCall,
} from "./streaming-result.ts";
export { createStreamingResult, toStreamingResult } from "./streaming-result.ts";
export type { VendorUsage } from "./vendor-words.ts";
export type { EventSource, Source, View } from "./view.ts";
export type { SseVocabulary } from "./sse-frames.ts";
export { createSseFrames, SSE_VOCABULARIES } from "./sse-frames.ts";
export type { ReportOptions } from "./tool-reports.ts";
