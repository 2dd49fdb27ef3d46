import { Hono } from "hono";
import { elapsedSince } from "#domain";
import type { Access } from "./access.ts";
import type { SecretMask } from "#secrets";
import { ApiError, asApiError } from "./api-error.ts";
import { clientAddress } from "./client-address.ts";
import { checkOrigin, type OriginRules } from "./origin-check.ts";
import type { Page } from "./page.ts";
import type { ServerContext, ServerEnv, ServerParts } from "./parts.ts";
import type { RateLimit } from "./rate-limit.ts";
import { healthz, listBackends, readyz, showMetrics } from "./routes/about.ts";
import { chat } from "./routes/chat.ts";
import { exportThread } from "./routes/export.ts";
import { admitLink, isSigned, linkedCall } from "./result-link.ts";
import { abortRun, answerPermission, getEvents, getRun, giveResult, listPermissions } from "./routes/runs.ts";
import { createThread, getMessages, getThread, listThreads, removeThread, renameThread } from "./routes/threads.ts";

type Method = "GET" | "POST" | "PATCH" | "DELETE";
type Answer = (context: ServerContext, parts: ServerParts) => Promise<Response> | Response;

/** A route: who may request it, and its handler for each method. */
interface Route {
  readonly path: string;
  /**
   * `tenant`, the default: requires a token. `link`: a token, or the signature of a link. `operator`: requires the token
   * for the metrics.
   */
  readonly for?: "anybody" | "tenant" | "link" | "operator";
  /** Not counted as a request, so that a flood from an address does not fail the probes that come from it as well. */
  readonly isProbe?: true;
  readonly methods: Readonly<Partial<Record<Method, Answer>>>;
}

export const ROUTES: readonly Route[] = [
  { path: "/api/threads", methods: { GET: listThreads, POST: createThread } },
  { path: "/api/threads/:threadId", methods: { GET: getThread, PATCH: renameThread, DELETE: removeThread } },
  { path: "/api/threads/:threadId/messages", methods: { GET: getMessages } },
  { path: "/api/threads/:threadId/export", methods: { GET: exportThread } },
  { path: "/api/threads/:threadId/chat", methods: { POST: chat } },
  { path: "/api/runs/:runId", methods: { GET: getRun } },
  { path: "/api/runs/:runId/events", methods: { GET: getEvents } },
  { path: "/api/runs/:runId/abort", methods: { POST: abortRun } },
  { path: "/api/runs/:runId/permissions/:callId", methods: { POST: answerPermission } },
  { path: "/api/runs/:runId/results/:callId", for: "link", methods: { POST: giveResult } },
  { path: "/api/permissions", methods: { GET: listPermissions } },
  { path: "/api/backends", methods: { GET: listBackends } },
  { path: "/metrics", for: "operator", methods: { GET: showMetrics } },
  { path: "/healthz", for: "anybody", isProbe: true, methods: { GET: healthz } },
  { path: "/readyz", for: "anybody", isProbe: true, methods: { GET: readyz } },
];

/** The paths that supervisors and load balancers ask. */
export const PROBES: ReadonlySet<string> = new Set(ROUTES.filter(({ isProbe }) => isProbe).map(({ path }) => path));

export interface AppOptions {
  readonly parts: ServerParts;
  readonly access: Access;
  readonly origins: OriginRules;
  readonly requests: RateLimit;
  readonly page: Page | undefined;
}

/** The headers of every response; a route's own headers override them. */
const HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
} as const;

/** Puts the routes behind their checks, in this order: limits, host and origin, token, route. */
export function createApp(options: AppOptions): Hono<ServerEnv> {
  const { parts } = options;
  const app = new Hono<ServerEnv>({ getPath: pathOf });
  app.use(async (context, next) => {
    const startedAt = parts.settings.world.clock.now();
    await next();
    finish(context, parts, startedAt);
  });
  app.use(async (context, next) => {
    const address = clientAddress({
      forwarded: context.req.header("x-forwarded-for"),
      remote: context.env?.incoming?.socket?.remoteAddress,
      trustProxy: parts.settings.trustProxy,
    });
    context.set("address", address);
    const source = findSource(context, options, address);
    context.set("source", source);
    if (!PROBES.has(context.req.path) && !options.requests.take(source)) {
      throw new ApiError("too-many-requests", "Too many requests. Wait a minute.", { "retry-after": "60" });
    }
    checkOrigin(context.req.raw, context.req.path, options.origins);
    const preflight = answerPreflight(context, parts);
    if (preflight !== undefined) return preflight;
    await next();
  });
  const isShown = ({ isProbe, for: whom }: Route): boolean => isProbe === true || whom === "operator";
  const routes = parts.settings.isWorkerOnly ? ROUTES.filter(isShown) : ROUTES;
  for (const route of routes) addRoute(app, route, options);
  addPage(app, options.page);
  app.notFound((context) => refuse(context, new ApiError("not-found", "There is nothing at this path.")));
  app.onError((error, context) => {
    const refusal = asApiError(error);
    if (refusal.code === "internal" || refusal.code === "store-unavailable") {
      parts.metrics.failures.add(refusal.code === "internal" ? "internal" : "store");
      parts.write("error", "request-failed", { path: context.req.routePath, message: error.stack ?? error.message });
    }
    return refuse(context, refusal, parts.settings.secrets);
  });
  return app;
}

