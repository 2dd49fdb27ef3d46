import { describeThrown } from "#domain";

/** What is wrong with Redis at this host, with the remedy. */
export function describeRedisFailure(error: unknown, host: string): string {
  const why = describeThrown(error);
  const remedy = remedyFor(why, host);
  return remedy === undefined ? `Redis at ${host} cannot be used: ${why}` : `${remedy} (${why})`;
}

function remedyFor(why: string, host: string): string | undefined {
  if (/WRONGPASS|NOAUTH|invalid password|ERR AUTH/u.test(why)) {
    return `Redis at ${host} does not let this user in. Check user and password of the address: redis://user:password@host:6379.`;
  }
  if (/NOPERM/u.test(why)) {
    return `The user of the address may not do this at ${host}. It needs all commands on the keys of the queue: ACL SETUSER … ~millrace:* +@all.`;
  }
  if (/READONLY/u.test(why))
    return `Redis at ${host} is a replica, which takes no writes. Give the address of the primary.`;
  if (/^OOM|OOM command/u.test(why)) return `The memory of Redis at ${host} is full. Raise maxmemory.`;
  if (/ENOTFOUND/u.test(why)) return `There is no host ${host}. Correct the address of the queue.`;
  if (/Protocol error|Unknown type|unsupported reply/iu.test(why)) {
    return `What answers at ${host} is not Redis. Correct host and port of the address.`;
  }
  if (/SSL|TLS|wrong version number/u.test(why)) {
    return `Redis at ${host} does not offer TLS, or not with a certificate that is known here. Use redis:// instead of rediss://, or correct its certificate.`;
  }
  if (/ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|EAI_AGAIN|closed|no answer|timed out/iu.test(why)) {
    return `Redis at ${host} cannot be reached. Check that it runs, and that host and port of the address are right.`;
  }
  return undefined;
}
