import { type AgentLeg, type Leg, repairPairs, type RunSource } from "#agents";
import { type Message, StartError } from "#domain";
import type { Conversation } from "./conversation.ts";
import type { LiveAgents } from "./conversation-agents.ts";
import { refuseControl } from "./conversation-refusal.ts";

/** What was changed in the course of a conversation; what is absent is as it was at its beginning. */
export interface ConversationChanges {
  /** Models by the name of the agent they were set for; `""` for one without a name. */
  readonly models?: Readonly<Record<string, string>>;
  /** The agent that is to answer: the one last set, or the one that had the last word. */
  readonly agent?: string;
}

export interface ConversationOptions {
  /** Makes the source of one run. The transcript's last message is the one to answer. */
  readonly start: (transcript: readonly Message[], changes: ConversationChanges) => RunSource;
  /**
   * Who answers next. Throws a `StartError` for a model or an agent that cannot be had, and is asked before a change is
   * taken over.
   */
  readonly next: (changes: ConversationChanges) => Leg;
  /** The agents that may be set by name. */
  readonly agentNames?: readonly string[] | undefined;
  /** A transcript to go on from. */
  readonly messages?: readonly Message[] | undefined;
  /** The agent backends' side. */
  readonly agents: LiveAgents;
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
 * createConversation({
 *   start: (messages, { agent }) => createRunSource({ ...plan, start: agent }, messages),
 *   next: ({ agent }) => plan.legs.find((leg) => leg.agent === agent) ?? plan.legs[0],
 *   agents: createLiveAgents({ clock }),
 * })
 */
export function createConversation(options: ConversationOptions): Conversation {
  const { agents, agentNames = [] } = options;
  let transcript: readonly Message[] = repairPairs(options.messages ?? []);
  let changes: ConversationChanges = {};
  /** Somebody has named the next agent while a run was under way; its end does not overrule that. */
  let agentIsSet = false;

  return {
    get sessionId() {
      return agents.sessionId;
    },
    messages: () => transcript,
    async turn(input, writer) {
      agentIsSet = false;
      await options.start([...transcript, ...input], changes)(writer);
    },
    note(result) {
      agents.settle(result.status === "success");
      if (result.status !== "success") return;
      if (result.agent !== undefined && !agentIsSet) changes = { ...changes, agent: result.agent };
      transcript = repairPairs(result.messages);
    },
    async setModel(model) {
      const name = options.next(changes).agent ?? "";
      const models = { ...changes.models, [name]: model };
      const leg = options.next({ ...changes, models });
      if (isAgentLeg(leg)) await agents.tell(leg, "setModel", ownName(leg, model));
      changes = { ...changes, models };
    },
    async setAgent(agent) {
      if (agentNames.includes(agent)) {
        changes = { ...changes, agent };
        agentIsSet = true;
        return;
      }
      const leg = options.next(changes);
      if (!isAgentLeg(leg)) throw unknownAgent(agent, leg, agentNames);
      await agents.tell(leg, "setAgent", agent);
    },
    async setPermissionMode(mode) {
      const leg = options.next(changes);
      if (!isAgentLeg(leg)) throw refuseControl("setPermissionMode", leg.backend.name, NO_MODES);
      await agents.tell(leg, "setPermissionMode", mode);
    },
    async mcpStatus() {
      const leg = options.next(changes);
      if (!isAgentLeg(leg)) throw refuseControl("mcpStatus", leg.backend.name, NO_SERVERS);
      return agents.mcpStatus(leg);
    },
    async warmUp() {
      const leg = options.next(changes);
      return isAgentLeg(leg) ? agents.warmUp(leg) : false;
    },
    close: () => agents.close(),
  };
}

const NO_MODES = "a model behind an API has no permission modes. Use the options permission and permissions";
const NO_SERVERS = "a model behind an API has no tool servers of its own. Give it tools with the option tools";

function isAgentLeg(leg: Leg): leg is AgentLeg {
  return leg.backend.kind === "agent";
}

/** `claude-code/opus` is `opus` to Claude Code. */
function ownName({ backend }: AgentLeg, model: string): string {
  const prefix = `${backend.name}/`;
  if (model === backend.name || model === prefix) {
    throw new StartError("invalid-option", `The model is "${model}", which names none. Write ${prefix}<model>.`);
  }
  return model.startsWith(prefix) ? model.slice(prefix.length) : model;
}

function unknownAgent(name: string, { backend }: Leg, names: readonly string[]): StartError {
  const known =
    names.length === 0
      ? `This session has no named agents, and ${backend.name} has none of its own. Open it with swarm(…)`
      : `There are: ${names.join(", ")}`;
  return new StartError("unknown-agent", `There is no agent "${name}". ${known}.`);
}
