import { present } from "#domain";
import type { ProviderName, Limits, PolicyOptions, ProviderOptions, RunOptions } from "./options.ts";
import type { Tool } from "#tools";
import type { ClaudeCodeOptions } from "../backends/claude-code/options.ts";
import type { Agent } from "./agent.ts";
import type { Target } from "./plan-run.ts";
import { FROM_CONFIGURATION } from "./option-row.ts";
import { swarm, type SwarmOptions } from "./swarm.ts";

/** The content of a `millrace.config` file. Every field is optional; flags on the command line override it. */
export interface Config extends PolicyOptions {
  /** The default backend: `"anthropic/claude-sonnet-4-6"`. */
  readonly backend?: string;
  readonly instructions?: string;
  /** The agents; the first one starts, unless `swarm.start` names another. */
  readonly agents?: readonly Agent[];
  readonly swarm?: SwarmOptions;
  readonly tools?: readonly Tool[];
  readonly limits?: Limits;
  /** Options of backends, by their names. */
  readonly backends?: Readonly<Partial<Record<ProviderName, ProviderOptions>>> & {
    readonly claudeCode?: ClaudeCodeOptions;
  };
  /**
   * Only in your own configuration (`~/.config/millrace/config.json`): hosts to which a project's configuration may
   * send your keys, such as `"llm.example.com"` or `"127.0.0.1:8080"`.
   */
  readonly allowedHosts?: readonly string[];
  /** Options for `millrace serve`. */
  readonly server?: Readonly<Record<string, unknown>>;
}

/** Settings given in addition to a configuration, by flags or by a program. */
export interface Given {
  readonly backend?: string | undefined;
  readonly options?: RunOptions;
}

/**
 * Combines a configuration and the given settings into a target and the options of a run. Given settings override the
 * configuration, limit by limit and provider by provider; of two tools with the same name, the given one is used.
 * `target` is absent when neither names a backend or an agent.
 */
export function applyConfig(
  config: Config,
  { backend, options = {} }: Given,
): {
  readonly target: Target | undefined;
  readonly options: RunOptions;
} {
  const { tools = [], limits, backends = {}, instructions } = config;
  const named = new Set((options.tools ?? []).map(({ name }) => name));
  const providers: Record<string, unknown> = {};
  for (const [name, configured] of Object.entries(backends)) {
    const given = options[name as ProviderName] as object | undefined;
    // Backend options in a configuration are meant for the runs that use that backend; in other runs they are not a
    // mistake.
    providers[name] = { ...configured, ...given, ...(given === undefined && { [FROM_CONFIGURATION]: true }) };
  }
  return {
    target: backend ?? cast(config) ?? config.backend,
    options: {
      ...policyOf(config),
      ...(instructions !== undefined && { instructions }),
      ...options,
      ...(tools.length + named.size > 0 && {
        tools: [...tools.filter(({ name }) => !named.has(name)), ...(options.tools ?? [])],
      }),
      ...(limits !== undefined && { limits: { ...limits, ...options.limits } }),
      ...providers,
    },
  };
}

/** Merges two configurations: the nearer one wins, limit by limit, provider by provider and tool by tool. */
export function mergeConfigs(further: Config, nearer: Config): Config {
  const backends: Record<string, unknown> = { ...further.backends };
  for (const [name, configured] of Object.entries(nearer.backends ?? {})) {
    backends[name] = { ...(backends[name] as object | undefined), ...configured };
  }
  const named = new Set((nearer.tools ?? []).map(({ name }) => name));
  const tools = [...(further.tools ?? []).filter(({ name }) => !named.has(name)), ...(nearer.tools ?? [])];
  const deny = [...(further.permissions?.deny ?? []), ...(nearer.permissions?.deny ?? [])];
  const permissions = { ...further.permissions, ...nearer.permissions, ...(deny.length > 0 && { deny }) };
  const guards = [...(further.guards ?? []), ...(nearer.guards ?? [])];
  return {
    ...further,
    ...nearer,
    ...(tools.length > 0 && { tools }),
    ...(Object.keys(backends).length > 0 && { backends }),
    ...(Object.keys(permissions).length > 0 && { permissions }),
    ...(guards.length > 0 && { guards }),
    ...((further.limits ?? nearer.limits) !== undefined && { limits: { ...further.limits, ...nearer.limits } }),
    ...((further.server ?? nearer.server) !== undefined && { server: { ...further.server, ...nearer.server } }),
  };
}

function policyOf({ permission, permissions, hooks, guards, outputMode }: Config): PolicyOptions {
  return present({ permission, permissions, hooks, guards, outputMode });
}

function cast({ agents = [], swarm: together }: Config): Target | undefined {
  const [first] = agents;
  if (first === undefined) return undefined;
  return agents.length === 1 && together === undefined ? first : swarm(agents, together ?? {});
}
