import { type DoneEvent, describeThrown, type ErrorDetail, familyOf, type Message, type RunResult } from "#domain";
import { askFirst, findSoleAgent, type RunOptions, type SoleAgent, startRun, type Target } from "#runtime";
import {
  closeInterruptedRun,
  createUsageTally,
  endWithError,
  type EventLog,
  LOCAL_TENANT,
  type NewRun,
  type ThreadRecorder,
  settlementOf,
  type Store,
  type StoredThread,
  titleOf,
  type UnstoredEnds,
} from "#sessions";
import { createDeferred } from "#streams";
import { ApiError } from "./api-error.ts";
import type { Metrics } from "./metrics.ts";
import { requireOffered, type Settings, targetOf } from "./options.ts";
import type { WriteLog } from "./server-log.ts";
import type { StorageQuota } from "./storage-quota.ts";
import type { TakenAgent, WarmThreads } from "./warm-threads.ts";

type Run = ReturnType<typeof startRun>;
export type Decision = Parameters<Run["answer"]>[1];

/** The runs this process carries. */
export interface LiveRuns {
  /**
   * Begins a run on a thread. When it resolves, the user's message is stored and the run is under way; it goes on
   * whether or not anybody watches. @throws ApiError `run-active` while another one does.
   */
  start(thread: StoredThread, input: Message, limits: RunOptions["limits"]): Promise<string>;
  /** Starts what waits for the first messages of threads, if anything is to. */
  prepare(): void;
  /** `false`: no such run is under way. */
  abort(runId: string, reason: string): boolean;
  /** `false`: nobody asks that (any more). */
  answer(runId: string, callId: string, decision: Decision): boolean;
  /** Takes no more runs, lets those under way finish for a while, aborts the rest, and waits until all are stored. */
  close(graceMs: number): Promise<void>;
  readonly size: number;
}

export interface LiveRunsOptions {
  readonly store: Store;
  readonly log: EventLog;
  /** Keeps the ends of runs that cannot be stored now. */
  readonly ends: UnstoredEnds;
  readonly settings: Settings;
  readonly metrics: Metrics;
  readonly quota: StorageQuota;
  readonly warm: WarmThreads;
  readonly write: WriteLog;
}

/** How a run of a thread is started. */
interface ThreadRun {
  readonly options: RunOptions;
  readonly ready: Promise<void>;
  readonly agent: TakenAgent | undefined;
}

interface LiveRun {
  readonly run: Run;
  readonly written: Promise<void>;
}

