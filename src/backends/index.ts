export type { ModelRequest, OutputSpec, ToolChoice, ToolSpec } from "#dialects";
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
  Resume,
} from "./backend.ts";
export { coverThrown } from "./cover-thrown.ts";
