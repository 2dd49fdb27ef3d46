import { createHmac, timingSafeEqual } from "node:crypto";
import { checkOptionNames, isId, StartError } from "#domain";
import { LOCAL_TENANT } from "#sessions";
import { ApiError } from "./api-error.ts";
import { readId, type ServerContext, type ServerParts } from "./parts.ts";
import { isSecret, SHORTEST_TOKEN } from "./secret-option.ts";

/** The options of `resultLink`. */
export interface ResultLinkOptions {
  /** The address under which the service reaches the server: `https://agents.example.org`. */
  readonly url: string;
  /** The `linkKey` of the server. */
  readonly key: string;
  /** The run and the call, from the tool's context. */
  readonly runId: string;
  readonly callId: string;
  /** Afterwards the link is refused. A Date, or milliseconds since 1970. */
  readonly expiresAt: Date | number;
}

/**
 * Returns a link for the service that finishes the work of a call whose tool returns `park()`: whoever has the link may
 * send the result of this one call, with `POST` and `{ output, isError? }` as JSON, without a token of the server, until
 * it expires. The first result counts.
 *
 * @example
 * const key = process.env.MILLRACE_LINK_KEY ?? ""
 * const review = tool("review", "Have a person review a change", { change: "string" }, async ({ change }, call) => {
 *   const expiresAt = Date.now() + 7 * 24 * 3_600_000
 *   const answerTo = resultLink({ url: "https://agents.example.org", key, runId: call.runId, callId: call.callId, expiresAt })
 *   await fetch("https://reviews.example.org", { method: "POST", body: JSON.stringify({ change, answerTo }) })
 *   return park()
 * })
 */
export function resultLink(options: ResultLinkOptions): string {
  checkOptionNames(options, ["url", "key", "runId", "callId", "expiresAt"], "resultLink");
  const { url, key, runId, callId, expiresAt } = options;
  if (!isSecret(key)) throw invalid(`key must be the linkKey of the server, at least ${SHORTEST_TOKEN} characters`);
  if (!isId(runId)) throw invalid("runId must be the runId of the tool's context");
  if (typeof callId !== "string" || callId === "" || callId.length > 256) {
    throw invalid("callId must be the callId of the tool's context");
  }
  const expires = expiresAt instanceof Date ? expiresAt.getTime() : expiresAt;
  if (!Number.isSafeInteger(expires) || expires <= 0) {
    throw invalid("expiresAt must be a Date, or milliseconds since 1970");
  }
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw invalid("url must be the address of the server, such as https://agents.example.org");
  }
  const base = new URL(url);
  const path = base.pathname.replace(/\/$/, "");
  const signature = sign(key, { runId, callId, expires: String(expires) });
  return `${base.origin}${path}/api/runs/${runId}/results/${encodeURIComponent(callId)}?expires=${expires}&signature=${signature}`;
}

/** Whether a request comes with a link. Then the link decides, also for somebody who has a token. */
export function isSigned(context: ServerContext): boolean {
  return context.req.query("signature") !== undefined;
}

const LINK_PATH = /^\/api\/runs\/([^/]+)\/results\/([^/]+)$/;

/**
 * The call whose link a request has; `undefined` for a link that is not valid. Requests of valid links are counted apart
 * from everything else that comes from the same address, as those with a valid token are.
 */
export function linkedCall(context: ServerContext, settings: ServerParts["settings"]): string | undefined {
  const [, runId = "", callId = ""] = isSigned(context) ? (LINK_PATH.exec(context.req.path) ?? []) : [];
  const isValid = runId !== "" && faultOfLink(context, { runId, callId: decode(callId) }, settings) === undefined;
  return isValid ? `${runId}/${callId}` : undefined;
}

/**
 * Admits a request with a signed link to its call, as the tenant of the run.
 * @throws ApiError 403 for a link that this server has not signed, or that has expired.
 */
export async function admitLink(context: ServerContext, { settings, store }: ServerParts): Promise<void> {
  const runId = readId(context, "runId");
  const fault = faultOfLink(context, { runId, callId: context.req.param("callId") ?? "" }, settings);
  if (fault !== undefined) throw new ApiError("forbidden", fault);
  const { tokens } = settings;
  const tenants = new Set(tokens.length === 0 ? [LOCAL_TENANT] : tokens.map(({ tenant }) => tenant));
  for (const tenant of tenants) {
    if ((await store.findRun(tenant, runId)) !== undefined) return context.set("tenant", tenant);
  }
  throw new ApiError("not-found", `There is no run ${runId}.`);
}

/** Why a link is refused. */
function faultOfLink(
  context: ServerContext,
  { runId, callId }: Pick<SignedCall, "runId" | "callId">,
  { linkKey, world }: ServerParts["settings"],
): string | undefined {
  if (linkKey === undefined) return "This server takes no signed links: it has no linkKey.";
  const [signature = "", ...others] = context.req.queries("signature") ?? [];
  const [expires = "", ...more] = context.req.queries("expires") ?? [];
  const isOnce = others.length === 0 && more.length === 0;
  if (!isOnce || !isSignedBy(linkKey, { runId, callId, expires }, signature)) {
    return "This link was not signed by this server, or it was changed.";
  }
  return world.clock.now() >= Number(expires) ? "This link has expired." : undefined;
}

/** As the router decodes it. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What a link says about itself. */
interface SignedCall {
  readonly runId: string;
  readonly callId: string;
  /** As it is written in the link. */
  readonly expires: string;
}

/** Whether the key has signed this call with this time. */
function isSignedBy(key: string, call: SignedCall, signature: string): boolean {
  const expected = Buffer.from(sign(key, call));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

function sign(key: string, { runId, callId, expires }: SignedCall): string {
  const signed = JSON.stringify(["millrace-result", runId, callId, expires]);
  return createHmac("sha256", key).update(signed).digest("base64url");
}

function invalid(problem: string): StartError {
  return new StartError("invalid-option", `resultLink: ${problem}.`);
}
