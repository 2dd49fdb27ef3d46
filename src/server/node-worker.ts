import { describeThrown } from "#domain";
import {
  closeInterruptedRun,
  isQueueError,
  isStoreError,
  type RunQueue,
  type Store,
  type StoredRun,
  type TakenJob,
} from "#sessions";
import { createAbortController } from "#streams";
import { type ClaimingStore, holdClaim } from "./claims.ts";
import { type NodeRunOptions, type RunAtWork, workOnRun } from "./node-run.ts";
import { isServed } from "./run-rules.ts";
import { hasNewAnswer } from "./waiting-runs.ts";

/** A claim that was extended more recently than this is that of a worker that lives. */
export const FRESH_MS = 15_000;

/** How often stored answers are looked for while a call is open. */
const ANSWERS_MS = 1000;

/** The pause before something that failed is tried again. */
const RETRY_MS = 1000;

/** How long a suspended run may take to store where it stands. */
const SUSPEND_MS = 5000;

export interface WorkerOptions extends NodeRunOptions {
  readonly store: ClaimingStore;
  readonly queue: RunQueue;
  /** The name of this node in claims. */
  readonly name: string;
  readonly kinds: () => Promise<readonly string[]>;
  /** The kind of a run. */
  readonly kindOf: (stored: StoredRun) => Promise<string>;
}

/** Works on the runs that it takes from the queue. */
export class NodeWorker {
  readonly atWork = new Map<string, RunAtWork>();
  handOvers = 0;
  lostClaims = 0;
  private readonly _noteWait: (ms: number) => void;
  private readonly _noteHandOver: (ms: number) => void;
  private readonly _options: WorkerOptions;
  private readonly _jobs = new Set<Promise<void>>();
  private readonly _stopTaking = createAbortController();
  private readonly _leaving = createAbortController();
  private readonly _giveUp = createAbortController();
  private _loop: Promise<void> | undefined;
  private _stopAnswers: () => void = () => undefined;
  private _stopHints: () => void = () => undefined;

  constructor(options: WorkerOptions) {
    this._options = options;
    const { metrics } = options;
    metrics.total("millrace_hand_overs_total", "Runs that this node took over from another.", () => this.handOvers);
    metrics.total("millrace_claims_lost_total", "Runs that were taken from this node.", () => this.lostClaims);
    this._noteWait = metrics.durations(
      "millrace_queue_wait_seconds",
      "From the request to the start of the work on it.",
    );
    this._noteHandOver = metrics.durations(
      "millrace_hand_over_seconds",
      "From the last sign of the former node to the take-over of its run by this one.",
    );
  }

  start(): void {
    this._loop ??= this._takeAll();
    this._lookForAnswers();
    this._stopHints = this._options.store.watch?.((runId) => this._hear(runId)) ?? this._stopHints;
  }

  /** Another process has changed something of a run, or perhaps of any: an answer has come, or the run was aborted. */
  private _hear(runId: string | undefined): void {
    for (const [id, atWork] of this.atWork) {
      if (runId !== undefined && id !== runId) continue;
      atWork.check();
      // If this fails now, the next look makes up for it.
      this._passAnswers(id, atWork).catch(() => undefined);
    }
  }

  /** Takes no more, lets runs finish for a while, and leaves the rest to other nodes. */
  async close(graceMs: number): Promise<void> {
    this._stopTaking.abort();
    await this._within(graceMs);
    this._leaving.abort();
    await this._within(SUSPEND_MS);
    this._giveUp.abort();
    await Promise.all(this._jobs);
    this._stopAnswers();
    this._stopHints();
  }

