import type { Leg } from "#agents";
import type { Tool } from "#tools";
import type { Agent } from "./agent.ts";
import { agentOf } from "./agent-tool.ts";
import { PROVIDER_NAMES } from "./options.ts";

/** The backends of a whole run: those of its agents, and of agents that are tools. */
export interface RunBackends {
  /** Those given by name: options for them (`anthropic`, `claudeCode`) take effect. */
  readonly named: ReadonlySet<string>;
  /** Whether one of them has a process, which `cwd` and `env` are for. */
  readonly hasAgent: boolean;
  /** The agents that are tools. */
  readonly nested: ReadonlySet<Agent>;
}

type BackendSource = Pick<Agent, "backend" | "tools">;

export function partiesOf(agents: readonly BackendSource[], tools: readonly Tool[] | undefined): RunBackends {
  const named = new Set<string>();
  // An agent may be among its own tools.
  const nested = new Set<Agent>();
  let hasAgent = false;
  const add = ({ backend, tools: own }: Partial<BackendSource>): void => {
    if (typeof backend === "string") named.add(backend.split("/", 1)[0] ?? "");
    hasAgent ||= typeof backend === "string" ? named.has("claude-code") : backend?.kind === "agent";
    for (const tool of own ?? []) {
      const carried = agentOf(tool.run);
      if (carried === undefined || nested.has(carried)) continue;
      nested.add(carried);
      add(carried);
    }
  };
  agents.forEach(add);
  add({ tools: tools ?? [] });
  return { named, hasAgent, nested };
}

/** Options that are for some backends only, with the name of the backend if it is only one. */
const FOR_SOME: ReadonlyMap<string, string | undefined> = new Map<string, string | undefined>([
  ...PROVIDER_NAMES.map((name) => [name, name] as const),
  ["claudeCode", "claude-code"],
  ["cwd", undefined],
  ["env", undefined],
]);

/** Whether an option that has no effect on the backend of this leg takes effect on another one of the run. */
export function isForAnother(option: string, { backend, fallback }: Leg, { named, hasAgent }: RunBackends): boolean {
  const [group = ""] = option.split(".");
  if (!FOR_SOME.has(group)) return false;
  const name = FOR_SOME.get(group);
  if (name === undefined) return hasAgent;
  // A backend of that name that was created in code has its own options, and is told so.
  return named.has(name) && ![backend, ...fallback].some((one) => one.name === name);
}
