import type { Clock } from "#domain";
import { inTime } from "#streams";
import type { EngineJob, QueueEngine } from "../engine-queue.ts";
import { OpenedKinds } from "../opened-kinds.ts";
import type { QueueCounts } from "../queue.ts";

/** The parts of a BullMQ queue that are used. */
export interface BullQueue {
  add(name: string, data: BullData, options: BullJobOptions): Promise<unknown>;
  getJobCounts(...states: string[]): Promise<Record<string, number>>;
  close(): Promise<void>;
}

/** The parts of a BullMQ worker that are used. Its jobs are fetched one by one. */
export interface BullWorker {
  waitUntilReady(): Promise<unknown>;
  getNextJob(token: string): Promise<BullJob | undefined>;
  startStalledCheckTimer(): Promise<void>;
  close(force: boolean): Promise<void>;
}

export interface BullJob {
  readonly name: string;
  readonly data: BullData;
  /** How often its lock ended while it was worked on. */
  readonly stalledCounter: number;
  extendLock(token: string, ms: number): Promise<number>;
  moveToCompleted(value: undefined, token: string, fetchNext: false): Promise<unknown>;
  moveToWait(token: string): Promise<unknown>;
}

export interface BullData {
  readonly runId: string;
}

export interface BullJobOptions {
  readonly jobId?: string;
  readonly delay?: number;
  readonly deduplication?: { readonly id: string; readonly keepLastIfActive: true };
  readonly removeOnComplete: true;
  readonly removeOnFail: true;
}

/** The connections to one Redis server. */
export interface BullMq {
  /** All nodes use the same names. */
  openQueue(name: string): BullQueue;
  openWorker(name: string): BullWorker;
  /** The kinds that any node has used. */
  listKinds(): Promise<readonly string[]>;
  addKind(kind: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface BullEngineOptions {
  readonly clock: Clock;
  readonly newToken: () => string;
  readonly lockMs: number;
  /** How long a connection may take to be ready. */
  readonly readyMs: number;
}

/** A run to work on now, and a reminder to add it. */
const NOW = "now";
const LATER = "later";

const REMOVED = { removeOnComplete: true, removeOnFail: true } as const;

/**
 * Jobs in BullMQ: one of its queues for each kind.
 *
 * Its own deduplication keeps a run from being queued twice, and queues it again after the active job. That one keeps only
 * the last job added meanwhile, so a later time is a job of its own: when it is due, it adds the run.
 */
export class BullMqEngine implements QueueEngine {
  private readonly _bull: BullMq;
  private readonly _options: BullEngineOptions;
  private readonly _queues = new OpenedKinds((kind) => this._openQueue(kind));
  private readonly _workers = new OpenedKinds((kind) => this._openWorker(kind));

  constructor(bull: BullMq, options: BullEngineOptions) {
    this._bull = bull;
    this._options = options;
  }

  async add({ runId, kind, notBefore = 0 }: { runId: string; kind: string; notBefore?: number }): Promise<void> {
    const queue = await this._queues.of(kind);
    const delay = notBefore - this._options.clock.now();
    if (delay > 0) await queue.add(LATER, { runId }, { ...REMOVED, jobId: `${runId}.${notBefore}`, delay });
    else await queue.add(NOW, { runId }, { ...REMOVED, deduplication: { id: runId, keepLastIfActive: true } });
  }

  async fetch(kind: string): Promise<EngineJob | undefined> {
    const worker = await this._workers.of(kind);
    const token = this._options.newToken();
    const job = await worker.getNextJob(token);
    if (job === undefined) return undefined;
    const { runId } = job.data;
    if (job.name === LATER) {
      await this.add({ runId, kind });
      await job.moveToCompleted(undefined, token, false);
      return this.fetch(kind);
    }
    return {
      runId,
      kind,
      isHandOver: job.stalledCounter > 0,
      extend: async () => (await job.extendLock(token, this._options.lockMs)) === 1,
      finish: () => isDone(job.moveToCompleted(undefined, token, false)),
      giveBack: () => isDone(job.moveToWait(token)),
    };
  }

  async count(): Promise<QueueCounts> {
    const sum = { waiting: 0, delayed: 0, active: 0 };
    for (const kind of await this._bull.listKinds()) {
      const counts = await (await this._queues.of(kind)).getJobCounts("wait", "delayed", "active");
      sum.waiting += counts["wait"] ?? 0;
      sum.delayed += counts["delayed"] ?? 0;
      sum.active += counts["active"] ?? 0;
    }
    return sum;
  }

  async close(): Promise<void> {
    await Promise.allSettled((await this._workers.all()).map((worker) => worker.close(true)));
    await Promise.allSettled((await this._queues.all()).map((queue) => queue.close()));
    await this._bull.close();
  }

  /** A kind that no node has listed is not counted. */
  private async _openQueue(kind: string): Promise<BullQueue> {
    await this._inTime(this._bull.addKind(kind));
    return this._bull.openQueue(kind);
  }

  /** A worker whose first connection is cut never becomes ready; then the next fetch opens another one. */
  private async _openWorker(kind: string): Promise<BullWorker> {
    const worker = this._bull.openWorker(kind);
    try {
      await this._inTime(worker.waitUntilReady());
      await this._inTime(worker.startStalledCheckTimer());
      return worker;
    } catch (error) {
      worker.close(true).catch(() => undefined);
      throw error;
    }
  }

  private _inTime(ready: Promise<unknown>): Promise<unknown> {
    const { clock, readyMs } = this._options;
    const late = (): Error => new Error(`Redis did not answer within ${readyMs} ms.`);
    return inTime(ready, { clock, ms: readyMs, late });
  }
}

/** BullMQ's numbers for: the job is gone, its lock is gone, it is not being worked on, its lock is another's. */
const LOST: readonly unknown[] = [-1, -2, -3, -6];

async function isDone(ended: Promise<unknown>): Promise<boolean> {
  try {
    await ended;
    return true;
  } catch (error) {
    if (error instanceof Error && LOST.includes((error as { readonly code?: unknown }).code)) return false;
    throw error;
  }
}
