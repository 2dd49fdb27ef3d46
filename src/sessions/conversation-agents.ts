import { agentSettings, type AgentLeg, type Conversations } from "#agents";
import type { Clock, Message } from "#domain";
import { handled } from "#streams";
import { createPatientSignal, type Patience, waitPatiently } from "./conversation-patience.ts";

type Live = Awaited<ReturnType<Conversations["open"]>>;

/** The agent backends' conversations of one session: opened when first needed, kept from run to run. */
export interface LiveAgents extends Conversations {
  /** The id the agent that spoke last has given its conversation. */
  readonly sessionId: string | undefined;
  /** For the agent that spoke last, or else for the first one that will. */
  setModel(model: string): Promise<void>;
  /** For the agent that spoke last, or else for the first one that will. */
  setPermissionMode(mode: string): Promise<void>;
  /** Ends them all; resolves when nothing of them is left. */
  close(): Promise<void>;
}

/** What a caller has set, to be told to whoever it concerns. */
interface Wishes {
  model?: string;
  permissionMode?: string;
}

/** One agent's conversation. */
interface Entry {
  readonly opening: Promise<Live>;
  live: Live | undefined;
  /** The turn it is at work on, and how to end it without asking. */
  turn: { readonly over: Promise<void>; readonly force: () => void } | undefined;
  /** The ids of the messages it was sent: what stands before the last of them, it knows. */
  readonly sent: Set<string>;
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
  let last: Entry | undefined;
  let sessionId: string | undefined;
  /** What was set before there was anybody to tell. */
  const firstWishes: Wishes = {};

  const begin = (leg: AgentLeg, before: Entry | undefined): Entry => {
    const resume = before?.live?.sessionId;
    const entry: Entry = {
      opening: handled(openFor(leg, resume, () => entry)),
      live: undefined,
      turn: undefined,
      // Resumed, it knows what its predecessor knew.
      sent: resume === undefined || before === undefined ? new Set() : before.sent,
      wishes: before?.wishes ?? (last === undefined ? firstWishes : {}),
    };
    return entry;
  };

  const openFor = async (leg: AgentLeg, resume: string | undefined, entryOf: () => Entry): Promise<Live> => {
    const settings = agentSettings(leg, options.limits ?? {});
    const live = await leg.backend.open({
      ...settings,
      features: [...settings.features, "session"],
      ...(resume !== undefined && { resume: { kind: "resume", sessionId: resume, fork: false } }),
    });
    try {
      await tell(live, entryOf().wishes);
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

  /** The same conversation, told only what is new to it. */
  const speaker = (entry: Entry, live: Live): Live => ({
    async send(messages, link) {
      const news = unknownTo(entry.sent, messages);
      for (const message of news) entry.sent.add(message.id);
      const patient = createPatientSignal(link.signal, () => live.interrupt(), patience);
      const over = handled(live.send(news, { ...link, signal: patient.signal, isLast: false }));
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
      try {
        const live = await entry.opening;
        last = entry;
        return speaker(entry, live);
      } catch (error) {
        // Tried again by the next turn: what was missing may be there by then.
        if (entries.get(leg.agent ?? "") === entry) entries.delete(leg.agent ?? "");
        throw error;
      }
    },
    release: async () => undefined,
    async setModel(name) {
      await last?.live?.setModel(name);
      (last?.wishes ?? firstWishes).model = name;
    },
    async setPermissionMode(mode) {
      await last?.live?.setPermissionMode(mode);
      (last?.wishes ?? firstWishes).permissionMode = mode;
    },
    async close() {
      for (const entry of entries.values()) giveUp(entry);
      entries.clear();
      const failed = (await Promise.allSettled(abandoned)).find((end) => end.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}

/** Tells a conversation what was wished for, also what is wished for meanwhile. */
async function tell(live: Live, wishes: Wishes): Promise<void> {
  let told: Wishes = {};
  while (told.model !== wishes.model || told.permissionMode !== wishes.permissionMode) {
    const { model, permissionMode } = wishes;
    if (model !== undefined && model !== told.model) await live.setModel(model);
    if (permissionMode !== undefined && permissionMode !== told.permissionMode) {
      await live.setPermissionMode(permissionMode);
    }
    told = { ...(model !== undefined && { model }), ...(permissionMode !== undefined && { permissionMode }) };
  }
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
