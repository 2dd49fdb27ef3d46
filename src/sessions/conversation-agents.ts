import { agentSettings, type AgentLeg, type Conversations } from "#agents";
import type { Clock, McpServerStatus, Message } from "#domain";
import { handled } from "#streams";
import { createGracefulAbort, type GracePeriod, waitGracefully } from "./graceful-abort.ts";
import { refuseControl } from "./conversation.ts";

type Live = Awaited<ReturnType<Conversations["open"]>>;

/** The conversations of one session with agent backends: opened on first use, kept from run to run. */
export interface LiveAgents extends Conversations {
  /** The session id of the agent that answered last. */
  readonly sessionId: string | undefined;
  /**
   * Passes a setting to the agent of this leg, or to its next conversation. Rejects with a `StartError` if the agent
   * does not support it.
   */
  change(leg: AgentLeg, setting: LiveSetting, value: string): Promise<void>;
  /** The MCP servers of this leg's agent. Rejects with a `StartError` if it has none. */
  mcpStatus(leg: AgentLeg): Promise<readonly McpServerStatus[]>;
  /** Opens the conversation of this leg's agent. `true`: its process is running and waits for the first message. */
  warmUp(leg: AgentLeg): Promise<boolean>;
  /** A run has ended. `false`: every agent continues from its state before that run. */
  settle(isKept: boolean): void;
  /** Ends them all; resolves when nothing of them is left. */
  close(): Promise<void>;
}

/** The settings of an agent that can change during a conversation. */
export type LiveSetting = "setModel" | "setPermissionMode" | "setAgent";

/** The settings a caller has made for one agent, by control. A new conversation receives all of them. */
type LiveSettings = { [Name in LiveSetting]?: string };

const LIVE_SETTINGS: readonly LiveSetting[] = ["setModel", "setPermissionMode", "setAgent"];

/** One agent's conversation. */
interface Entry {
  readonly opening: Promise<Live>;
  live: Live | undefined;
  /** The current turn, and how to end it by force. */
  turn: { readonly over: Promise<void>; readonly force: () => void } | undefined;
  /** The ids of the messages it was sent: it knows everything before the last of them. */
  readonly sent: Set<string>;
  /** Those of the current run. */
  readonly sentNow: Set<string>;
  readonly wanted: LiveSettings;
}

/** The limits of agents' conversations. */
export const CONVERSATION_LIMITS = {
  /** How long an aborted turn may take to end after an interrupt before it is ended by force. */
  interruptMs: 5000,
} as const;

export interface LiveAgentsOptions {
  readonly clock: Clock;
  /** The budgets that are passed to an agent. */
  readonly limits?: Parameters<typeof agentSettings>[1] | undefined;
  readonly interruptMs?: number | undefined;
}

/**
 * Creates the conversations of a session, one per agent.
 *
 * An abort interrupts the agent's turn, so that its conversation outlives the run; only if that fails or takes too long
 * is the agent itself aborted. Tools and policy are aborted at once.
 *
 * If a turn was given up and never returned, its conversation is given up too: the next turn opens another one, which
 * resumes it if its id is known.
 */
