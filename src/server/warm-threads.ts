import { type Clock, describeThrown } from "#domain";
import type { KeptAgent, SingleAgent } from "#runtime";
import type { StoredThread } from "#sessions";
import type { ServerLimits } from "./limits.ts";
import type { WriteLog } from "./server-log.ts";

/**
 * Who answers in a thread, and under which conditions: only a process that was started for the same ones can be used.
 */
export interface WarmWanted {
  readonly thread: Pick<StoredThread, "id" | "tenant" | "target">;
  readonly agent: SingleAgent;
  /** The thread has no messages yet, so a spare can be used. */
  readonly isNew: boolean;
  /** The other settings its process was started with, as text. */
  readonly terms: string;
}

/** An agent that is in use by one run. */
export interface TakenAgent {
  readonly kept: KeptAgent;
  /** It has answered in this thread before and remembers that. */
  readonly remembers: boolean;
  /** The run has ended: the agent waits for the thread's next message, or is closed. */
  giveBack(isFit: boolean): void;
}

/**
 * Agent processes that wait for the next message. One that has received a message belongs to its thread for ever and
 * never receives messages of another; a spare has received none.
 */
export interface WarmThreads {
  /** The thread's own agent, otherwise a spare, otherwise a new one. Does not wait for a process to start. */
  take(wanted: WarmWanted): TakenAgent;
  /** Starts spares, if any are configured. */
  prepare(wanted: Pick<WarmWanted, "agent" | "terms"> & { readonly target: string }): void;
  /** Resolves when every ended process of this thread is gone: two processes must not write to one session. */
  ended(threadId: string): Promise<void>;
  /** Ends the process that waits for this thread. */
  drop(threadId: string): Promise<void>;
  /** Ends all waiting processes, and accepts none back. Idempotent. */
  close(): Promise<void>;
  /** How many wait. */
  readonly size: number;
}

interface Waiting {
  readonly tenant: string;
  readonly target: string;
  readonly terms: string;
  readonly kept: KeptAgent;
  readonly stopClock: () => void;
}

interface Spare {
  readonly kept: KeptAgent;
  /** `false`: it could not be started. */
  readonly started: Promise<boolean>;
}

/** The pause after a spare that could not be started; it doubles each time. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

export interface WarmThreadsOptions {
  readonly clock: Clock;
  readonly limits: Pick<ServerLimits, "warmThreads" | "warmMs" | "warmSpares">;
  readonly write: WriteLog;
}

export function createWarmThreads({ clock, limits, write }: WarmThreadsOptions): WarmThreads {
  /** By thread, the longest-waiting first. */
  const waiting = new Map<string, Waiting>();
  const spares = new Map<string, Spare[]>();
  const pauses = new Map<string, { readonly ms: number; readonly until: number }>();
  /** The processes that are being closed; spares belong to no thread. */
  const ending = new Map<Promise<void>, string | undefined>();
  let isClosed = false;

  /** Never rejects: a process that could not be closed is reported in the log. */
  const end = (kept: KeptAgent, threadId?: string): void => {
    const closed = kept
      .close()
      .catch((error: unknown) => write("warn", "warm-process-not-closed", { message: describeThrown(error) }))
      .finally(() => ending.delete(closed));
    ending.set(closed, threadId);
  };

  const leave = (threadId: string): Waiting | undefined => {
    const found = waiting.get(threadId);
    waiting.delete(threadId);
    found?.stopClock();
    return found;
  };

  const drop = (threadId: string): void => {
    const found = leave(threadId);
    if (found !== undefined) end(found.kept, threadId);
  };

  const ended = async (threadId: string): Promise<void> => {
    await Promise.all([...ending].flatMap(([closed, id]) => (id === threadId ? [closed] : [])));
  };

  const wait = ({ thread, terms }: WarmWanted, kept: KeptAgent): void => {
    const { id, tenant, target } = thread;
    const stopClock = clock.after(limits.warmMs, () => drop(id));
    waiting.set(id, { tenant, target, terms, kept, stopClock });
    for (const oldest of waiting.keys()) {
      if (waiting.size <= limits.warmThreads) return;
      drop(oldest);
    }
  };

  const takeOwn = ({ thread, terms }: WarmWanted): KeptAgent | undefined => {
    const found = leave(thread.id);
    if (found === undefined) return undefined;
    const fits = found.tenant === thread.tenant && found.target === thread.target && found.terms === terms;
    if (fits) return found.kept;
    end(found.kept, thread.id);
    return undefined;
  };

  const keyOf = (target: string, terms: string): string => JSON.stringify([target, terms]);

  const prepare: WarmThreads["prepare"] = ({ target, agent, terms }) => {
    const key = keyOf(target, terms);
    const pause = pauses.get(key);
    if (isClosed || !agent.canWait || (pause !== undefined && clock.now() < pause.until)) return;
    const list = spares.get(key) ?? [];
    spares.set(key, list);
    while (list.length < limits.warmSpares) {
      const kept = agent.keep();
      const spare: Spare = {
        kept,
        started: kept.warmUp().then(
          (isWarm) => {
            if (isWarm) pauses.delete(key);
            return isWarm;
          },
          (error: unknown) => {
            const ms = Math.min(LONGEST_PAUSE_MS, (pauses.get(key)?.ms ?? FIRST_PAUSE_MS / 2) * 2);
            pauses.set(key, { ms, until: clock.now() + ms });
            const at = list.indexOf(spare);
            if (at !== -1) list.splice(at, 1);
            end(kept);
            write("warn", "spare-not-started", { target, message: describeThrown(error) });
            return false;
          },
        ),
      };
      list.push(spare);
    }
  };

  return {
    get size() {
      let count = waiting.size;
      for (const list of spares.values()) count += list.length;
      return count;
    },
    take(wanted) {
      const own = takeOwn(wanted);
      const { agent, terms, thread, isNew } = wanted;
      // One that is still starting is ready sooner than a new one.
      const spare = own === undefined && isNew ? spares.get(keyOf(thread.target, terms))?.shift() : undefined;
      prepare({ target: thread.target, agent, terms });
      const kept = own ?? spare?.kept ?? agent.keep();
      let isBack = false;
      return {
        kept,
        remembers: own !== undefined,
        giveBack(isFit) {
          if (isBack) return;
          isBack = true;
          if (isFit && agent.canWait && !isClosed && limits.warmThreads > 0) wait(wanted, kept);
          else end(kept, thread.id);
        },
      };
    },
    prepare,
    ended,
    async drop(threadId) {
      drop(threadId);
      await ended(threadId);
    },
    async close() {
      isClosed = true;
      for (const id of [...waiting.keys()]) drop(id);
      for (const list of spares.values()) for (const { kept } of list.splice(0)) end(kept);
      await Promise.all(ending.keys());
    },
  };
}
