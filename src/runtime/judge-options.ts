import { agentSettings, type AgentLeg, type Leg } from "#agents";
import type { Backend, ModelBackend } from "#backends";
import { StartError } from "#domain";
import type { Agent } from "./agent.ts";
import { ASKS_FIRST, SUPPORT_COLUMNS, type SupportColumn } from "./option-row.ts";
import { findIgnored, type IgnoredOption } from "./option-support.ts";
import type { Limits, RunOptions } from "./options.ts";
import { isForAnother, type RunBackends } from "./run-backends.ts";

/** What is known about a leg when its options are checked. */
export interface JudgedLeg {
  readonly leg: Leg;
  /** The agent's own definition. */
  readonly one: Partial<Agent>;
  readonly options: RunOptions;
  /** Whether the run has other agents as well. */
  readonly isAmongOthers: boolean;
  readonly foreignFallbacks: readonly string[];
  /** The names of the backends that were given by name and made with the options of the run. */
  readonly named: ReadonlySet<string>;
  readonly parties: RunBackends;
}

/**
 * The options that have no effect on a leg's backend, according to the table of options.
 *
 * @throws StartError `feature-unavailable` naming option and backend, for options that must not be ignored, and with
 * `strict` for every option.
 */
export function judgeOptions(judged: JudgedLeg): readonly IgnoredOption[] {
  const { leg, one, options, isAmongOthers, foreignFallbacks, named, parties } = judged;
  const given: { -readonly [Name in keyof RunOptions]: RunOptions[Name] } = {
    ...pickPolicy(one),
    ...options,
    guards: [...(one.guards ?? []), ...(options.guards ?? [])],
    limits: { ...one.limits, ...options.limits },
  };
  const { backend } = leg;
  if (options.permission !== undefined && ASKS_FIRST in options.permission && columnOf(leg) === "command") {
    delete given.permission;
  }
  const ignored = [
    ...findIgnored(columnOf(leg), {
      options: given,
      backend,
      hasTools: leg.tools.length > 0 || (leg.handoffs?.length ?? 0) > 0,
      hasReadOnlyTools: leg.tools.some((tool) => tool.readOnly === true),
      foreignFallbacks,
      providers: new Set([backend, ...leg.fallback].map(({ name }) => name)),
      named,
    }),
    ...(isAmongOthers ? ownLimits(one.limits) : []),
  ].filter(({ option }) => !isForAnother(option, leg, parties));
  const refused = ignored.find(({ isRefused }) => isRefused) ?? (options.strict === true ? ignored[0] : undefined);
  if (refused !== undefined) throw refuse(backend.name, refused);
  if (options.strict === true) refuseLostFeatures(leg);
  return ignored;
}

/** The column of the table that applies to a leg. */
function columnOf(leg: Leg): SupportColumn {
  const { kind, name } = leg.backend;
  if (kind === "model") return isColumn(name) ? name : "another model";
  if (name === "claude-code") {
    return explainLeg(leg as AgentLeg).mode === "plain" ? "claude-code (plain)" : "claude-code (control)";
  }
  return name === "command" ? "command" : "another agent";
}

function isColumn(name: string): name is SupportColumn {
  return (SUPPORT_COLUMNS as readonly string[]).includes(name);
}

function explainLeg(leg: AgentLeg) {
  return leg.backend.explain(agentSettings(leg, {}));
}

/** Features that a forced mode leaves out are named by the backend. */
function refuseLostFeatures(leg: Leg): void {
  if (leg.backend.kind !== "agent") return;
  const { ignored, mode, backend } = explainLeg(leg as AgentLeg);
  if (ignored.length === 0) return;
  throw new StartError(
    "feature-unavailable",
    `${ignored.join(", ")} cannot be used on ${backend} in ${mode} mode, and strict is on. Leave claudeCode.mode out, or set it to "control".`,
  );
}

/** Limits of one agent that only apply to a whole run. */
function ownLimits(limits: Limits | undefined): readonly IgnoredOption[] {
  const names = ["handoffs", "costUsd", "tokens", "timeoutMs", "parkMs"] as const satisfies readonly (keyof Limits)[];
  return names
    .filter((name) => limits?.[name] !== undefined)
    .map((name) => ({
      option: `limits.${name}`,
      reason: "it is a limit of the whole run, not of one agent among others. Give it to run(…)",
      isRefused: false,
    }));
}

function pickPolicy({ hooks, permission, permissions, outputMode, output, instructions, tools }: Partial<Agent>) {
  const given = { hooks, permission, permissions, outputMode, output, instructions, tools };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function refuse(backend: string, { option, reason, isRefused }: IgnoredOption): StartError {
  const remedy = isRefused ? "Leave it out, or choose another backend" : "Leave it out, or leave strict out";
  return new StartError("feature-unavailable", `${option} is not available on ${backend}: ${reason}. ${remedy}.`);
}

/** The fallbacks of a leg: backends for our own loop, or model names for an agent. */
export interface Fallbacks {
  readonly backends: readonly ModelBackend[];
  readonly models: readonly string[];
  readonly foreign: readonly string[];
}

/** For an agent, only names of its own models; nothing is resolved, because none of our backends is used. */
export function agentFallbacks(fallback: readonly (string | Backend)[]): Fallbacks {
  const names = fallback.map((one) => (typeof one === "string" ? one : `${one.name}/${one.model ?? ""}`));
  const own = /^(?:claude-code|anthropic)\/(.+)$/;
  return {
    backends: [],
    models: names.flatMap((name) => own.exec(name)?.[1] ?? []),
    foreign: names.filter((name) => !own.test(name)),
  };
}
