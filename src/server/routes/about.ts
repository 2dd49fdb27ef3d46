import { describeThrown, isStartError } from "#domain";
import { BACKEND_NAMES, resolveBackend } from "#runtime";
import type { ServerContext, ServerParts } from "../parts.ts";

/** Who can answer: agents first, then backends, each with why it cannot, if so. */
export function listBackends(context: ServerContext, { settings }: ServerParts): Response {
  const agents = [...settings.agents.values()].map((agent) => ({
    target: agent.name,
    kind: "agent",
    ...readiness(
      () => typeof agent.backend === "string" && resolveBackend(agent.backend, settings.run, settings.world),
    ),
  }));
  const names = settings.backends ?? [...new Set([settings.target, ...BACKEND_NAMES])];
  const backends = names
    .filter((name) => !settings.agents.has(name))
    .map((target) => ({
      target,
      kind: "backend",
      ...readiness(() => resolveBackend(target, settings.run, settings.world)),
    }));
  return context.json({ default: settings.target, backends: [...agents, ...backends] });
}

function readiness(attempt: () => unknown): { readonly available: boolean; readonly reason?: string } {
  try {
    attempt();
    return { available: true };
  } catch (error) {
    return { available: false, reason: isStartError(error) ? error.message : describeThrown(error) };
  }
}

/** The process is alive. */
export function healthz(context: ServerContext): Response {
  return context.text("ok\n");
}

/** Requests are welcome: the store answers, and the server is not being shut down. */
export async function readyz(context: ServerContext, parts: ServerParts): Promise<Response> {
  if (parts.isClosing()) return context.text("shutting down\n", 503);
  try {
    await parts.store.listThreads({ tenant: "local", limit: 1 });
    return context.text("ready\n");
  } catch {
    return context.text("the store does not answer\n", 503);
  }
}

export function showMetrics(context: ServerContext, { metrics }: ServerParts): Response {
  return context.body(metrics.render(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
}