export function createLiveRuns(options: LiveRunsOptions): LiveRuns {
  const { store, log, ends, settings, metrics, quota, warm, write } = options;
  const { world } = settings;
  const runs = new Map<string, LiveRun>();
  /** Runs of which something may be left, also after their end. */
  const open = new Set<Run>();
  /** Threads with a run that goes on or is about to begin. */
  const busy = new Map<string, { readonly tenant: string }>();
  let closing = false;

  const optionsFor = (target: Target, limits: RunOptions["limits"]): RunOptions =>
    askFirst(target, { ...settings.run, limits: tighten(settings.run.limits, limits) }, settings.folder);

  const begin = async (thread: StoredThread, input: Message, limits: RunOptions["limits"]): Promise<string> => {
    const { tenant, id: threadId } = thread;
    if (thread.runId !== undefined) await closeAbandoned(tenant, thread.runId);
    const history = await store.listMessages(tenant, threadId);
    const target = targetOf(thread.target, settings);
    const options = optionsFor(target, limits);
    const sole = findAgent(target, options);
    const terms = JSON.stringify(options.limits);
    const agent =
      sole?.canWait === true ? warm.take({ thread, agent: sole, isNew: history.length === 0, terms }) : undefined;
    const mayResume = sole?.hasSessions === true && agent?.remembers !== true && history.length > 0;
    const session = mayResume ? await findSession(thread) : undefined;
    if (session !== undefined) await warm.ended(threadId);
    const stored = createDeferred<void>();
    // What is kept is shown to others later; the model gets what was written.
    const shown = settings.secrets?.value(input) ?? input;
    // The message is stored before a model is asked.
    const run = startThreadRun(target, [...history, input], {
      options: session === undefined ? options : { ...options, session: { resume: session, orReplay: true } },
      ready: stored.promise,
      agent,
    });
    const stub: NewRun = { id: run.id, createdAt: world.clock.now(), threadId, tenant };
    try {
      await store.createRun(stub, [shown]);
    } catch (error) {
      const aborted = run.abort("The run could not be stored.");
      stored.resolve();
      await aborted;
      agent?.giveBack(false);
      throw error;
    }
    stored.resolve();
    open.add(run);
    run.closed.then(() => open.delete(run)).catch(() => undefined);
    const written = keep(run, stub, shown, agent).finally(() => {
      runs.delete(run.id);
      busy.delete(threadId);
    });
    runs.set(run.id, { run, written });
    write("info", "run-start", { runId: run.id, threadId, tenant, target: thread.target });
    if (thread.title === "") await giveTitle(thread, shown);
    return run.id;
  };

  /** The run goes on whatever comes of this: a thread without a title is found all the same. */
  const giveTitle = async ({ tenant, id }: StoredThread, input: Message): Promise<void> => {
    try {
      await store.renameThread(tenant, id, { title: titleOf(input), at: world.clock.now() });
    } catch (error) {
      write("warn", "title-not-stored", { threadId: id, message: describeThrown(error) });
    }
  };

  /** A run that is not over and is not ours: we could not store its end. Nobody else writes here, so it is dead. */
  const closeAbandoned = async (tenant: string, runId: string): Promise<void> => {
    const stored = runs.has(runId) ? undefined : await store.findRun(tenant, runId);
    if (stored !== undefined && !stored.isOver) await closeInterruptedRun(store, stored, world.clock);
  };

  /** The agent of a target that is one agent. Who cannot be planned is left to the run, which says why. */
  const findAgent = (target: Target, options: RunOptions): SoleAgent | undefined => {
    try {
      return findSoleAgent(target, options, world);
    } catch {
      return undefined;
    }
  };

  /** The session an agent can go on with: that of the last run, if it was answered. One that failed may hold anything. */
  const findSession = async ({ id }: StoredThread): Promise<string | undefined> => {
    const [last] = await store.listRuns({ threadId: id });
    if (last?.status !== "success") return undefined;
    const done = (await store.read(last.id, { after: last.lastSeq - 1 })).at(-1);
    return done?.type === "done" ? done.result.sessionId : undefined;
  };

  const startThreadRun = (target: Target, messages: readonly Message[], given: ThreadRun): Run => {
    const { options, ready, agent } = given;
    try {
      return startRun(target, messages, options, world, ready, agent?.kept.conversations);
    } catch (error) {
      agent?.giveBack(false);
      throw error;
    }
  };

  const keep = async (run: Run, stub: NewRun, input: Message, agent: TakenAgent | undefined): Promise<void> => {
    try {
      await keepRun(run, stub, input);
      const { status, sessionId } = await run.result();
      agent?.giveBack(status === "success" && sessionId !== undefined);
    } finally {
      agent?.giveBack(false);
    }
  };

  const keepRun = async (run: Run, stub: NewRun, input: Message): Promise<void> => {
    const books = createBooks(input, metrics, {
      stored: (weight) => quota.grow(stub.tenant ?? LOCAL_TENANT, weight),
      stop: () => void run.abort("The storage of its tenant is full.").catch(() => undefined),
    });
    const failure = await log.write(run, books, {
      // What cannot be stored cannot be shown, so there is no use in going on.
      stop: () => void run.abort("The event log could not be written.").catch(() => undefined),
      hold: (events, settlement) => ends.hold(stub, events, settlement),
    });
    if (failure === undefined) {
      const { status, subtype, ms } =
        books.result ?? ((await run.result()) as Pick<RunResult, "status" | "subtype" | "ms">);
      metrics.runs.add(status);
      write("info", "run-end", { runId: run.id, threadId: stub.threadId, status, subtype, ms });
      return;
    }
    metrics.failures.add("store");
    metrics.runs.add("error");
    write("error", "store-failed", { runId: run.id, message: failure });
    await run.abort("The event log could not be written.");
  };

  /** Nobody uses up what is there for all. */
  const requireShare = (tenant: string): void => {
    const { runsPerTenant } = settings.limits;
    const own = [...busy.values()].filter((one) => one.tenant === tenant).length;
    if (own < runsPerTenant) return;
    throw new ApiError(
      "too-many-tenant-runs",
      `${own} runs of yours are under way, and ${runsPerTenant} may be (limits.runsPerTenant). Wait for one, or abort one.`,
      { "retry-after": "5" },
    );
  };

  return {
    get size() {
      return runs.size;
    },
    prepare() {
      if (settings.limits.warmSpares === 0) return;
      for (const name of settings.targets) {
        const target = targetOf(name, settings);
        const options = optionsFor(target, {});
        const agent = findAgent(target, options);
        if (agent !== undefined) warm.prepare({ target: name, agent, terms: JSON.stringify(options.limits) });
      }
    },
    async start(thread, input, limits) {
      // The operator may have changed his mind since the thread was made.
      requireOffered(thread.target, settings);
      if (closing) throw new ApiError("shutting-down", "The server is shutting down. Ask again in a moment.");
      if (busy.has(thread.id)) throw active(thread.id);
      if (busy.size >= settings.limits.runs) {
        throw new ApiError("too-many-runs", "Too many runs are under way. Ask again later.", { "retry-after": "5" });
      }
      requireShare(thread.tenant);
      busy.set(thread.id, { tenant: thread.tenant });
      try {
        await quota.require(thread.tenant);
        return await begin(thread, input, limits);
      } catch (error) {
        busy.delete(thread.id);
        throw error;
      }
    },
    abort(runId, reason) {
      const live = runs.get(runId);
      if (live === undefined || live.run.isComplete()) return false;
      live.run
        .abort(reason)
        .catch((error: unknown) => write("error", "abort-failed", { runId, message: describeThrown(error) }));
      return true;
    },
    answer: (runId, callId, decision) => runs.get(runId)?.run.answer(callId, decision) ?? false,
    async close(graceMs) {
      closing = true;
      const all = Promise.all([...runs.values()].map(({ written }) => written));
      let takeBack: (() => void) | undefined;
      const grace = new Promise<void>((resolve) => {
        takeBack = world.clock.after(graceMs, resolve);
      });
      await Promise.race([all, grace]);
      takeBack?.();
      await Promise.all([...runs.values()].map(({ run }) => run.abort("The server was shut down.")));
      await all;
      // What a run has started may be slower to go than its answer.
      await Promise.all([...open].map((run) => run.abort("The server was shut down.")));
      await warm.close();
    },
  };
}

