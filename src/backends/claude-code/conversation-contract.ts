import type { AgentConversation } from "../backend.ts";

/** What a conversation with Claude Code can do beyond what every agent can. */
export interface ClaudeCodeConversation extends AgentConversation {
  /** The agent that answers from the next turn on: one of the `agents`, or of the CLI's own. */
  setAgent(name: string): Promise<void>;
  /** The CLI's tool servers, as it tells them. Needs control mode. */
  mcpStatus(): Promise<readonly unknown[]>;
  /** Starts what the first turn needs. Rejects with `StartError`. */
  warmUp(): Promise<void>;
}
