/**
 * A queue in Postgres, with pg-boss.
 *
 * @module
 */
import { checkOptionNames, StartError } from "#domain";
import { EngineQueue, requireReached, type RunQueue } from "#sessions";
import { systemClock } from "#transports";
import { type Boss, BossEngine } from "../../sessions/queues/pg-boss/boss-engine.ts";
import { findNewerQueue } from "../../sessions/queues/pg-boss/inspect-boss.ts";
import { describePostgresFailure } from "../../sessions/stores/postgres/failures.ts";
import { importPackage } from "./optional-package.ts";

export type { JobsWanted, QueueCounts, QueuedJob, QueueErrorCode, RunQueue, TakenJob } from "#sessions";
export { isQueueError, QueueError } from "#sessions";

/** The options of `openQueue`. */
export interface PostgresQueueOptions {
  /** The schema of the queue's tables; created if missing. Default `millrace_queue`. */
  readonly schema?: string;
}

const REACH_MS = 4000;
const TIMES = { extendMs: 2500, pollMs: 250, answerMs: 3000 };

/** How often pg-boss looks for jobs whose node is not heard of. Its default takes a minute. */
const WATCH = { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 };

/** Connections of one node to the database, for its queue. */
const CONNECTIONS = 4;

/**
 * Opens a queue in Postgres 13 or later. Any number of nodes open the same one. Needs the packages `pg-boss` (exactly
 * 12.35.0) and `pg`. Rejects with a `StartError` if the database cannot be used.
 *
 * @example
 * const queue = await openQueue("postgres://localhost/millrace")
 */
export async function openQueue(url: string, options: PostgresQueueOptions = {}): Promise<RunQueue> {
  checkOptionNames(options, ["schema"] satisfies (keyof PostgresQueueOptions)[], "openQueue");
  const { schema = "millrace_queue" } = options;
  if (!/^[a-z_][a-z0-9_]{0,49}$/.test(schema)) {
    throw new StartError(
      "invalid-option",
      "schema must be 1 to 50 small letters, digits and _, not beginning with a digit.",
    );
  }
  if (!URL.canParse(url) || !/^postgres(ql)?:$/.test(new URL(url).protocol)) {
    throw new StartError("invalid-option", "The address of the queue must begin with postgres:// or postgresql://.");
  }
  const { PgBoss } = await importPackage("pg-boss@12.35.0 pg@8", () => import("pg-boss"));
  const boss = new PgBoss({
    connectionString: url,
    schema,
    max: CONNECTIONS,
    connectionTimeoutMillis: TIMES.answerMs,
    schedule: false,
    ...WATCH,
  });
  // Failures are seen where an answer is missing; pg-boss tries again by itself.
  boss.on("error", () => undefined);
  const describe = (error: unknown): string => `The queue cannot be used: ${describePostgresFailure(error, url)}`;
  try {
    const started = boss.start().then(() => requireTables(boss as unknown as Boss, schema));
    await requireReached(started, { clock: systemClock, ms: REACH_MS, describe });
  } catch (error) {
    boss.stop({ graceful: false, close: true }).catch(() => undefined);
    throw error;
  }
  return new EngineQueue(new BossEngine(boss as unknown as Boss, schema), { clock: systemClock, ...TIMES });
}

/** pg-boss itself works on the tables of a newer version, whose meaning it does not know. */
async function requireTables(boss: Boss, schema: string): Promise<void> {
  const { rows } = await boss.getDb().executeSql(`SELECT version FROM ${schema}.version`);
  const newer = findNewerQueue(Number((rows[0] as { version?: unknown } | undefined)?.version ?? 0));
  if (newer !== undefined) throw new StartError("invalid-option", newer);
}
