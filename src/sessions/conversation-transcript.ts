import { type AgentLeg, type Leg, repairPairs } from "#agents";
import type { RunSource } from "#run";
import { type Message, StartError } from "#domain";
import { type Conversation, refuseControl } from "./conversation.ts";
import type { LiveAgents } from "./conversation-agents.ts";

/** Changes made during a conversation; an absent field is unchanged since its beginning. */
export interface ConversationChanges {
  /** Models by the name of their agent; `""` for an agent without a name. */
  readonly models?: Readonly<Record<string, string>>;
  /** The agent that answers next: the one that was set last, or the one that answered last. */
  readonly agent?: string;
}

export interface ConversationOptions {
  /** Creates the source of one run. The last message of the transcript is the one to answer. */
  readonly start: (transcript: readonly Message[], changes: ConversationChanges) => RunSource;
  /**
   * The leg that answers next. Throws a `StartError` for an unavailable model or agent; called before a change is
   * adopted.
   */
  readonly next: (changes: ConversationChanges) => Leg;
  /** The agents that may be set by name. */
  readonly agentNames?: readonly string[] | undefined;
  /** An earlier transcript to continue. */
  readonly messages?: readonly Message[] | undefined;
  /** The conversations with agent backends. */
  readonly agents: LiveAgents;
}

/**
 * Creates a conversation that keeps its transcript and passes all of it to every turn: a model knows nothing else, and
 * an agent receives only what it does not know yet.
 *
 * Only the messages of a successful run become part of the transcript. A run that failed or was aborted leaves the
 * conversation as it was before its message: a partial answer, or an input that was refused, is not sent again by
 * itself.
 *
 * The agent that answered last answers the next input, unless another one was set meanwhile.
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
  /** The next agent was set during a run; the end of that run does not overrule it. */
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
      if (isAgentLeg(leg)) await agents.change(leg, "setModel", ownName(leg, model));
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
      await agents.change(leg, "setAgent", agent);
    },
    async setPermissionMode(mode) {
      const leg = options.next(changes);
      if (!isAgentLeg(leg)) throw refuseControl("setPermissionMode", leg.backend.name, NO_MODES);
      await agents.change(leg, "setPermissionMode", mode);
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
const NO_SERVERS = "a model behind an API has no tool servers. Give it tools with the option tools";

function isAgentLeg(leg: Leg): leg is AgentLeg {
  return leg.backend.kind === "agent";
}

/** For Claude Code, `claude-code/opus` is `opus`. */
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
      ? `This session has no named agents, and ${backend.name} has none itself. Open it with swarm(…)`
      : `There are: ${names.join(", ")}`;
  return new StartError("unknown-agent", `There is no agent "${name}". ${known}.`);
}
