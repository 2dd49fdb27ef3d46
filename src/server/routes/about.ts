import type { Clock } from "#domain";
import { LOCAL_TENANT } from "#sessions";
import type { ServerContext, ServerParts } from "../parts.ts";

/** All offered targets, each with whether it can answer now, and why not. */
export async function listBackends(context: ServerContext, { settings, readiness }: ServerParts): Promise<Response> {
  const backends = await Promise.all(
    settings.targets.map(async (target) => ({
      target,
      kind: settings.agents.has(target) ? "agent" : "backend",
      ...(await readiness.of(target)),
    })),
  );
  return context.json({ default: settings.target, backends });
}

/** The process is alive. */
export function healthz(context: ServerContext): Response {
  return context.text("ok\n");
}

/**
 * The server accepts requests: the store responds, the programs of its targets are there, and it is not shutting down.
 * Whether hosts respond does not count: another instance would not reach them either.
 */
export async function readyz(context: ServerContext, parts: ServerParts): Promise<Response> {
  if (parts.isClosing()) return context.text("shutting down\n", 503);
  if (!(await parts.storeAnswers())) return context.text("the store does not answer\n", 503);
  const missing = await parts.readiness.withoutProgram();
  if (missing.length === 0) return context.text("ready\n");
  // The path of a program is none of a stranger's business; `GET /api/backends` says what is missing.
  return context.text(missing.map((target) => `the program of the target ${target} is missing\n`).join(""), 503);
}

/** Readiness probes usually give up after about a second. */
const MOST_READY_MS = 900;

/** Whether the store answers in time. Probes that arrive at the same time share one query, because they are not limited. */
export function createStoreProbe(query: () => Promise<unknown>, clock: Clock): () => Promise<boolean> {
  let current: Promise<boolean> | undefined;
  return () => {
    current ??= answersInTime(query(), clock).finally(() => {
      current = undefined;
    });
    return current;
  };
}

function answersInTime(answer: Promise<unknown>, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const takeBack = clock.after(MOST_READY_MS, () => resolve(false));
    const settle = (isThere: boolean) => () => {
      takeBack();
      resolve(isThere);
    };
    answer.then(settle(true), settle(false));
  });
}

export async function showMetrics(context: ServerContext, parts: ServerParts): Promise<Response> {
  const { metrics, quota, settings } = parts;
  const tenants = settings.tokens.length === 0 ? [LOCAL_TENANT] : settings.tokens.map(({ tenant }) => tenant);
  // The other figures do not depend on whether the store responds.
  const stored = await quota.used(new Set(tenants)).catch(() => new Map<string, number>());
  return context.body(metrics.render(stored), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
}
