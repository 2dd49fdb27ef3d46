/**
 * Millrace runs any agent as one honest stream of events.
 *
 * @module
 */
export type {
  InputMessage,
  ResponseOptions,
  RetryOptions,
  Run,
  RunInput,
  TextResponseOptions,
  Topic,
  TopicEvent,
} from "#agents";
export type {
  AgentBackend,
  AgentConversation,
  AgentFeature,
  AgentLink,
  AgentSettings,
  Backend,
  Explanation,
  ModelBackend,
  ModelRequest,
  OutputSpec,
  Resume,
  ToolChoice,
  ToolSpec,
} from "#backends";
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
  waitForPerson,
} from "#domain";
export type {
  AfterToolOccasion,
  BeforeStopOccasion,
  BeforeToolOccasion,
  Decision,
  Guard,
  GuardAnswer,
  Guarded,
  GuardPlace,
  HandoffOccasion,
  HookAnswer,
  HookEntry,
  HookFunction,
  Hooks,
  Otherwise,
  OutputMode,
  PermissionCallback,
  PermissionRequest,
  PermissionRules,
  Point,
  PromptOccasion,
  RunEndOccasion,
} from "#policy";
export type {
  Agent,
  Config,
  Limits,
  OpenSessionOptions,
  OutputOf,
  OutputRequest,
  PolicyOptions,
  ProviderOptions,
  ReplayOptions,
  RunOptions,
  SessionOptions,
  Swarm,
  SwarmOptions,
  Target,
} from "#runtime";
export { agent, defineConfig, explain, openSession, replay, run, swarm } from "#runtime";
export type { SendOptions, Session } from "#sessions";
export type { JsonSchema, StandardSchema, Tool, ToolContext, ToolDefinition, ToolOptions } from "#tools";
export { tool } from "#tools";