interface Books extends ThreadRecorder {
  /** How the run ended, as it is stored. */
  readonly result: RunResult | undefined;
}

interface Room {
  /** Gives why the log may grow no more, if that is so. */
  stored(weight: number): Promise<string | undefined> | undefined;
  /** Brings the run to its end. */
  stop(): void;
}

function createBooks(input: Message, metrics: Metrics, room: Room): Books {
  const tally = createUsageTally();
  let excess: string | undefined;
  let result: RunResult | undefined;
  return {
    get result() {
      return result;
    },
    add(event) {
      tally.add(event);
      metrics.events.add(familyOf(event));
    },
    stored(weight) {
      return room.stored(weight)?.then((why) => {
        if (why === undefined || excess !== undefined) return;
        excess = why;
        room.stop();
      });
    },
    end(events) {
      const done = events.at(-1);
      // A run that came to its own end before it was told stays as it is.
      const isEnded = excess !== undefined && done?.type === "done" && done.result.status === "aborted";
      return isEnded ? endWithError(events, storageError(excess as string)) : events;
    },
    settle(done: DoneEvent) {
      ({ result } = done);
      return settlementOf(done, input, tally);
    },
  };
}

function storageError(why: string): ErrorDetail {
  return {
    code: "storage-exceeded",
    message: `The run was ended because its tenant's storage is full. ${why}`,
    terminal: true,
    diagnostic: {
      hint: "Everything that was written until then is kept.",
      troubleshooting: "Remove threads, or ask the operator for a higher limits.bytesPerTenant.",
    },
  };
}

function active(threadId: string): ApiError {
  return new ApiError("run-active", `A run of thread ${threadId} is not over. Wait for it, or abort it.`);
}

/** A caller may ask for less than the server allows, never for more. */
function tighten(own: RunOptions["limits"] = {}, asked: RunOptions["limits"] = {}): NonNullable<RunOptions["limits"]> {
  const limits: Record<string, number> = { ...(own as Record<string, number>) };
  for (const [name, value] of Object.entries(asked)) {
    const bound = Object.hasOwn(limits, name) ? limits[name] : undefined;
    limits[name] = bound === undefined ? value : Math.min(bound, value);
  }
  return limits;
}
