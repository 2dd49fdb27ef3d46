import type { Finding } from "../../finding.ts";

/** The parts of a connection to Redis that are used. */
export interface RedisCalls {
  info(): Promise<string>;
  smembers(key: string): Promise<readonly string[]>;
  llen(key: string): Promise<number>;
  eval(script: string, keys: number, ...values: string[]): Promise<unknown>;
}

const NAME = "queue redis";

const OLDEST = [6, 2] as const;

/** Writes a key and removes it, as BullMQ does: in a script. */
const TRIES = `
  redis.call('SET', KEYS[1], '1', 'PX', '5000')
  return redis.call('DEL', KEYS[1])`;

/**
 * Says what would keep a server from using this Redis, and what is unwise. Rejects if Redis rejects a call.
 *
 * @param name one that no other program has, for a key that is written and removed
 */
export async function inspectRedis(
  redis: RedisCalls,
  host: string,
  prefix: string,
  name: string,
): Promise<readonly Finding[]> {
  const facts = readInfo(await redis.info());
  const wrong = findObstacle(facts, host);
  if (wrong !== undefined) return [{ name: NAME, isReady: false, says: wrong }];
  await redis.eval(TRIES, 1, `${prefix}:doctor:${name}`);
  let waiting = 0;
  let active = 0;
  for (const kind of await redis.smembers(`${prefix}:kinds`)) {
    waiting += await redis.llen(`${prefix}:${kind}:wait`);
    active += await redis.llen(`${prefix}:${kind}:active`);
  }
  const jobs = `${waiting} jobs are waiting, and ${active} are worked on.`;
  const found: Finding[] = [
    { name: NAME, isReady: true, says: `Redis ${facts.get("redis_version")} at ${host} can be used. ${jobs}` },
  ];
  const warn = (says: string): void => void found.push({ name: NAME, isReady: true, isWarning: true, says });
  if (facts.get("aof_enabled") === "0") {
    warn(
      "Redis does not log what it stores, so a restart loses jobs; nodes add them again from the store within 15 s. Switch it on: CONFIG SET appendonly yes, and in redis.conf.",
    );
  }
  if (waiting > 0 && active === 0) {
    warn("Jobs are waiting, and nobody works on any. Start a worker: millrace serve --worker-only.");
  }
  return found;
}

function findObstacle(facts: ReadonlyMap<string, string>, host: string): string | undefined {
  const version = facts.get("redis_version") ?? "";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    return `Redis at ${host} has version ${version}; the queue needs ${OLDEST.join(".")} or later.`;
  }
  if (facts.get("role") === "slave") {
    return `Redis at ${host} is a replica, which takes no writes. Give the address of the primary.`;
  }
  if (facts.get("cluster_enabled") === "1") {
    return `Redis at ${host} is a cluster, which the queue does not support. Use a single server, with a replica if it must not fail.`;
  }
  const policy = facts.get("maxmemory_policy");
  if (policy === undefined || policy === "noeviction") return undefined;
  return `Redis at ${host} removes keys when its memory is full (maxmemory-policy ${policy}), and with them jobs. Forbid it: CONFIG SET maxmemory-policy noeviction, and in redis.conf.`;
}

/** `name:value` lines. */
function readInfo(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(/\r?\n/u).flatMap((line): [string, string][] => {
      const colon = line.indexOf(":");
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)]] : [];
    }),
  );
}
