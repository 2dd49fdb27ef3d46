import { describeThrown, type Message, type RunResult } from "#domain";
import {
  askFirst,
  filesOf,
  findLastSession,
  findSingleAgent,
  readRun,
  type RunOptions,
  type SingleAgent,
  startRun,
  type Target,
} from "#runtime";
import {
  closeInterruptedRun,
  type EventBatch,
  type EventLog,
  isStoreError,
  LOCAL_TENANT,
  type NewRun,
  type Settlement,
  type Store,
  type StoredAnswer,
  StoredMark,
  type StoredRun,
  type StoredThread,
  titleOf,
  type UnstoredEnds,
} from "#sessions";
import { createDeferred } from "#streams";
import { ApiError } from "./api-error.ts";
import type { Metrics } from "./metrics.ts";
import { createRunRecorder } from "./run-recorder.ts";
import { requireNotTooOften, runActive, tighten } from "./run-rules.ts";
import { requireOffered, type Settings, targetOf } from "./options.ts";
import type { WriteLog } from "./server-log.ts";
import type { StorageQuota } from "./storage-quota.ts";
import { hasNewAnswer, ParkedCalls, waitsForResult } from "./waiting-runs.ts";
import type { TakenAgent, WarmThreads } from "./warm-threads.ts";

type Run = ReturnType<typeof startRun>;
export type Decision = Parameters<Run["answer"]>[1];

/** An answer to an open call: a decision, or the result of work that was finished elsewhere. */
export interface GivenAnswer {
  readonly callId: string;
  readonly decision?: Decision;
  readonly result?: { readonly output: unknown; readonly isError: boolean };
}

/** The active runs of this process. */
export interface LiveRuns {
  /**
   * Starts a run on a thread. When it resolves, the user's message is stored and the run is active; it continues
   * whether or not a reader follows it.
   * @throws ApiError `run-active` while another run of the thread is active.
   */
  start(thread: StoredThread, input: Message, limits: RunOptions["limits"]): Promise<string>;
  /** Starts the processes that wait for the first messages of threads, if configured. */
  prepare(): void;
  /**
   * Continues an unfinished run from its log. Rejects if that is impossible; then the reason is in the error.
   */
  resume(run: StoredRun): Promise<void>;
  /** Aborts an active or a waiting run. `false`: it is neither. */
  abort(run: StoredRun, reason: string): Promise<boolean>;
  /**
   * Answers an open call: a question, or one that waits for its result. An answer to a waiting run is stored first, and
   * then continues the run. `false`: there is no such open call (any more).
   */
  answer(run: StoredRun, answer: GivenAnswer): Promise<boolean>;
  /**
   * Accepts no more runs, lets active ones finish for a while, and stops the work on the rest, which the next start
   * continues. Waits until all is stored.
   */
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
  readonly stored: StoredMark;
}

/** When a waiting run is tried again whose store failed. */
const RETRY_MS = 5000;

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** What is known of a run when it is written to its log. */
interface KeptRun {
  readonly stub: NewRun;
  readonly input: Message;
  readonly stored: StoredMark;
  /** The number of its last event that is stored already. */
  readonly after: number;
}

interface LiveRun {
  readonly run: Run;
  readonly written: Promise<void>;
  readonly parkedCalls: ParkedCalls;
}

