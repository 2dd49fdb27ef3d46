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
} from "./backend.ts";
export { coverThrown } from "./cover-thrown.ts";
