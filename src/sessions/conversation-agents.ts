import { agentSettings, type AgentLeg, type Conversations } from "#agents";
import type { Clock, McpServerStatus, Message } from "#domain";
import { handled } from "#streams";
import { createGracefulAbort, type Patience, waitPatiently } from "./graceful-abort.ts";
import { refuseControl } from "./conversation-refusal.ts";

type Live = Awaited<ReturnType<Conversations["open"]>>;

/** The agent backends' conversations of one session: opened when first needed, kept from run to run. */
export interface LiveAgents extends Conversations {
  /** The id the agent that spoke last has given its conversation. */
  readonly sessionId: string | undefined;
  /** Tells the agent of this leg, or its next conversation. Rejects with a `StartError` when it cannot be told. */
  tell(leg: AgentLeg, wish: Wish, value: string): Promise<void>;
  /** The tool servers of this leg's agent. Rejects with a `StartError` when it has none. */
  mcpStatus(leg: AgentLeg): Promise<readonly McpServerStatus[]>;
  /** Opens the conversation of this leg's agent. `true`: its process is there and waits for the first message. */
  warmUp(leg: AgentLeg): Promise<boolean>;
  /** A run is over. `false`: every agent goes on from where it stood before that run. */
  settle(isKept: boolean): void;
  /** Ends them all; resolves when nothing of them is left. */
  close(): Promise<void>;
}

/** What an agent may be told in the course of a conversation. */
export type Wish = "setModel" | "setPermissionMode" | "setAgent";

/** What a caller has set for one agent, by the control it was set with. A new conversation is told all of it. */
type Wishes = { [Name in Wish]?: string };

const WISHES: readonly Wish[] = ["setModel", "setPermissionMode", "setAgent"];

/** One agent's conversation. */
interface Entry {
  readonly opening: Promise<Live>;
  live: Live | undefined;
  /** The turn it is at work on, and how to end it without asking. */
  turn: { readonly over: Promise<void>; readonly force: () => void } | undefined;
  /** The ids of the messages it was sent: what stands before the last of them, it knows. */
  readonly sent: Set<string>;
  /** Those of the run under way. */
  readonly sentNow: Set<string>;
  readonly wishes: Wishes;
}

/** The limits of agents' conversations. */
export const CONVERSATION_LIMITS = {
  /** How long an aborted turn may take to end by an interrupt before it is ended by force. */
  interruptMs: 5000,
} as const;

export interface LiveAgentsOptions {
  readonly clock: Clock;
  /** The budgets an agent is told of. */
  readonly limits?: Parameters<typeof agentSettings>[1] | undefined;
  readonly interruptMs?: number | undefined;
}

/**
 * Creates the keeper of a session's agents, one conversation per agent of the session.
 *
 * An abort interrupts the agent's turn, so that its conversation outlives the run; only where that fails or takes too
 * long does the agent get the abort itself. Everything of ours, tools and policy, has got it at once.
 *
 * A conversation whose turn was given up and never came back is given up too: the next turn opens another one, which
 * resumes it if its id is known.
 */
