import { LOCAL_TENANT } from "#sessions";
import { ApiError } from "./api-error.ts";
import { readId, type ServerContext, type ServerParts } from "./parts.ts";
import { isSignedBy } from "./result-link.ts";

/** Whether a request comes with a link. Then the link decides, also for somebody who has a token. */
export function isSigned(context: ServerContext): boolean {
  return context.req.query("signature") !== undefined;
}

/**
 * Admits a request with a signed link to its call, as the tenant of the run.
 * @throws ApiError 403 for a link that this server has not signed, or that has expired.
 */
export async function admitLink(context: ServerContext, { settings, store }: ServerParts): Promise<void> {
  const { linkKey, tokens, world } = settings;
  if (linkKey === undefined) throw new ApiError("forbidden", "This server takes no signed links: it has no linkKey.");
  const runId = readId(context, "runId");
  const callId = context.req.param("callId") ?? "";
  const [signature = "", ...others] = context.req.queries("signature") ?? [];
  const [expires = "", ...more] = context.req.queries("expires") ?? [];
  const isOnce = others.length === 0 && more.length === 0;
  if (!isOnce || !isSignedBy(linkKey, { runId, callId, expires }, signature)) {
    throw new ApiError("forbidden", "This link was not signed by this server, or it was changed.");
  }
  if (world.clock.now() >= Number(expires)) throw new ApiError("forbidden", "This link has expired.");
  const tenants = new Set(tokens.length === 0 ? [LOCAL_TENANT] : tokens.map(({ tenant }) => tenant));
  for (const tenant of tenants) {
    if ((await store.findRun(tenant, runId)) !== undefined) return context.set("tenant", tenant);
  }
  throw new ApiError("not-found", `There is no run ${runId}.`);
}
