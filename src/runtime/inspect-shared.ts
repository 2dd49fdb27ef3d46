import type { Clock } from "#domain";
import { describeThrown } from "#domain";
import type { Finding } from "#sessions";
import { systemRandom } from "#transports";
import { describeRedisFailure } from "../sessions/queues/bullmq/redis-failures.ts";
import { inspectRedis } from "../sessions/queues/bullmq/inspect-redis.ts";
import { inspectBoss } from "../sessions/queues/pg-boss/inspect-boss.ts";
import { describePostgresFailure } from "../sessions/stores/postgres/failures.ts";
import { inspectPostgres } from "../sessions/stores/postgres/inspect-postgres.ts";
import { loadDriver } from "../sessions/stores/postgres/load-driver.ts";
import { importPackage } from "./queues/optional-package.ts";
import { connectRedis, REDIS_PACKAGES } from "./queues/redis-client.ts";

/** How long an engine has for its first answer, and for each later one. */
const CONNECT_MS = 2500;
const ANSWER_MS = 800;

export interface InspectStoreOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly hasQueue: boolean;
}

/** What would keep servers from sharing this database, and what is unwise, within 5 s. Changes nothing there. */
export async function inspectSharedStore(url: string, options: InspectStoreOptions): Promise<readonly Finding[]> {
  try {
    return await inspectPostgres(await loadDriver(), { ...options, url, schema: "millrace" });
  } catch (error) {
    return [{ name: "store postgres", isReady: false, says: describeThrown(error) }];
  }
}

/** The same for the queue that they share. */
export async function inspectQueue(
  where: string,
  storeUrl: string | undefined,
  clock: Clock,
): Promise<readonly Finding[]> {
  if (where !== "pg-boss") return inspectRedisQueue(where, clock);
  const name = "queue pg-boss";
  if (storeUrl === undefined) {
    const says = "--queue pg-boss keeps its jobs in the database of the store: give it with --store postgres://…";
    return [{ name, isReady: false, says }];
  }
  try {
    await importPackage("pg-boss@12.35.0 pg@8", () => import("pg-boss"));
    const pg = await loadDriver();
    const client = new pg.Client({
      connectionString: storeUrl,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
    });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await inspectBoss(client, "millrace_queue");
    } catch (error) {
      return [{ name, isReady: false, says: describePostgresFailure(error, storeUrl) }];
    } finally {
      client.end().catch(() => undefined);
    }
  } catch (error) {
    return [{ name, isReady: false, says: describeThrown(error) }];
  }
}

async function inspectRedisQueue(url: string, clock: Clock): Promise<readonly Finding[]> {
  const name = "queue redis";
  if (!/^rediss?:/u.test(url) || !URL.canParse(url)) {
    const says = "--queue must be pg-boss or an address that begins with redis:// or rediss://.";
    return [{ name: "queue", isReady: false, says }];
  }
  const { host } = new URL(url);
  try {
    await importPackage(REDIS_PACKAGES, () => import("bullmq"));
    const redis = await connectRedis(url, clock, { connectMs: CONNECT_MS, commandTimeout: ANSWER_MS });
    try {
      return await inspectRedis(redis, host, "millrace", systemRandom.id());
    } catch (error) {
      return [{ name, isReady: false, says: describeRedisFailure(error, host) }];
    } finally {
      redis.disconnect();
    }
  } catch (error) {
    return [{ name, isReady: false, says: describeThrown(error) }];
  }
}
