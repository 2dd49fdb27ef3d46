import type { Redis, RedisOptions } from "ioredis";
import type { Clock } from "#domain";
import { requireReached } from "#sessions";
import { describeRedisFailure } from "../../sessions/queues/bullmq/redis-failures.ts";
import { importPackage } from "./optional-package.ts";

/** The packages of the queue in Redis. */
export const REDIS_PACKAGES = "bullmq@6.7 ioredis@5";

export interface OpenRedisOptions extends Pick<RedisOptions, "commandTimeout" | "maxRetriesPerRequest"> {
  /** How long it may take. */
  readonly connectMs: number;
}

/** Connects to Redis. Rejects with a `StartError` that says why that is impossible, with the remedy and without the password. */
export async function connectRedis(
  url: string,
  clock: Clock,
  { connectMs, ...options }: OpenRedisOptions,
): Promise<Redis> {
  const { Redis: Connection } = await importPackage(REDIS_PACKAGES, () => import("ioredis"));
  const client = new Connection(url, { ...options, lazyConnect: true, connectTimeout: connectMs });
  let last: unknown;
  // Failures are seen where an answer is missing; ioredis connects again by itself. Only here does it say why.
  client.on("error", (error: unknown) => {
    last = error;
  });
  try {
    const describe = (error: unknown): string => describeRedisFailure(last ?? error, new URL(url).host);
    await requireReached(client.connect(), { clock, ms: connectMs, describe });
    return client;
  } catch (error) {
    client.disconnect();
    throw error;
  }
}