export function createLiveRuns(options: LiveRunsOptions): LiveRuns {
  const { store, log, ends, settings, metrics, quota, warm, write } = options;
  const { world } = settings;
  const runs = new Map<string, LiveRun>();
  /** Runs of which something may be left, even after their end. */
  const open = new Set<Run>();
  /** Threads whose run is active or about to begin. */
  const busy = new Map<string, { readonly tenant: string }>();
  /** Timers of runs that wait for a time. */
  const alarms = new Map<string, () => void>();
  /** Waiting runs that are being continued or ended. */
  const turns = new Map<string, Promise<void>>();
  /** Messages that are being accepted. */
  const starting = new Set<Promise<unknown>>();
  /** Fires when the work on all runs has to stop. */
  const leaving = new AbortController();
  let closing = false;

  const optionsFor = (target: Target, limits: RunOptions["limits"]): RunOptions =>
    askFirst(
      target,
      { ...settings.run, limits: tighten(settings.run.limits, limits) },
      { folder: settings.folder, files: world.files },
    );

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
    const session = mayResume ? await findLastSession(store, threadId) : undefined;
    if (session !== undefined) await warm.ended(threadId);
    const isStored = createDeferred<void>();
    const stored = new StoredMark();
    // The stored message is shown to others later, so its secrets are masked; the model receives the original.
    const shown = settings.secrets?.value(input) ?? input;
    // The message is stored before the model is asked.
    const run = startThreadRun(target, [...history, input], {
      options: session === undefined ? options : { ...options, session: { resume: session, orReplay: true } },
      ready: isStored.promise,
      agent,
      stored,
    });
    const stub: NewRun = { id: run.id, createdAt: world.clock.now(), threadId, tenant, settings: { limits } };
    try {
      await store.createRun(stub, [shown]);
    } catch (error) {
      const aborted = run.abort("The run could not be stored.");
      isStored.resolve();
      await aborted;
      agent?.giveBack(false);
      throw error;
    }
    isStored.resolve();
    follow(run, { stub, input: shown, stored, after: -1 }, agent);
    write("info", "run-start", { runId: run.id, threadId, tenant, target: thread.target });
    if (thread.title === "") await giveTitle(thread, shown);
    return run.id;
  };

  const follow = (run: Run, kept: KeptRun, agent: TakenAgent | undefined): void => {
    const { tenant = LOCAL_TENANT, threadId = "" } = kept.stub;
    open.add(run);
    run.closed.then(() => open.delete(run)).catch(() => undefined);
    const parkedCalls = new ParkedCalls(run, kept.stored);
    const written = keep(run, kept, agent).finally(() => {
      runs.delete(run.id);
      busy.delete(threadId);
    });
    runs.set(run.id, { run, written, parkedCalls });
    // Only now can the run be continued, if its answer came while it was being parked.
    written
      .then(
        () => (isParked(run) ? watchWaiting(run.id, tenant) : undefined),
        () => undefined,
      )
      .catch(reportFailure(run.id));
  };

  /** What every run of this server has in common. */
  const surroundingsOf = (stored: StoredMark) => ({
    stored,
    files: filesOf(store),
    suspend: leaving.signal,
    parkMs: settings.limits.parkMs,
  });

  const resume = async (stored: StoredRun): Promise<void> => {
    const { id, tenant = LOCAL_TENANT, threadId } = stored;
    const thread = threadId === undefined ? undefined : await store.findThread(tenant, threadId);
    if (thread === undefined || threadId === undefined) throw new Error("it does not belong to a thread");
    requireOffered(thread.target, settings);
    busy.set(threadId, { tenant });
    try {
      const record = await readRun(store, stored);
      const input = record.messages.at(-1);
      if (input === undefined) throw new Error("its input is not stored");
      requireNotTooOften(record.events);
      const target = targetOf(thread.target, settings);
      const { limits } = (stored.settings ?? {}) as { readonly limits?: RunOptions["limits"] };
      const mark = new StoredMark();
      const surroundings = { ...surroundingsOf(mark), resumed: record };
      const run = startRun(target, record.messages, optionsFor(target, limits), world, surroundings);
      follow(run, { stub: stored, input, stored: mark, after: record.events.at(-1)?.seq ?? -1 }, undefined);
      write("info", "run-resumed", { runId: id, threadId, tenant });
    } catch (error) {
      busy.delete(threadId);
      throw error;
    }
  };

  /** Does one thing after the other with a run that no process works on, if it is still so then. */
  const inTurn = ({ id, tenant = LOCAL_TENANT }: StoredRun, act: (run: StoredRun) => Promise<void>): Promise<void> => {
    const before = turns.get(id) ?? Promise.resolve();
    const turn = before
      .catch(() => undefined)
      .then(async () => {
        const stored = runs.has(id) ? undefined : await store.findRun(tenant, id);
        if (stored !== undefined && !stored.isOver) await act(stored);
      })
      .finally(() => {
        if (turns.get(id) === turn) turns.delete(id);
      });
    turns.set(id, turn);
    return turn;
  };

  /** Continues a run, or closes it with the reason why that is impossible. Rejects if the store fails now. */
  const resumeOrClose = (run: StoredRun): Promise<void> =>
    inTurn(run, async (stored) => {
      // The next start continues it.
      if (closing) return;
      try {
        stopAlarm(stored.id);
        await resume(stored);
      } catch (error) {
        if (isStoreError(error) && error.code === "store-failed") throw error;
        const message = settings.secrets?.text(describeThrown(error)) ?? describeThrown(error);
        write("warn", "run-not-resumed", { runId: stored.id, message });
        await closeInterruptedRun(store, stored, world.clock, `The run could not be continued: ${message}.`);
      }
    });

  /** Continues a waiting run, once the store answers. */
  const wake = (run: StoredRun): void => {
    resumeOrClose(run).catch((error: unknown) => {
      reportFailure(run.id)(error);
      if (!closing) setAlarm(run.id, RETRY_MS, () => wake(run));
    });
  };

  /** A run that waits for a time is continued then; one whose answer is there already, at once. */
  const watchWaiting = async (runId: string, tenant: string): Promise<void> => {
    const stored = await store.findRun(tenant, runId);
    if (stored?.isWaiting !== true || closing) return;
    if (await hasNewAnswer(store, stored)) return wake(stored);
    const { wakeAt } = stored;
    if (wakeAt === undefined) return;
    const delayMs = Math.min(Math.max(0, wakeAt - world.clock.now()), LONGEST_MS);
    setAlarm(runId, delayMs, () => {
      if (world.clock.now() >= wakeAt) wake(stored);
      else watchWaiting(runId, tenant).catch(reportFailure(runId));
    });
  };

  const setAlarm = (runId: string, delayMs: number, ring: () => void): void => {
    stopAlarm(runId);
    const takeBack = world.clock.after(delayMs, () => {
      alarms.delete(runId);
      ring();
    });
    alarms.set(runId, takeBack);
  };

  /** The run no longer waits for its time. */
  const stopAlarm = (runId: string): void => {
    alarms.get(runId)?.();
    alarms.delete(runId);
  };

  const reportFailure = (runId: string) => (error: unknown) =>
    write("error", "resume-failed", { runId, message: describeThrown(error) });

  /** Whether a call waits for what is given. */
  const isAwaited = async (runId: string, tenant: string, { callId, decision }: GivenAnswer): Promise<boolean> => {
    if (decision !== undefined) {
      const questions = await store.listQuestions(tenant);
      return questions.some((question) => question.runId === runId && question.callId === callId);
    }
    const live = runs.get(runId);
    if ((await live?.parkedCalls.has(callId)) === true) return true;
    if (live !== undefined && isParked(live.run)) await live.written;
    const stored = await store.findRun(tenant, runId);
    return stored?.isWaiting === true && (await waitsForResult(store, stored, callId));
  };

  /** Gives a stored answer to the run, or continues the run with it. */
  const passOn = async (run: StoredRun, { callId, decision, result }: GivenAnswer): Promise<void> => {
    await turns.get(run.id)?.catch(() => undefined);
    const live = runs.get(run.id)?.run;
    // A run that is being parked at this moment finds the answer in the store.
    if (live === undefined) return closing ? undefined : wake(run);
    if (decision !== undefined) live.answer(callId, decision);
    if (result !== undefined) live.giveResult(callId, result);
  };

  const abort = async (run: StoredRun, reason: string): Promise<boolean> => {
    const { id: runId, tenant = LOCAL_TENANT } = run;
    await turns.get(runId)?.catch(() => undefined);
    const live = runs.get(runId);
    if (live !== undefined && !isParked(live.run)) {
      if (live.run.isComplete()) return false;
      live.run
        .abort(reason)
        .catch((error: unknown) => write("error", "abort-failed", { runId, message: describeThrown(error) }));
      return true;
    }
    await live?.written;
    if ((await store.findRun(tenant, runId))?.isWaiting !== true) return false;
    let isClosed = false;
    await inTurn(run, async (stored) => {
      stopAlarm(runId);
      await closeInterruptedRun(store, stored, world.clock, reason, "aborted");
      isClosed = true;
    });
    // Otherwise its answer has continued it meanwhile.
    return isClosed || abort(run, reason);
  };

  /** The run continues even if this fails: a thread without a title can still be found. */
  const giveTitle = async ({ tenant, id }: StoredThread, input: Message): Promise<void> => {
    try {
      await store.renameThread(tenant, id, { title: titleOf(input), at: world.clock.now() });
    } catch (error) {
      write("warn", "title-not-stored", { threadId: id, message: describeThrown(error) });
    }
  };

  /**
   * Closes an unfinished run that is not active here, because its end could not be stored. No other process writes to
   * this store, so the run is dead.
   */
  const closeAbandoned = async (tenant: string, runId: string): Promise<void> => {
    const stored = runs.has(runId) ? undefined : await store.findRun(tenant, runId);
    if (stored?.isWaiting === true) throw runActive(stored.threadId ?? "");
    if (stored !== undefined && !stored.isOver) await closeInterruptedRun(store, stored, world.clock);
  };

  /** The agent of a target that is a single agent. If it cannot be planned, the run itself reports why. */
  const findAgent = (target: Target, options: RunOptions): SingleAgent | undefined => {
    try {
      return findSingleAgent(target, options, world);
    } catch {
      return undefined;
    }
  };

  const startThreadRun = (target: Target, messages: readonly Message[], given: ThreadRun): Run => {
    const { options, ready, agent, stored } = given;
    try {
      return startRun(target, messages, options, world, {
        ...surroundingsOf(stored),
        ready,
        conversations: agent?.kept.conversations,
      });
    } catch (error) {
      agent?.giveBack(false);
      throw error;
    }
  };

  const keep = async (run: Run, kept: KeptRun, agent: TakenAgent | undefined): Promise<void> => {
    try {
      await keepRun(run, kept);
      const { status, sessionId } = await run.result();
      agent?.giveBack(status === "success" && sessionId !== undefined);
    } finally {
      agent?.giveBack(false);
    }
  };

  const keepRun = async (run: Run, { stub, input, stored, after }: KeptRun): Promise<void> => {
    const recorder = createRunRecorder(input, metrics, {
      stored: (weight) => quota.grow(stub.tenant ?? LOCAL_TENANT, weight),
      stop: () => void run.abort("The storage of its tenant is full.").catch(() => undefined),
    });
    const onStoreFailure = {
      // Events that cannot be stored cannot be shown, so the run is aborted.
      stop: () => void run.abort("The event log could not be written.").catch(() => undefined),
      hold: (events: EventBatch, settlement: Settlement | undefined) => ends.hold(stub, events, settlement),
    };
    const failure = await log.write(run, { recorder, onStoreFailure, stored, after });
    if (failure === undefined && isParked(run)) {
      write("info", "run-parked", { runId: run.id, threadId: stub.threadId });
      return;
    }
    if (failure === undefined) {
      const { status, subtype, ms } =
        recorder.result ?? ((await run.result()) as Pick<RunResult, "status" | "subtype" | "ms">);
      metrics.runs.add(status);
      write("info", "run-end", { runId: run.id, threadId: stub.threadId, status, subtype, ms });
      return;
    }
    metrics.failures.add("store");
    metrics.runs.add("error");
    write("error", "store-failed", { runId: run.id, message: failure });
    await run.abort("The event log could not be written.");
  };

  /** One tenant must not use up the capacity for all. */
  const requireShare = (tenant: string): void => {
    const { runsPerTenant } = settings.limits;
    const own = [...busy.values()].filter((one) => one.tenant === tenant).length;
    if (own < runsPerTenant) return;
    throw new ApiError(
      "too-many-tenant-runs",
      `You have ${own} active runs, and ${runsPerTenant} are allowed (limits.runsPerTenant). Wait for one, or abort one.`,
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
      // The configuration may have changed since the thread was created.
      requireOffered(thread.target, settings);
      if (closing) throw new ApiError("shutting-down", "The server is shutting down. Ask again in a moment.");
      if (busy.has(thread.id)) throw runActive(thread.id);
      if (busy.size >= settings.limits.runs) {
        throw new ApiError("too-many-runs", "Too many runs are under way. Ask again later.", { "retry-after": "5" });
      }
      requireShare(thread.tenant);
      busy.set(thread.id, { tenant: thread.tenant });
      try {
        const started = quota.inTurn(thread.tenant, async () => {
          await quota.require(thread.tenant);
          return begin(thread, input, limits);
        });
        const noted = started.catch(() => undefined).then(() => void starting.delete(noted));
        starting.add(noted);
        return await started;
      } catch (error) {
        busy.delete(thread.id);
        throw error;
      }
    },
    async resume(stored) {
      if (stored.isWaiting === true) return watchWaiting(stored.id, stored.tenant ?? LOCAL_TENANT);
      await resumeOrClose(stored);
    },
    abort,
    async answer(run, answer) {
      const { id: runId, tenant = LOCAL_TENANT } = run;
      await turns.get(runId)?.catch(() => undefined);
      if (!(await isAwaited(runId, tenant, answer))) return false;
      // Stored before anybody is told that it was accepted, also while the run is active: the process may die now.
      // What is stored may wait for days, so its secrets are masked; a run that is active receives the original.
      const kept = settings.secrets?.value(answer) ?? answer;
      if (!(await store.addAnswer(runId, { ...kept, at: world.clock.now() } as StoredAnswer))) return false;
      await passOn(run, answer);
      return true;
    },
    async close(graceMs) {
      closing = true;
      const all = (async () => {
        // What is just being accepted or continued may become a run.
        await Promise.allSettled([...starting, ...turns.values()]);
        await Promise.all([...runs.values()].map(({ written }) => written));
      })();
      let takeBack: (() => void) | undefined;
      const grace = new Promise<void>((resolve) => {
        takeBack = world.clock.after(graceMs, resolve);
      });
      for (const stop of alarms.values()) stop();
      await Promise.race([all, grace]);
      takeBack?.();
      leaving.abort();
      await all;
      // Processes that a run has started may take longer to end than its answer.
      await Promise.all([...open].map((run) => run.abort("The server was shut down.")));
      await warm.close();
    },
  };
}

function isParked(run: Run): boolean {
  return run.toJSON().state === "waiting";
}