export function createLiveAgents(options: LiveAgentsOptions): LiveAgents {
  const grace: GracePeriod = {
    clock: options.clock,
    waitMs: options.interruptMs ?? CONVERSATION_LIMITS.interruptMs,
  };
  const entries = new Map<string, Entry>();
  const abandoned: Promise<void>[] = [];
  const wanted = new Map<string, LiveSettings>();
  let last: Entry | undefined;
  let sessionId: string | undefined;

  const wantedOf = (name: string): LiveSettings => {
    const known = wanted.get(name) ?? {};
    wanted.set(name, known);
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
      // If resumed, it knows what its predecessor knew.
      sent: resume === undefined || before === undefined ? new Set() : before.sent,
      sentNow: new Set(),
      wanted: wantedOf(leg.agent ?? ""),
    };
    return entry;
  };

  const openFor = async (leg: AgentLeg, resume: Resume | undefined, entryOf: () => Entry): Promise<Live> => {
    const live = await leg.backend.open({
      ...settingsOf(leg),
      ...(resume !== undefined && { resume }),
    });
    try {
      await applyAll(live, leg, entryOf().wanted);
    } catch (error) {
      await live.close();
      throw error;
    }
    entryOf().live = live;
    return live;
  };

  const giveUp = (entry: Entry): void => {
    const end = async (): Promise<void> => {
      // A conversation that could not be opened needs no closing.
      const live = await entry.opening.catch(() => undefined);
      entry.turn?.force();
      if (entry.turn !== undefined) await waitGracefully(entry.turn.over, grace);
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

  /**
   * The conversation of an entry. If it could not be opened, the next turn tries again, because the cause may be gone
   * by then.
   */
  const liveOf = async (leg: AgentLeg, entry: Entry): Promise<Live> => {
    try {
      return await entry.opening;
    } catch (error) {
      if (entries.get(leg.agent ?? "") === entry) entries.delete(leg.agent ?? "");
      throw error;
    }
  };

  /** The agent's conversation as it is, even in the middle of a turn. */
  const reach = (leg: AgentLeg): Promise<Live> => {
    const name = leg.agent ?? "";
    const entry = entries.get(name) ?? begin(leg, undefined);
    entries.set(name, entry);
    return liveOf(leg, entry);
  };

  const requireControl = (leg: AgentLeg, control: LiveSetting | "mcpStatus" | "warmUp"): void => {
    const { backend } = leg;
    const reason = backend.cannotControl?.(control, settingsOf(leg));
    if (reason !== undefined) throw refuseControl(control, backend.name, reason);
  };

  /** The same conversation, to which only new messages are sent. */
  const speaker = (entry: Entry, live: Live): Live => ({
    async send(messages, link) {
      const news = unknownTo(entry.sent, messages);
      for (const { id } of news) {
        if (!entry.sent.has(id)) entry.sentNow.add(id);
        entry.sent.add(id);
      }
      const patient = createGracefulAbort(link.signal, () => live.interrupt(), grace);
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
    async change(leg, setting, value) {
      requireControl(leg, setting);
      const name = leg.agent ?? "";
      // If a backend does not declare whether it has agents, its conversation is opened to find out.
      const mustOpen = setting === "setAgent" && leg.backend.cannotControl === undefined;
      const live = mustOpen ? await reach(leg) : entries.get(name)?.live;
      if (live !== undefined) await applyOne(live, leg, setting, value);
      wantedOf(name)[setting] = value;
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

const NO_SERVERS = "it reports no tool servers. Give it tools with the option tools";
const NO_AGENTS = "it has no agents to choose from. Open the session with swarm(…), and name one of its agents";

type Resume = NonNullable<ReturnType<typeof agentSettings>["resume"]>;

/** How another conversation continues one whose last run was given up: from its state before that run. */
function resumeAfter(live: Live | undefined): Resume | undefined {
  if (live?.sessionId === undefined) return undefined;
  if (live.settle !== undefined && live.point === undefined) return undefined;
  return { kind: "resume", sessionId: live.sessionId, fork: false, at: live.point };
}

/** Passes all settings to a conversation, including those made meanwhile. */
async function applyAll(live: Live, leg: AgentLeg, wanted: LiveSettings): Promise<void> {
  const applied: LiveSettings = {};
  for (;;) {
    const next = LIVE_SETTINGS.find((setting) => wanted[setting] !== applied[setting]);
    const value = next && wanted[next];
    if (next === undefined || value === undefined) return;
    await applyOne(live, leg, next, value);
    applied[next] = value;
  }
}

async function applyOne(live: Live, leg: AgentLeg, setting: LiveSetting, value: string): Promise<void> {
  if (setting === "setModel") return live.setModel(value);
  if (setting === "setPermissionMode") return live.setPermissionMode(value);
  if (live.setAgent !== undefined) return live.setAgent(value);
  throw refuseControl("setAgent", leg.backend.name, NO_AGENTS);
}

/**
 * The messages a conversation has not seen: the user's messages after the last one it was sent. Replies are its own.
 * The last message is always new, whatever its id, because this turn is about it.
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

/** Messages that Millrace sent to it while it worked, which it knows too. */
function isOurs(message: Message): boolean {
  return message.source === "millrace";
}

/** Results of tools that the agent itself called. */
function isAnswer(message: Message): boolean {
  return message.blocks.every((block) => block.type === "tool-result");
}
