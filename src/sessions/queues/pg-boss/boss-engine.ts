import type { EngineJob, QueueEngine } from "../engine-queue.ts";
import { OpenedKinds } from "../opened-kinds.ts";
import type { QueueCounts, QueuedJob } from "../queue.ts";

/** The parts of pg-boss that are used. */
export interface Boss {
  createQueue(name: string, options: BossQueueOptions): Promise<unknown>;
  send(name: string, data: object, options: BossSendOptions): Promise<unknown>;
  fetch(name: string, options: { readonly includeMetadata: true }): Promise<readonly BossJob[]>;
  touch(name: string, jobs: readonly BossJob[]): Promise<BossOutcome>;
  complete(name: string, jobs: readonly BossJob[]): Promise<BossOutcome>;
  fail(name: string, jobs: readonly BossJob[], output: object): Promise<BossOutcome>;
  getDb(): BossDatabase;
  stop(options: { readonly graceful: boolean; readonly close: boolean }): Promise<void>;
}

export interface BossDatabase {
  executeSql(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  beginTransaction?(): Promise<BossTransaction>;
}

export interface BossTransaction {
  readonly db: BossDatabase;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A job that was fetched. Id and number of the attempt together name what a node holds. */
export interface BossJob {
  readonly id: string;
  readonly retryCount: number;
  readonly data: { readonly runId: string };
  /** What the last attempt left. */
  readonly output?: unknown;
}

export interface BossOutcome {
  readonly affected: number;
}

export interface BossQueueOptions {
  readonly policy: string;
  readonly retryLimit: number;
  readonly retryDelay: number;
  readonly heartbeatSeconds: number;
  readonly expireInSeconds: number;
  readonly retentionSeconds: number;
  readonly deleteAfterSeconds: number;
}

export interface BossSendOptions {
  readonly singletonKey: string;
  readonly startAfter?: Date;
  readonly db: BossDatabase;
}

const DAY = 86_400;

const QUEUE_OPTIONS: BossQueueOptions = {
  // Of the jobs of one key only one is active; the others wait, and hold up no other key.
  policy: "key_strict_fifo",
  retryLimit: 1_000_000,
  retryDelay: 0,
  // The shortest that pg-boss takes.
  heartbeatSeconds: 10,
  // The longest that it takes: a run that is worked on for longer is handed over once.
  expireInSeconds: DAY - 1,
  retentionSeconds: 365 * DAY,
  deleteAfterSeconds: 60,
};

/** What a job leaves that was given back, not lost. */
const GIVEN_BACK = "given back";

/** Jobs in pg-boss: one of its queues for each kind, and the run as the key of its jobs. */
export class BossEngine implements QueueEngine {
  private readonly _boss: Boss;
  private readonly _schema: string;
  /** The names of the queues in pg-boss. */
  private readonly _queues = new OpenedKinds((kind) => this._createQueue(kind));

  constructor(boss: Boss, schema: string) {
    this._boss = boss;
    this._schema = schema;
  }

  async add({ runId, kind, notBefore }: QueuedJob & { readonly kind: string }): Promise<void> {
    const name = await this._queues.of(kind);
    const transaction = await this._boss.getDb().beginTransaction?.();
    if (transaction === undefined) throw new Error("This version of pg-boss has no transactions.");
    const { db } = transaction;
    try {
      // Two nodes that add a run at once must see each other's job.
      await db.executeSql("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${name} ${runId}`]);
      const startAfter = notBefore === undefined ? undefined : new Date(Math.min(Math.max(0, notBefore), LAST_MS));
      if (!(await this._makeEarlier(db, name, runId, startAfter))) {
        await this._boss.send(name, { runId }, { singletonKey: runId, db, ...(startAfter && { startAfter }) });
      }
      await transaction.commit();
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  async fetch(kind: string): Promise<EngineJob | undefined> {
    const name = await this._queues.of(kind);
    const [job] = await this._boss.fetch(name, { includeMetadata: true });
    if (job === undefined) return undefined;
    const held = [job];
    return {
      runId: job.data.runId,
      kind,
      isHandOver: job.retryCount > 0 && !JSON.stringify(job.output ?? {}).includes(GIVEN_BACK),
      extend: async () => (await this._boss.touch(name, held)).affected > 0,
      finish: async () => (await this._boss.complete(name, held)).affected > 0,
      giveBack: async () => (await this._boss.fail(name, held, { value: GIVEN_BACK })).affected > 0,
    };
  }

  async count(): Promise<QueueCounts> {
    const { rows } = await this._boss.getDb().executeSql(
      `SELECT count(*) FILTER (WHERE state < 'active' AND start_after <= now())::int AS waiting,
              count(*) FILTER (WHERE state < 'active' AND start_after > now())::int AS delayed,
              count(*) FILTER (WHERE state = 'active')::int AS active
         FROM ${this._schema}.job WHERE state <= 'active' AND name LIKE $1`,
      [`${PREFIX}%`],
    );
    const { waiting, delayed, active } = rows[0] as QueueCounts;
    return { waiting, delayed, active };
  }

  async close(): Promise<void> {
    await this._boss.stop({ graceful: false, close: true });
  }

  /** Whether the run is queued already; then it becomes due at the earlier of both times. */
  private async _makeEarlier(
    db: BossDatabase,
    name: string,
    runId: string,
    startAfter: Date | undefined,
  ): Promise<boolean> {
    const { rows } = await db.executeSql(
      `UPDATE ${this._schema}.job SET start_after = LEAST(start_after, COALESCE($3::timestamptz, now()))
        WHERE name = $1 AND singleton_key = $2 AND state < 'active' RETURNING 1`,
      [name, runId, startAfter],
    );
    return rows.length > 0;
  }

  private async _createQueue(kind: string): Promise<string> {
    const name = `${PREFIX}${kind}`;
    await this._boss.createQueue(name, QUEUE_OPTIONS);
    return name;
  }
}

export const PREFIX = "millrace.";

/** The last time that a date can be. */
const LAST_MS = 8.64e15;