export function createLiveAgents(options: LiveAgentsOptions): LiveAgents {
  const patience: Patience = {
    clock: options.clock,
    patienceMs: options.interruptMs ?? CONVERSATION_LIMITS.interruptMs,
  };
  const entries = new Map<string, Entry>();
  const abandoned: Promise<void>[] = [];
  const wishes = new Map<string, Wishes>();
  let last: Entry | undefined;
  let sessionId: string | undefined;

  const wishesOf = (name: string): Wishes => {
    const known = wishes.get(name) ?? {};
    wishes.set(name, known);
    return known;
  };

  const settingsOf = (leg: AgentLeg): ReturnType<typeof agentSettings> => {
    const settings = agentSettings(leg, options.limits ?? {});
    return { ...settings, features: [...settings.features, "session"] };
  };

  const begin = (leg: AgentLeg, before: Entry | undefined): Entry => {
    const resume = resumeAfter(before?.live);
    const entry: Entry = {
      opening: handled(openFor(leg, resume, () => entry)),
      live: undefined,
      turn: undefined,
      // Resumed, it knows what its predecessor knew.
      sent: resume === undefined || before === undefined ? new Set() : before.sent,
      sentNow: new Set(),
      wishes: wishesOf(leg.agent ?? ""),
    };
    return entry;
  };

  const openFor = async (leg: AgentLeg, resume: Resume | undefined, entryOf: () => Entry): Promise<Live> => {
    const live = await leg.backend.open({
      ...settingsOf(leg),
      ...(resume !== undefined && { resume }),
    });
    try {
      await tellAll(live, leg, entryOf().wishes);
    } catch (error) {
      await live.close();
      throw error;
    }
    entryOf().live = live;
    return live;
  };

  const giveUp = (entry: Entry): void => {
    const end = async (): Promise<void> => {
      // What could not be opened needs no closing.
      const live = await entry.opening.catch(() => undefined);
      entry.turn?.force();
      if (entry.turn !== undefined) await waitPatiently(entry.turn.over, patience);
      await live?.close();
    };
    abandoned.push(handled(end()));
  };

  const entryFor = (leg: AgentLeg): Entry => {
    const name = leg.agent ?? "";
    const known = entries.get(name);
    if (known !== undefined && known.turn === undefined) return known;
    if (known !== undefined) giveUp(known);
    const entry = begin(leg, known);
    entries.set(name, entry);
    return entry;
  };

  /** The conversation of an entry. One that cannot be had is tried again by the next turn: what was missing may be there by then. */
  const liveOf = async (leg: AgentLeg, entry: Entry): Promise<Live> => {
    try {
      return await entry.opening;
    } catch (error) {
      if (entries.get(leg.agent ?? "") === entry) entries.delete(leg.agent ?? "");
      throw error;
    }
  };

  /** The agent's conversation as it is, also in the middle of a turn. */
  const reach = (leg: AgentLeg): Promise<Live> => {
    const name = leg.agent ?? "";
    const entry = entries.get(name) ?? begin(leg, undefined);
    entries.set(name, entry);
    return liveOf(leg, entry);
  };

  const requireControl = (leg: AgentLeg, control: Wish | "mcpStatus" | "warmUp"): void => {
    const { backend } = leg;
    const reason = backend.cannotControl?.(control, settingsOf(leg));
    if (reason !== undefined) throw refuseControl(control, backend.name, reason);
  };

  /** The same conversation, told only what is new to it. */
  const speaker = (entry: Entry, live: Live): Live => ({
    async send(messages, link) {
      const news = unknownTo(entry.sent, messages);
      for (const { id } of news) {
        if (!entry.sent.has(id)) entry.sentNow.add(id);
        entry.sent.add(id);
      }
      const patient = createGracefulAbort(link.signal, () => live.interrupt(), patience);
      const over = handled(live.send(news, { ...link, signal: patient.signal, isLast: false, transcript: messages }));
      entry.turn = { over, force: patient.force };
      try {
        await over;
      } finally {
        patient.release();
        entry.turn = undefined;
        if (last === entry) sessionId = live.sessionId ?? sessionId;
      }
    },
    interrupt: () => live.interrupt(),
    setModel: (name) => live.setModel(name),
    setPermissionMode: (mode) => live.setPermissionMode(mode),
    get sessionId() {
      return live.sessionId;
    },
    close: () => live.close(),
  });

  return {
    get sessionId() {
      return last?.live?.sessionId ?? sessionId;
    },
    async open(leg) {
      const entry = entryFor(leg);
      const live = await liveOf(leg, entry);
      last = entry;
      return speaker(entry, live);
    },
    release: async () => undefined,
    async tell(leg, wish, value) {
      requireControl(leg, wish);
      const name = leg.agent ?? "";
      // A backend that has not said whether it has agents is asked for its conversation, which shows it.
      const mustOpen = wish === "setAgent" && leg.backend.cannotControl === undefined;
      const live = mustOpen ? await reach(leg) : entries.get(name)?.live;
      if (live !== undefined) await tellOne(live, leg, wish, value);
      wishesOf(name)[wish] = value;
    },
    async mcpStatus(leg) {
      requireControl(leg, "mcpStatus");
      const live = await reach(leg);
      if (live.mcpStatus !== undefined) return live.mcpStatus();
      throw refuseControl("mcpStatus", leg.backend.name, NO_SERVERS);
    },
    async warmUp(leg) {
      requireControl(leg, "warmUp");
      const live = await reach(leg);
      return (await live.warmUp?.()) ?? false;
    },
    settle(isKept) {
      for (const { live, sent, sentNow } of entries.values()) {
        if (!isKept && live?.settle !== undefined) for (const id of sentNow) sent.delete(id);
        sentNow.clear();
        live?.settle?.(isKept);
      }
    },
    async close() {
      for (const entry of entries.values()) giveUp(entry);
      entries.clear();
      const failed = (await Promise.allSettled(abandoned)).find((end) => end.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}

const NO_SERVERS = "it reports no tool servers of its own. Give it tools with the option tools";
const NO_AGENTS =
  "it has no agents of its own to choose from. Open the session with swarm(…), and name one of its agents";

type Resume = NonNullable<ReturnType<typeof agentSettings>["resume"]>;

/** How a conversation goes on in another one, whose last run was given up: from where it stood before that run. */
function resumeAfter(live: Live | undefined): Resume | undefined {
  if (live?.sessionId === undefined) return undefined;
  if (live.settle !== undefined && live.point === undefined) return undefined;
  return { kind: "resume", sessionId: live.sessionId, fork: false, at: live.point };
}

/** Tells a conversation what was wished for, also what is wished for meanwhile. */
async function tellAll(live: Live, leg: AgentLeg, wishes: Wishes): Promise<void> {
  const told: Wishes = {};
  for (;;) {
    const next = WISHES.find((wish) => wishes[wish] !== told[wish]);
    const value = next && wishes[next];
    if (next === undefined || value === undefined) return;
    await tellOne(live, leg, next, value);
    told[next] = value;
  }
}

async function tellOne(live: Live, leg: AgentLeg, wish: Wish, value: string): Promise<void> {
  if (wish === "setModel") return live.setModel(value);
  if (wish === "setPermissionMode") return live.setPermissionMode(value);
  if (live.setAgent !== undefined) return live.setAgent(value);
  throw refuseControl("setAgent", leg.backend.name, NO_AGENTS);
}

/**
 * The messages a conversation has not seen: the user's behind the last one it was sent. Replies are its own. The last
 * message is always new, whatever its id: it is what this turn is about.
 */
function unknownTo(sent: ReadonlySet<string>, messages: readonly Message[]): readonly Message[] {
  const at = messages.slice(0, -1).findLastIndex((message) => sent.has(message.id));
  if (at === -1) return messages;
  return messages
    .slice(at + 1)
    .filter(
      (message, at, all) =>
        message.role === "user" && !isAnswer(message) && (at === all.length - 1 || !isOurs(message)),
    );
}

/** What it was told by us while it worked: it knows that, too. */
function isOurs(message: Message): boolean {
  return message.source === "millrace";
}

/** Results of tools the agent has called itself. */
function isAnswer(message: Message): boolean {
  return message.blocks.every((block) => block.type === "tool-result");
}
