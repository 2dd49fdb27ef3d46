export { adviceFor, OPTION_WORDS } from "./advice.ts";
export { readReportEntry } from "./report-entry.ts";
export { decodeBase64, encodeBase64 } from "./base64.ts";
export type {
  Block,
  MediaBlock,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultBlock,
  UnknownBlock,
} from "./block.ts";
export { asksPerson, waitForPerson, watchesOnly, watchOnly } from "./person.ts";
export { textOf } from "./block.ts";
export { LONGEST_TEXT, REPLY_BYTES, replyTooLarge } from "./reply-limit.ts";
export { callNotMade, isCompleteReply, stopFailure } from "./stop-failure.ts";
export type { Chunk, ChunkOf, DeltaChunk, DoneChunk, BatchEnvelope } from "./chunk.ts";
export {
  doneEvent,
  errorItem,
  messageItem,
  noticeItem,
  numberEvent,
  handoffItem,
  permissionItem,
  resultItem,
  retractNotice,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
  warningItem,
} from "./chunk.ts";
export { present } from "./present.ts";
export { describeMs, elapsedSince } from "./elapsed.ts";
export type { Diagnostic, ErrorCode, ErrorDetail, StartErrorCode } from "./error-detail.ts";
export { ERROR_CODES, START_ERROR_CODES } from "./error-detail.ts";
export {
  describeWriteFailure,
  describeReadFailure,
  describeThrown,
  describeValue,
  isRunError,
  isStartError,
  isToolFailure,
  RunError,
  StartError,
  ToolFailure,
} from "./errors.ts";
export type {
  AgentEvent,
  DeltaEvent,
  DoneEvent,
  ErrorItem,
  EventOf,
  EventType,
  Family,
  HandoffItem,
  ItemEvent,
  MessageItem,
  Mode,
  NoticeItem,
  PermissionItem,
  ResultItem,
  Retraction,
  Skipped,
  StartItem,
  TextDelta,
  ThinkingDelta,
  ToolCallItem,
  ToolInputDelta,
  ToolResultItem,
  WarningItem,
} from "./event.ts";
export { EVENT_FAMILIES, familyOf, isDelta } from "./event.ts";
export { isId } from "./ids.ts";
export type { ParsedJson } from "./json-reader.ts";
export { JsonReader, LONG_JSON, MAX_JSON_DEPTH, readLongJson, TOO_DEEP } from "./json-reader.ts";
export type { McpServerStatus } from "./mcp-server-status.ts";
export type { Message, StopReason } from "./message.ts";
export { nearestName } from "./nearest.ts";
export type { Check } from "./check.ts";
export {
  aboveZero,
  aFlag,
  aFunction,
  anObject,
  aSignal,
  aText,
  checkInput,
  checkNames,
  checkOptionNames,
  expects,
  giveInstead,
  isPlainObject,
  isRecord,
  listOf,
  oneOf,
  recordOf,
  remedyForName,
  shape,
  wholeNumber,
  zeroOrMore,
} from "./check.ts";
export type { Raw } from "./raw.ts";
export type { RunResult, RunStatus, ToolCallRecord } from "./run-result.ts";
export type {
  Clock,
  Fetch,
  FileSystem,
  HttpRequest,
  HttpResponse,
  NextTurn,
  ProcessEntry,
  ProcessExit,
  ProcessFamily,
  ProcessHandle,
  ProcessRequest,
  ProcessTag,
  Random,
  Spawn,
  StartWorker,
  Worker,
  WorkerProgram,
} from "./seams.ts";
export { TextBuilder } from "./text-builder.ts";
export type { ToolCall, ToolCallFragment } from "./tool-call.ts";
export { unreachable } from "./unreachable.ts";
export type { Usage } from "./usage.ts";
export { addUsage, mergeUsage, readCount, subtractUsage, USAGE_FIELDS } from "./usage.ts";
export type { WarningCode, WarningDetail } from "./warning.ts";
export { WARNING_CODES } from "./warning.ts";
export { startFailure } from "./start-failure.ts";
export type { Retracted, TextPiece } from "./shown-text.ts";
export { createShownText, readRetraction } from "./shown-text.ts";
