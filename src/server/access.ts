import { createHash, timingSafeEqual } from "node:crypto";
import { LOCAL_TENANT } from "#sessions";
import { ApiError } from "./api-error.ts";
import type { Settings } from "./options.ts";
import { createRateLimit } from "./rate-limit.ts";

/** Maps requests to tenants. */
export interface Access {
  /** The tenant of a token; `undefined` for an unknown token. A server without tokens has one tenant. */
  tenantOf(authorization: string | undefined): string | undefined;
  /** The error for a request without a valid token from this address: `unauthorized` or `too-many-requests`. */
  refusalFor(authorization: string | undefined, address: string): ApiError;
  /**
   * Whether this is the token for the metrics, or none is needed because a server without tokens only serves this
   * machine.
   */
  mayReadMetrics(authorization: string | undefined): boolean;
  /** The wrong tokens of this minute, by address. */
  failures(): ReadonlyMap<string, number>;
}

/** The scheme, one space, and a token; nothing ambiguous. */
const BEARER = /^Bearer ([\u0021-\u007e]{1,512})$/i;

/**
 * Checks tokens. The response time reveals nothing about how much of a token was right: digests of equal length are
 * compared, and always all of them.
 *
 * Wrong tokens are counted by address, but a valid one is always accepted: clients behind one proxy share an address,
 * so a lock would shut out those who did nothing wrong.
 */
export function createAccess(
  { tokens, metricsToken, limits }: Pick<Settings, "tokens" | "metricsToken" | "limits">,
  now: () => number,
  elsewhere?: (address: string) => number,
): Access {
  const known = tokens.map(({ token, tenant }) => ({ digest: digestOf(token), tenant }));
  const operator = metricsToken === undefined ? undefined : digestOf(metricsToken);
  const failures = createRateLimit(limits.failuresPerMinute, now, elsewhere);
  return {
    tenantOf(authorization) {
      if (known.length === 0) return LOCAL_TENANT;
      const given = readToken(authorization);
      const digest = digestOf(given ?? "");
      let tenant: string | undefined;
      for (const one of known) if (timingSafeEqual(one.digest, digest)) tenant = one.tenant;
      return given === undefined ? undefined : tenant;
    },
    refusalFor(authorization, address) {
      // A page finds out that it needs a token by a request without one, so only wrong tokens count.
      if (readToken(authorization) !== undefined && !failures.take(address)) {
        return new ApiError("too-many-requests", "Too many wrong tokens. Wait a minute, or send a valid one.", {
          "retry-after": "60",
        });
      }
      return new ApiError("unauthorized", "Send a valid token as Authorization: Bearer <token>.", {
        "www-authenticate": "Bearer",
      });
    },
    failures: () => failures.counts(),
    mayReadMetrics(authorization) {
      if (operator === undefined) return known.length === 0;
      const given = readToken(authorization);
      return timingSafeEqual(operator, digestOf(given ?? "")) && given !== undefined;
    },
  };
}

function readToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