function addRoute(app: Hono<ServerEnv>, { path, for: whom = "tenant", methods }: Route, options: AppOptions): void {
  const { parts, access } = options;
  const allowed = Object.keys(methods).join(", ");
  app.all(path, async (context) => {
    if (whom === "link" && isSigned(context)) await admitLink(context, parts);
    else if (whom === "tenant" || whom === "link") requireTenant(context, access);
    else if (whom === "operator") requireOperator(context, access);
    const { method } = context.req;
    const answer = Object.hasOwn(methods, method) ? methods[method as Method] : undefined;
    if (answer !== undefined) return answer(context, parts);
    throw new ApiError("method-not-allowed", `This path takes ${allowed}.`, { allow: allowed });
  });
}

/**
 * Records the tenant of the request's token. Requests with a valid token or link are counted separately from guesses
 * from the same address.
 */
function findSource(context: ServerContext, { access, parts }: AppOptions, address: string): string {
  const authorization = context.req.header("authorization");
  const tenant = access.tenantOf(authorization);
  context.set("tenant", tenant ?? "");
  if (tenant !== undefined) return `${address} ${tenant}`;
  if (access.mayReadMetrics(authorization)) return `${address} /metrics`;
  const call = linkedCall(context, parts.settings);
  return call === undefined ? address : `${address} ${call}`;
}

function requireTenant(context: ServerContext, access: Access): void {
  if (context.get("tenant") !== "") return;
  throw access.refusalFor(context.req.header("authorization"), context.get("address"));
}

function requireOperator(context: ServerContext, access: Access): void {
  const authorization = context.req.header("authorization");
  if (access.mayReadMetrics(authorization)) return;
  if (context.get("tenant") === "") throw access.refusalFor(authorization, context.get("address"));
  throw new ApiError(
    "forbidden",
    "Metrics are about all tenants. Give the server a metricsToken (--metrics-token), and ask with that one.",
  );
}

function addPage(app: Hono<ServerEnv>, page: Page | undefined): void {
  for (const [path, { bytes, type, tag, policy }] of page ?? []) {
    app.all(path, (context) => {
      const { method } = context.req;
      if (method !== "GET" && method !== "HEAD") {
        throw new ApiError("method-not-allowed", "This path takes GET.", { allow: "GET, HEAD" });
      }
      const headers = {
        "content-type": type,
        etag: tag,
        "cache-control": "no-cache",
        "content-security-policy": policy,
      };
      if (context.req.header("if-none-match") === tag) return context.body(null, 304, headers);
      return context.body(bytes, 200, headers);
    });
  }
}

/** Configured origins may send requests and are told so; others receive no information. */
function answerPreflight(context: ServerContext, { settings }: ServerParts): Response | undefined {
  const origin = context.req.header("origin");
  if (origin === undefined || !settings.origins.has(origin)) return undefined;
  context.header("access-control-allow-origin", origin);
  context.header("access-control-expose-headers", "x-run-id");
  context.header("vary", "origin");
  if (context.req.method !== "OPTIONS") return undefined;
  context.header("access-control-allow-methods", "GET, POST, PATCH, DELETE");
  context.header("access-control-allow-headers", "authorization, content-type, last-event-id");
  context.header("access-control-max-age", "600");
  return context.body(null, 204);
}

function finish(context: ServerContext, { metrics, settings, write }: ServerParts, startedAt: number): void {
  for (const [name, value] of Object.entries(HEADERS)) {
    if (!context.res.headers.has(name)) context.res.headers.set(name, value);
  }
  metrics.requests.add(String(context.res.status));
  // The pattern of the path rather than the path, so that strangers cannot write into the log.
  const ms = elapsedSince(settings.world.clock, startedAt);
  write("info", "request", {
    method: knownMethod(context.req.method),
    path: context.req.routePath,
    status: context.res.status,
    ms,
  });
}

function refuse(context: ServerContext, refusal: ApiError, secrets?: SecretMask): Response {
  const { code, message, status, headers } = refusal;
  return context.json({ error: { code, message: secrets?.text(message) ?? message } }, status, { ...headers });
}

/** The path as sent, not decoded: an encoded slash is not a slash. */
function pathOf(request: Request): string {
  const start = request.url.indexOf("/", request.url.indexOf("//") + 2);
  const end = request.url.search(/[?#]/);
  return request.url.slice(start, end === -1 ? undefined : end);
}

function knownMethod(method: string): string {
  return ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"].includes(method) ? method : "other";
}
