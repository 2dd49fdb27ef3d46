import type { AgentEnvironment, Leg, RunPlan } from "#agents";
import { OUTPUT_TOOL_NAME } from "#run";
import type { Backend, ModelBackend, Resume } from "#backends";
import { describeValue, present, StartError } from "#domain";
import { checkGuards, type PathLookup, type PolicySettings } from "#policy";
import type { SchemaInput, Tool } from "#tools";
import { type Agent, agent } from "./agent.ts";
import { checkChosenTool, checkOptions, checkTools, isBackend } from "./check-options.ts";
import { agentFallbacks, type Fallbacks, judgeOptions } from "./judge-options.ts";
import type { Limits, PolicyOptions, RunOptions } from "./options.ts";
import { inWorld } from "./made-backend.ts";
import { readOutputOption } from "./output-option.ts";
import { type RunBackends, partiesOf } from "./run-backends.ts";
import { priceOf } from "./prices.ts";
import { resolveBackend } from "./resolve-backend.ts";
import { type Swarm, swarm } from "./swarm.ts";
import type { World } from "./world.ts";

/** What carries out a run: a backend by name, a backend, an agent, or several agents. `Output` is the agent's own. */
export type Target<Output extends SchemaInput | undefined = SchemaInput | undefined> =
  | string
  | Backend
  | Agent<Output>
  | Swarm;

/** A short description of a target, for display. */
export function describeTarget(target: Target): string {
  if (typeof target === "string") return target;
  if ("agents" in target) return `swarm of ${target.agents.map(({ name }) => name).join(", ")}`;
  if (!isBackend(target)) return `agent ${target.name}`;
  const { name, model } = target as Backend;
  return model === undefined ? name : `${name}/${model}`;
}

/**
 * Everything a run needs, as its target and its options define it. `resolve` makes the backend for a name.
 *
 * @throws StartError naming what is wrong with them.
 */
export function planRun(
  target: Target,
  options: RunOptions,
  world: World,
  resolve: (name: string) => Backend = (name) => resolveBackend(name, options, world),
  around?: RunBackends,
): RunPlan {
  checkOptions(options);
  const { agents, start, context } = readTarget(target);
  const only = agents.length === 1 ? agents[0]?.limits : undefined;
  const { handoffs, costUsd, tokens, timeoutMs, replyBytes, parkMs } = { ...only, ...withoutGaps(options.limits) };
  const parties = around ?? partiesOf(agents, options.tools);
  const legs = agents.map((one) =>
    planLeg(one, options, { resolve, world, parties, isAmongOthers: agents.length > 1 }),
  );
  const planNested = (nested: Target): RunPlan => planRun(nested, nestedOptions(options), world, resolve, parties);
  // Whether an option takes effect on an agent that is a tool is otherwise known when it is called.
  if (options.strict === true && around === undefined) parties.nested.forEach(planNested);
  return {
    legs,
    start,
    context: options.context,
    limits: { handoffs, costUsd, tokens, timeoutMs, replyBytes, parkMs },
    handoffContext: context,
    clock: world.clock,
    nextTurn: world.nextTurn,
    random: world.random,
    price: priceOf,
    paths: legs.some(({ policy }) => (policy?.rules.length ?? 0) > 0) ? pathsOf(world) : undefined,
    planNested: (nested) => planNested(nested as Target),
  };
}

/** Access to the file system for permission rules. The working folder is recorded on a tape. */
function pathsOf({ tap, env, files }: World): PathLookup {
  const cwd = tap === undefined ? process.cwd() : tap.take("cwd", () => process.cwd());
  return {
    cwd,
    home: env["HOME"] ?? env["USERPROFILE"],
    realPath: (path) => files.realPath(path),
    list: (path) => files.list(path),
    ignoresCase: process.platform === "darwin" || process.platform === "win32",
  };
}

/** The options of a run that also apply to an agent inside a tool call. The policy is passed to it separately. */
function nestedOptions(options: RunOptions): RunOptions {
  const {
    instructions: _instructions,
    tools: _tools,
    toolChoice: _toolChoice,
    output: _output,
    hooks: _hooks,
    permission: _permission,
    permissions: _permissions,
    guards: _guards,
    outputMode: _outputMode,
    limits: _limits,
    session: _session,
    signal: _signal,
    record: _record,
    replay: _replay,
    telemetry: _telemetry,
    fallback: _fallback,
    ...rest
  } = options;
  const { turns: _turns, idleMs, toolMs, replyBytes } = options.limits ?? {};
  return { ...rest, limits: { ...present({ idleMs, toolMs, replyBytes }) } };
}

/** An agent that may have no name: a backend by itself. */
type UnnamedAgent = Omit<Agent, "name"> & { readonly name?: string };

interface TargetAgents {
  readonly agents: readonly UnnamedAgent[];
  readonly start: string | undefined;
  readonly context: "fresh" | "shared";
}

function readTarget(target: Target): TargetAgents {
  const alone = (one: UnnamedAgent): TargetAgents => ({ agents: [one], start: one.name, context: "fresh" });
  if (typeof target === "string") return alone({ backend: target });
  if (typeof target === "object" && target !== null) {
    if (isBackend(target)) return alone({ backend: target as Backend });
    if ("agents" in target) return readSwarm(target);
    if ("backend" in target) return alone(agent(target));
  }
  throw new StartError(
    "invalid-option",
    `The target is ${describeValue(target)}. Give a backend such as "offline" or "anthropic/claude-sonnet-4-6", an agent, or a swarm.`,
  );
}

