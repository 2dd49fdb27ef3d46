import { createHash, timingSafeEqual } from "node:crypto";
import { LOCAL_TENANT } from "#sessions";
import { ApiError } from "./api-error.ts";
import type { AccessToken } from "./options.ts";
import { createRateLimit } from "./rate-limit.ts";

/** Decides whose request it is. */
export interface Access {
  /** The tenant a request belongs to. @throws ApiError `unauthorized` or `too-many-requests`. */
  tenantOf(authorization: string | undefined, address: string): string;
}

/** The scheme, one blank, and a token; nothing that could be read in two ways. */
const BEARER = /^Bearer ([\u0021-\u007e]{1,512})$/i;

/**
 * Lets in who knows a token. The time an answer takes says nothing about how much of a token was right: digests of
 * equal length are compared, and always all of them.
 */
export function createAccess(
  tokens: readonly Required<AccessToken>[],
  limits: { readonly failuresPerMinute: number },
  now: () => number,
): Access {
  const known = tokens.map(({ token, tenant }) => ({ digest: digestOf(token), tenant }));
  const failures = createRateLimit(limits.failuresPerMinute, now);
  return {
    tenantOf(authorization, address) {
      if (known.length === 0) return LOCAL_TENANT;
      if (failures.isOver(address)) {
        throw new ApiError("too-many-requests", "Too many wrong tokens. Wait a minute.", { "retry-after": "60" });
      }
      const given = BEARER.exec(authorization ?? "")?.[1];
      const digest = digestOf(given ?? "");
      let tenant: string | undefined;
      for (const one of known) if (timingSafeEqual(one.digest, digest)) tenant = one.tenant;
      if (given !== undefined && tenant !== undefined) return tenant;
      // Asking without a token is how a page finds out that it needs one; only guesses count.
      if (given !== undefined) failures.take(address);
      throw new ApiError("unauthorized", "Send a valid token as Authorization: Bearer <token>.", {
        "www-authenticate": "Bearer",
      });
    },
  };
}

function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
