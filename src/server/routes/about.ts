import type { Clock } from "#domain";
import { LOCAL_TENANT } from "#sessions";
import type { ServerContext, ServerParts } from "../parts.ts";
import type { TargetState } from "../readiness.ts";

/** All offered targets, each with whether it can answer now, and why not. */
export async function listBackends(context: ServerContext, parts: ServerParts): Promise<Response> {
  const { settings } = parts;
  const backends = await Promise.all(
    settings.targets.map(async (target) => ({
      target,
      kind: settings.agents.has(target) ? "agent" : "backend",
      ...(await stateOf(target, parts)),
    })),
  );
  return context.json({ default: settings.target, backends });
}

/** A target can answer if any node works on its runs. */
async function stateOf(target: string, { settings, readiness, others }: ServerParts): Promise<TargetState> {
  if (others.worksOn(target)) return { available: true };
  if (settings.isWorker) return readiness.of(target);
  return { available: false, reason: "No node that is running works on it. Messages wait until one does." };
}

/** The process is alive. */
export function healthz(context: ServerContext): Response {
  return context.text("ok\n");
}

/**
 * The server accepts requests: the store responds, the programs of its targets are there, and it is not shutting down.
 * Whether hosts respond does not count: another instance would not reach them either. With a queue, programs do not count:
 * the node takes what it can work on, and another one may have them.
 */
export async function readyz(context: ServerContext, parts: ServerParts): Promise<Response> {
  if (parts.isClosing()) return context.text("shutting down\n", 503);
  if (!(await parts.storeAnswers())) return context.text("the store does not answer\n", 503);
  const missing = parts.settings.queue === undefined ? await parts.readiness.withoutProgram() : [];
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
