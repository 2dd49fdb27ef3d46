import { agentSettings, type AgentLeg, type RunPlan } from "#agents";
import type { Backend, Explanation } from "#backends";
import type { ProviderName, RunOptions } from "./options.ts";
import { planRun, type Target } from "./plan-run.ts";
import { requireName, resolveBackend } from "./resolve-backend.ts";
import { coverStartErrors, maskOfPlan } from "./run-secrets.ts";
import { systemWorld, type World } from "./world.ts";

/**
 * Explains which route a run would take and why, without starting anything: no key, process or host is needed. For
 * several agents it describes the one that starts; `ignored` has the options that have no effect on one of them.
 *
 * @example
 * console.log(explain("claude-code", { tools: [add] }).text)
 */
export function explain(target: Target, options: RunOptions = {}): Explanation {
  return explainIn(target, options, systemWorld());
}

/** `explain` with its seams passed in. */
export function explainIn(target: Target, options: RunOptions, world: World): Explanation {
  return coverStartErrors([target, options], world, () => {
    const plan = planRun(target, options, world, (name) => resolveWithoutKey(name, options, world));
    const explanation = explainPlan(plan);
    // Programs, addresses and options appear as they were given, so secrets in them are masked.
    return maskOfPlan(plan, world)?.value(explanation) ?? explanation;
  });
}

function explainPlan(plan: RunPlan): Explanation {
  const leg = plan.legs.find((one) => one.agent === plan.start) ?? plan.legs[0];
  const lost = [...new Set(plan.legs.flatMap(({ ignored = [] }) => ignored.map(({ option }) => option)))];
  if (leg?.backend.kind === "agent") {
    return withIgnored(leg.backend.explain(agentSettings(leg as AgentLeg, plan.limits)), lost);
  }
  const { name = "", model = "" } = leg?.backend ?? {};
  const { features } = agentSettings(leg as unknown as AgentLeg, plan.limits);
  const reasons = [`${name} is a model behind an API: our own loop runs the tools and keeps the rules`];
  const text = [
    `Backend: ${name}${model === "" || model === name ? "" : `/${model}`}`,
    "Mode: http",
    `Features: ${features.join(", ") || "none"}`,
    ...reasons.map((reason) => `Reason: ${reason}`),
  ].join("\n");
  const explanation: Explanation = {
    backend: name,
    mode: "http",
    features,
    requiresControl: false,
    override: undefined,
    reasons,
    ignored: [],
    text,
  };
  return withIgnored(explanation, lost);
}

/** Adds the options that have no effect on this backend to an explanation. */
function withIgnored(explanation: Explanation, options: readonly string[]): Explanation {
  if (options.length === 0) return explanation;
  const ignored = [...explanation.ignored, ...options];
  const lines = explanation.text.split("\n").filter((line) => !line.startsWith("Ignored: "));
  return { ...explanation, ignored, text: [...lines, `Ignored: ${ignored.join(", ")}`].join("\n") };
}

/** The backend without its key. If even its address is missing, a placeholder, because no request is made here. */
function resolveWithoutKey(text: string, options: RunOptions, world: World): Backend {
  const { name, model } = requireName(text);
  if (name === "claude-code" || name === "offline") return resolveBackend(text, options, world);
  try {
    const provider = name as ProviderName;
    return resolveBackend(text, { [provider]: { apiKey: "none", ...options[provider] } }, world);
  } catch {
    return { kind: "model", name, model: model ?? "", stream: () => NOTHING };
  }
}

const NOTHING: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
};
