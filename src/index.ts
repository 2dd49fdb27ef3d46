/**
 * Millrace runs any agent as one honest stream of events.
 *
 * @module
 */
export type { InputMessage, RetryOptions, Run, RunInput, Topic, TopicEvent } from "#agents";
export type { Backend, ModelBackend, ModelRequest, ToolChoice, ToolSpec } from "#backends";
export type {
  AgentEvent,
  Block,
  DeltaEvent,
  Diagnostic,
  DoneEvent,
  ErrorCode,
  ErrorDetail,
  EventOf,
  EventType,
  Family,
  ItemEvent,
  Message,
  Raw,
  Retraction,
  RunResult,
  RunStatus,
  StartErrorCode,
  StopReason,
  ToolCallRecord,
  Usage,
  WarningCode,
  WarningDetail,
} from "#domain";
export {
  addUsage,
  familyOf,
  isDelta,
  isRunError,
  isStartError,
  isToolFailure,
  RunError,
  StartError,
  ToolFailure,
} from "#domain";
export type { Agent, Limits, ProviderOptions, RunOptions, Target } from "#runtime";
export { agent, run } from "#runtime";
export type { JsonSchema, StandardSchema, Tool, ToolContext, ToolDefinition, ToolOptions } from "#tools";
export { tool } from "#tools";
