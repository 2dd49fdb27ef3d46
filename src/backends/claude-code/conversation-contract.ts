import type { AgentConversation } from "../backend.ts";

/**
 * A conversation with Claude Code. The agent that answers is one of the option `agents`, or of the CLI's own; the tool
 * servers are those of `mcpConfig` and of the settings, and are told in control mode only.
 */
export type ClaudeCodeConversation = Required<AgentConversation>;