  private async _within(ms: number): Promise<void> {
    let stop: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      stop = this._options.settings.world.clock.after(ms, resolve);
    });
    await Promise.race([Promise.all([this._loop, ...this._jobs]), late]);
    stop?.();
  }

  private async _takeAll(): Promise<void> {
    const { queue, settings, write } = this._options;
    const { signal } = this._stopTaking;
    while (!signal.aborted) {
      try {
        const job = await queue.take({ kinds: await this._options.kinds(), signal });
        if (job !== undefined) this._begin(job);
        if (this._jobs.size >= settings.limits.runs) await Promise.race(this._jobs);
      } catch (error) {
        write("warn", "queue-failed", { message: describeThrown(error) });
        await this._pause(RETRY_MS, signal);
      }
    }
  }

  private _begin(job: TakenJob): void {
    const work = this._work(job)
      .catch(async (error: unknown) => {
        this._options.write("error", "job-failed", { runId: job.runId, message: describeThrown(error) });
        // Otherwise this node would hold it for as long as it lives, and nobody would work on the run.
        await this._pause(RETRY_MS, this._stopTaking.signal);
        await this._end(job, "giveBack").catch(() => undefined);
      })
      .finally(() => this._jobs.delete(work));
    this._jobs.add(work);
  }

  private async _work(job: TakenJob): Promise<void> {
    const { store, settings } = this._options;
    const stored = await this._insist(() => findUnfinished(store, job.runId));
    if (stored === undefined || !isServed(stored) || !(await this._insist(() => this._isDue(stored))))
      return this._end(job, "finish");
    const { claim } = stored;
    if (claim !== undefined && !job.isHandOver && settings.world.clock.now() - claim.at < FRESH_MS) {
      // Its worker lives, though the queue knows nothing of it any more.
      await this._pause(RETRY_MS, this._stopTaking.signal);
      return this._end(job, "giveBack");
    }
    const epoch = await this._claim(stored);
    if (epoch === undefined) return this._end(job, "finish");
    const now = settings.world.clock.now();
    if (claim !== undefined) {
      this.handOvers += 1;
      this._noteHandOver(now - claim.at);
    } else if (stored.lastSeq < 0) this._noteWait(now - stored.createdAt);
    if (await this._carryOut(job, stored, epoch)) return this._end(job, "finish");
    await this._insist(() => store.releaseClaim({ runId: job.runId, epoch }));
    const left = await this._insist(() => findUnfinished(store, job.runId));
    const isDone = left === undefined || left.isWaiting === true;
    if (left !== undefined && isDone) await this._insist(() => this._isDue(left));
    if (left !== undefined && isDone && (await this._insist(() => hasNewAnswer(store, left)))) {
      const kind = await this._options.kindOf(left);
      await this._insist(() => this._options.queue.add({ runId: left.id, kind }));
    }
    return this._end(job, isDone ? "finish" : "giveBack");
  }

  /** `true`: the run is over here, because another node has it. */
  private async _carryOut(job: TakenJob, stored: StoredRun, epoch: number): Promise<boolean> {
    const { store, settings, name, write } = this._options;
    const lost = new AbortController();
    const lose = (): void => {
      if (!lost.signal.aborted && !this._giveUp.signal.aborted) this.lostClaims += 1;
      lost.abort();
    };
    job.lost.addEventListener("abort", lose);
    this._giveUp.signal.addEventListener("abort", lose);
    if (job.lost.aborted) lose();
    const { check, stop } = holdClaim({ store, clock: settings.world.clock, runId: stored.id, epoch }, lose);
    try {
      // A store that is away says nothing about the run: it has not begun, and is begun as soon as it can be read.
      const begin = (): Promise<void> =>
        workOnRun(this._options, stored, {
          epoch,
          lost: lost.signal,
          leaving: this._leaving.signal,
          onStart: (atWork) => this.atWork.set(stored.id, { ...atWork, check }),
        });
      await this._insist(begin, lost.signal);
    } catch (error) {
      if (lost.signal.aborted) return !this._giveUp.signal.aborted;
      const message = settings.secrets?.text(describeThrown(error)) ?? describeThrown(error);
      write("warn", "run-not-resumed", { runId: stored.id, message });
      const why = `The run could not be continued: ${message}.`;
      const held = { ...stored, claim: { epoch, worker: name, at: 0 } };
      await this._insist(
        () => closeInterruptedRun(store, held, settings.world.clock, why, "interrupted", name),
        lost.signal,
      );
    } finally {
      this.atWork.delete(stored.id);
      stop();
      job.lost.removeEventListener("abort", lose);
      this._giveUp.signal.removeEventListener("abort", lose);
    }
    return lost.signal.aborted && !this._giveUp.signal.aborted;
  }

  /** Whether there is something to do for the run now. If it waits for a time, it is added for then. */
  private async _isDue(stored: StoredRun): Promise<boolean> {
    if (stored.isWaiting !== true) return true;
    const { store } = this._options;
    const { wakeAt } = stored;
    if (await hasNewAnswer(store, stored)) return true;
    if (wakeAt === undefined) return false;
    if (wakeAt <= this._options.settings.world.clock.now()) return true;
    const kind = await this._options.kindOf(stored);
    await this._options.queue.add({ runId: stored.id, kind, notBefore: wakeAt });
    return false;
  }

  /** `undefined`: another one was faster, or the run is over. */
  private async _claim({ id, claim }: StoredRun): Promise<number | undefined> {
    const { store, name, settings } = this._options;
    const seen = claim?.epoch ?? 0;
    try {
      return await this._insist(() => store.claim(id, { worker: name, at: settings.world.clock.now(), seen }));
    } catch (error) {
      if (isStoreError(error)) return undefined;
      throw error;
    }
  }

  /** Gives runs the answers that came in through other nodes. */
  private _lookForAnswers(): void {
    this._stopAnswers = this._options.settings.world.clock.after(ANSWERS_MS, () => {
      const looks = [...this.atWork].map(([runId, atWork]) => this._passAnswers(runId, atWork));
      Promise.allSettled(looks).then(
        () => this._giveUp.signal.aborted || this._lookForAnswers(),
        () => undefined,
      );
    });
  }

  private async _passAnswers(runId: string, { run, openCalls, answered }: RunAtWork): Promise<void> {
    if (openCalls.size === 0) return;
    for (const { callId, decision, result } of await this._options.store.listAnswers(runId)) {
      if (answered.has(callId)) continue;
      if (decision !== undefined && run.answer(callId, decision)) answered.add(callId);
      else if (result !== undefined && run.giveResult(callId, result)) answered.add(callId);
    }
  }

  /** The queue hears of it as soon as it can. */
  private async _end(job: TakenJob, how: "finish" | "giveBack"): Promise<void> {
    await this._insist(() => (how === "finish" ? job.finish() : job.giveBack()));
  }

  /** Tries until the store and the queue answer, or the signal fires. */
  private async _insist<Value>(act: () => Promise<Value>, signal = this._giveUp.signal): Promise<Value> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (signal.aborted || !isAway(error)) throw error;
        await this._pause(RETRY_MS, signal);
      }
    }
  }

  private _pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        takeBack();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const takeBack = this._options.settings.world.clock.after(ms, end);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    });
  }
}

/** A run by its id, whoever it belongs to. */
async function findUnfinished(store: Store, runId: string): Promise<StoredRun | undefined> {
  return (await store.listRuns({ id: runId, isOver: false }))[0];
}

function isAway(error: unknown): boolean {
  return (
    (isStoreError(error) && error.code === "store-failed") || (isQueueError(error) && error.code === "queue-failed")
  );
}
