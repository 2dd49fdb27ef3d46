import { repairPairs, type RunSource } from "#agents";
import { type Message, StartError } from "#domain";
import type { Conversation } from "./conversation.ts";
import type { LiveAgents } from "./conversation-agents.ts";

/** What was changed in the course of a conversation; what is absent is as it was at its beginning. */
export interface ConversationChanges {
  readonly model?: string;
  /** The agent that is to answer: the one last set, or the one that had the last word. */
  readonly agent?: string;
}

export interface ConversationOptions {
  /** Makes the source of one run. The transcript's last message is the one to answer. */
  readonly start: (transcript: readonly Message[], changes: ConversationChanges) => RunSource;
  /** Throws a `StartError` for a model or an agent that cannot be had. Asked before a change is taken over. */
  readonly check?: ((changes: ConversationChanges) => void) | undefined;
  /** A transcript to go on from. */
  readonly messages?: readonly Message[] | undefined;
  /** The agent backends' side, when there are any among those that answer. */
  readonly agents?: LiveAgents | undefined;
}

/**
 * Creates a conversation that keeps its transcript and gives all of it to every turn: a model knows nothing else, and an
 * agent is told only what it does not know yet.
 *
 * Only what a run produced that succeeded becomes part of the transcript. One that failed or was aborted leaves the
 * conversation as it was before its message: half an answer, or an input that was refused, is not sent again unasked.
 *
 * The agent that had the last word answers the next input, unless another one was set meanwhile.
 *
 * @example
 * createConversation({ start: (messages, { agent }) => createRunSource({ ...plan, start: agent }, messages) })
 */
export function createConversation(options: ConversationOptions): Conversation {
  const { agents } = options;
  let transcript: readonly Message[] = repairPairs(options.messages ?? []);
  let changes: ConversationChanges = {};
  /** Somebody has named the next agent while a run was under way; its end does not overrule that. */
  let agentIsSet = false;

  return {
    get sessionId() {
      return agents?.sessionId;
    },
    messages: () => transcript,
    async turn(input, writer) {
      agentIsSet = false;
      await options.start([...transcript, ...input], changes)(writer);
    },
    note(result) {
      if (result.status !== "success") return;
      if (result.agent !== undefined && !agentIsSet) changes = { ...changes, agent: result.agent };
      transcript = repairPairs(result.messages);
    },
    async setModel(model) {
      options.check?.({ ...changes, model });
      await agents?.setModel(model);
      changes = { ...changes, model };
    },
    async setAgent(agent) {
      options.check?.({ ...changes, agent });
      changes = { ...changes, agent };
      agentIsSet = true;
    },
    async setPermissionMode(mode) {
      if (agents !== undefined) return agents.setPermissionMode(mode);
      throw new StartError(
        "feature-unavailable",
        `The permission mode cannot be set to "${mode}": a model has none. Use the options permission and permissions.`,
      );
    },
    close: async () => agents?.close(),
  };
}
