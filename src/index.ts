/**
 * Millrace runs any agent as one honest stream of events.
 *
 * @module
 */
export type { InputMessage, RetryOptions, RunInput } from "#agents";
export type { GivenResult, ParkedRun, Wait } from "#run";
export type { ResponseOptions, HandleJson, Run, TextResponseOptions, Topic, TopicEvent } from "#run";
export type {
  AgentBackend,
  AgentControl,
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
  Chunk,
  DeltaEvent,
  Diagnostic,
  DoneEvent,
  ErrorCode,
  ErrorDetail,
  EventOf,
  EventType,
  Family,
  ItemEvent,
  McpServerStatus,
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
  AgentToolOptions,
  ReplayOptions,
  ReplaySource,
  RunOptions,
  SessionOptions,
  CommandOptions,
  Swarm,
  SwarmOptions,
  Target,
  ExecuteOptions,
  ToolRegistry,
} from "#runtime";
export {
  agent,
  agentTool,
  command,
  createToolRegistry,
  defineConfig,
  explain,
  openSession,
  replay,
  run,
  swarm,
} from "#runtime";
export type { SendOptions, Session } from "#sessions";
export type { Artifact, JsonSchema, StandardSchema, Tool, ToolContext, ToolDefinition, ToolOptions } from "#tools";
export type { ParkedCall } from "#tools";
export { park, sleepUntil, tool } from "#tools";
