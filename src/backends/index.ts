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
  Resume,
  ToolChoice,
  ToolSpec,
} from "./backend.ts";