/** Checked again, because a swarm is data and may have been written by hand. */
function readSwarm(target: Swarm): TargetAgents {
  const { agents, start, context } = swarm(target.agents, { start: target.start, context: target.context });
  return { agents, start, context };
}

interface LegContext {
  resolve(name: string): Backend;
  readonly world: World;
  readonly parties: RunBackends;
  readonly isAmongOthers: boolean;
}

/**
 * Combines an agent with the options of the run. The run overrides the agent; tools, hooks, rules and guards of both
 * apply.
 */
function planLeg(one: UnnamedAgent, options: RunOptions, context: LegContext): Leg {
  const { resolve, world, parties, isAmongOthers } = context;
  const tools = toolsOf(one, options);
  checkChosenTool(options.toolChoice, tools);
  const limits: Limits = { ...one.limits, ...withoutGaps(options.limits) };
  const given = options.output ?? one.output;
  const output = given === undefined ? undefined : readOutputOption(given);
  if (output !== undefined && tools.some((tool) => tool.name === OUTPUT_TOOL_NAME)) {
    throw new StartError(
      "invalid-option",
      `There is a tool called "${OUTPUT_TOOL_NAME}", which is the name a model gives its answer with when output is set. Rename the tool.`,
    );
  }
  const named = new Set<string>();
  const backendOf = (given: string | Backend): Backend => {
    if (typeof given !== "string") return inWorld(given, world);
    const made = resolve(given);
    named.add(made.name);
    return made;
  };
  const backend = backendOf(one.backend);
  const others = listOf(options.fallback);
  const fallbacks: Fallbacks =
    backend.kind === "agent"
      ? agentFallbacks(others)
      : { backends: others.map((other) => requireModel(backendOf(other))), models: [], foreign: [] };
  const leg: Leg = {
    backend,
    fallback: fallbacks.backends,
    fallbackModels: fallbacks.models,
    agent: one.name,
    instructions: options.instructions ?? one.instructions,
    tools,
    handoffs: one.handoffs,
    policy: mergePolicies(options, one, limits.permissionMs),
    output: output?.schema,
    outputRepairs: output?.repairs,
    toolChoice: options.toolChoice,
    toolConcurrency: options.toolConcurrency,
    parallelToolCalls: options.parallelToolCalls,
    limits: { turns: limits.turns, idleMs: limits.idleMs, toolMs: limits.toolMs, replyBytes: limits.replyBytes },
    retry: options.retry,
    maxTokens: options.maxTokens,
    temperature: options.temperature,
    thinkingTokens: options.thinkingTokens,
    keepRaw: options.keepRaw,
    place: readEnvironment(options),
  };
  const ignored = judgeOptions({
    leg,
    one,
    options,
    isAmongOthers,
    foreignFallbacks: fallbacks.foreign,
    named,
    parties,
  });
  return ignored.length === 0 ? leg : { ...leg, ignored };
}

/** The agent's tools and the run's. Each list was checked before; here the combined list is checked. */
function toolsOf(one: UnnamedAgent, options: RunOptions): readonly Tool[] {
  if (one.tools === undefined) return options.tools ?? NO_TOOLS;
  const tools = [...one.tools, ...(options.tools ?? NO_TOOLS)];
  checkTools(tools);
  return tools;
}

const NO_TOOLS: readonly Tool[] = [];

function mergePolicies(
  run: PolicyOptions,
  one: PolicyOptions,
  permissionMs: number | undefined,
): PolicySettings | undefined {
  if (!watches(run) && !watches(one)) return undefined;
  const both = [run, one];
  const settings: PolicySettings = {
    hooks: both.flatMap(({ hooks }) => hooks ?? []),
    rules: both.flatMap(({ permissions }) => permissions ?? []),
    permission: run.permission ?? one.permission,
    permissionMs,
    guards: both.flatMap(({ guards }) => guards ?? []),
    outputMode: run.outputMode ?? one.outputMode,
  };
  checkGuards(settings.guards, settings.outputMode);
  const { hooks, rules, permission, guards } = settings;
  return hooks.length + rules.length + guards.length === 0 && permission === undefined ? undefined : settings;
}

function watches({ hooks, permissions, permission, guards }: PolicyOptions): boolean {
  return hooks !== undefined || permissions !== undefined || permission !== undefined || guards !== undefined;
}

function readEnvironment(options: RunOptions): AgentEnvironment {
  const { resume, continue: goOn = false, fork = false, orReplay = false } = options.session ?? {};
  const where: Resume | undefined =
    resume !== undefined
      ? { kind: "resume", sessionId: resume, fork, orReplay }
      : goOn
        ? { kind: "continue", fork }
        : undefined;
  return { cwd: options.cwd, env: options.env ?? {}, strict: options.strict === true, resume: where };
}

function requireModel(backend: Backend): ModelBackend {
  if (backend.kind === "model") return backend;
  throw new StartError(
    "invalid-option",
    `fallback names ${backend.name}, which carries out whole runs. Give a model, such as "anthropic/claude-sonnet-4-6".`,
  );
}

/** A field that is `undefined` counts as absent. */
function withoutGaps<Fields extends object>(fields: Fields | undefined): Partial<Fields> {
  const given: Partial<Fields> = {};
  for (const name in fields) if (fields[name] !== undefined) given[name] = fields[name];
  return given;
}

function listOf<Value>(value: Value | readonly Value[] | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Value];
}

/**
 * Checks a target and its options as `run` would, and starts nothing.
 *
 * @throws StartError naming what is wrong with them.
 */
export function checkTarget(target: Target, options: RunOptions, world: World): void {
  planRun(target, options, world);
}
