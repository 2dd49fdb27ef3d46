import { agentSettings, type AgentLeg, type Leg } from "#agents";
import type { Backend, ModelBackend } from "#backends";
import { StartError } from "#domain";
import type { Agent } from "./agent.ts";
import { SUPPORT_COLUMNS, type SupportColumn } from "./option-row.ts";
import { findIgnored, type IgnoredOption } from "./option-support.ts";
import type { Limits, RunOptions } from "./options.ts";

/** What is known of a leg when its options are judged. */
export interface JudgedLeg {
  readonly leg: Leg;
  /** The agent's own definition. */
  readonly one: Partial<Agent>;
  readonly options: RunOptions;
  /** Whether the run has other agents beside it. */
  readonly isAmongOthers: boolean;
  readonly foreignFallbacks: readonly string[];
  /** The names of the backends that were made from a name, with the options of the run. */
  readonly named: ReadonlySet<string>;
}

/**
 * The options that will not hold on a leg's backend, by the table of options.
 *
 * @throws StartError `feature-unavailable` naming option and backend, for what must not be ignored, and with `strict` for
 * everything.
 */
export function judgeOptions(judged: JudgedLeg): readonly IgnoredOption[] {
  const { leg, one, options, isAmongOthers, foreignFallbacks, named } = judged;
  const given: RunOptions = {
    ...pickPolicy(one),
    ...options,
    guards: [...(one.guards ?? []), ...(options.guards ?? [])],
    limits: { ...one.limits, ...options.limits },
  };
  const { backend } = leg;
  const ignored = [
    ...findIgnored(columnOf(leg), {
      options: given,
      backend,
      hasTools: leg.tools.length > 0 || (leg.handoffs?.length ?? 0) > 0,
      foreignFallbacks,
      providers: new Set([backend, ...leg.fallback].map(({ name }) => name)),
      named,
    }),
    ...(isAmongOthers ? ownLimits(one.limits) : []),
  ];
  const refused = ignored.find(({ isRefused }) => isRefused) ?? (options.strict === true ? ignored[0] : undefined);
  if (refused !== undefined) throw refuse(backend.name, refused);
  if (options.strict === true) refuseLostFeatures(leg);
  return ignored;
}

/** The column of the table a leg is judged by. */
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

/** Features that a forced mode leaves out are the backend's to name. */
function refuseLostFeatures(leg: Leg): void {
  if (leg.backend.kind !== "agent") return;
  const { ignored, mode, backend } = explainLeg(leg as AgentLeg);
  if (ignored.length === 0) return;
  throw new StartError(
    "feature-unavailable",
    `${ignored.join(", ")} cannot be had on ${backend} in ${mode} mode, and strict is on. Leave mode out, or set it to "control".`,
  );
}

/** Limits of one agent that only a whole run can have. */
function ownLimits(limits: Limits | undefined): readonly IgnoredOption[] {
  const names = ["handoffs", "costUsd", "tokens", "timeoutMs"] as const satisfies readonly (keyof Limits)[];
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
  return new StartError("feature-unavailable", `${option} cannot be had on ${backend}: ${reason}. ${remedy}.`);
}

/** The fallbacks of a leg: backends that our loop asks, or names that an agent is told. */
export interface Fallbacks {
  readonly backends: readonly ModelBackend[];
  readonly models: readonly string[];
  readonly foreign: readonly string[];
}

/** For an agent, models of its own by name; nothing is resolved, because nothing of ours is asked. */
export function agentFallbacks(fallback: readonly (string | Backend)[]): Fallbacks {
  const names = fallback.map((one) => (typeof one === "string" ? one : `${one.name}/${one.model ?? ""}`));
  const own = /^(?:claude-code|anthropic)\/(.+)$/;
  return {
    backends: [],
    models: names.flatMap((name) => own.exec(name)?.[1] ?? []),
    foreign: names.filter((name) => !own.test(name)),
  };
}
