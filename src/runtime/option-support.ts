import type { Backend, ModelBackend } from "#backends";
import type { ClaudeCodeOptions } from "../backends/claude-code/options.ts";
import {
  type Limits,
  PROVIDER_NAMES,
  type ProviderName,
  type ProviderOptions,
  type RunOptions,
  type SessionOptions,
} from "./options.ts";

/** Everything that may carry out a run, as far as options are concerned. */
export const SUPPORT_COLUMNS = [
  "offline",
  ...PROVIDER_NAMES,
  "another model",
  "claude-code (plain)",
  "claude-code (control)",
  "command",
  "another agent",
] as const;

export type SupportColumn = (typeof SUPPORT_COLUMNS)[number];

/** What the support of an option may depend on beside the backend. */
export interface SupportCase {
  readonly options: RunOptions;
  readonly backend: Backend;
  readonly hasTools: boolean;
  /** The models among `fallback` that Claude Code can be told, and those it cannot. */
  readonly foreignFallbacks: readonly string[];
  /** The providers of the model and its fallbacks. */
  readonly providers: ReadonlySet<string>;
}

/**
 * Whether an option works on a backend. `"works"`: it does. Another text: it does not, and why; a run warns of it, and with `strict` is refused.
 * A function: it depends, and the answer is one of the two.
 */
type Support = string | Condition | Refusal;

/** What would protect the caller and cannot: the run does not start, `strict` or not. */
interface Refusal {
  readonly refused: string;
}

/** An answer that depends on other options. `note` says on what, for the table in docs/options.md. */
interface Condition {
  readonly note: string;
  judge(given: SupportCase): string | Refusal | undefined;
}

/** One option: on models, on agents, and on single backends where those differ. */
type Row = { readonly models: Support; readonly agents: Support } & {
  readonly [Column in SupportColumn]?: Support;
} & { readonly "claude-code"?: Support };

const WORKS: Row = { models: "works", agents: "works" };

/** Rows by the names of the options; a new option without a row does not compile. */
type Rows<Options, Prefix extends string = ""> = {
  readonly [Name in keyof Required<Options> & string as `${Prefix}${Name}`]: Row;
};

const NO_OWN_LOOP = "an agent runs a loop of its own, in which nobody can be told this";
const NO_PROCESS = "a model behind an API has no process of its own";
const NO_SESSIONS = "a model behind an API keeps no sessions. Give the earlier messages as input, or use openSession";
const ASKED_AT_ONCE = "the host has no field for it, and may still ask for several calls at once";
/** What a foreign command does stays with it: we see its output and nothing else. */
const NOT_REACHED = "a command is started and read; nothing else of it can be reached";

const onlyIf = (note: string, judge: Condition["judge"]): Condition => ({ note, judge });

/** Some hosts and models have no field for an option; their backends say so. */
const whereTold = (
  option: NonNullable<ModelBackend["ignores"]>[number],
  reason = "the model cannot be told it",
): Condition =>
  onlyIf("where the model can be told", ({ backend }) =>
    backend.kind === "model" && backend.ignores?.includes(option) === true ? reason : undefined,
  );

/** The route warns of it: a feature that a forced mode leaves out has a code of its own. */
const CONTROLLED = onlyIf("in control mode, which is taken for it; a forced plain mode leaves it out", () => undefined);

/** Rules reach an agent's tools only if the agent asks; a command does not. */
const HELD: Row = {
  ...WORKS,
  "claude-code (plain)": CONTROLLED,
  command: { refused: `it cannot hold: ${NOT_REACHED}` },
};

const forProvider = (name: ProviderName): Row => {
  const cell = onlyIf(`for ${name} alone, as the model or as a fallback`, ({ providers }) =>
    providers.has(name) ? undefined : `nobody in this run is ${name}`,
  );
  return { models: cell, agents: `it is no model of ${name}` };
};

/** Later models of Claude think as they see fit; the CLI takes the number for them, and drops it. */
const TAKES_BUDGET = /^claude-(3-7-sonnet|(sonnet|opus|haiku)-4(-[0-6])?(-|$))/;

const numberedThinking = onlyIf("for models up to Claude 4.6, named in full", ({ backend: { model = "" } }) =>
  TAKES_BUDGET.test(model)
    ? undefined
    : `only models up to Claude 4.6 take a number, and this run's is ${model === "" ? "the CLI's choice" : model}. Name such a model, or set claudeCode.effort`,
);

const LIMIT_ROWS: Rows<Limits, "limits."> = {
  "limits.turns": { ...WORKS, command: NOT_REACHED },
  "limits.handoffs": WORKS,
  "limits.costUsd": WORKS,
  "limits.tokens": WORKS,
  "limits.timeoutMs": WORKS,
  "limits.idleMs": WORKS,
  "limits.toolMs": { ...WORKS, command: NOT_REACHED },
  "limits.replyBytes": WORKS,
  "limits.permissionMs": { ...WORKS, command: NOT_REACHED },
};

const SESSION_ROWS: Rows<SessionOptions, "session."> = {
  "session.resume": { models: NO_SESSIONS, agents: "works", command: NOT_REACHED },
  "session.continue": { models: NO_SESSIONS, agents: "works", command: NOT_REACHED },
  "session.fork": { models: NO_SESSIONS, agents: "works", command: NOT_REACHED },
};

const RETRY_ROWS: Rows<Exclude<RunOptions["retry"], false | undefined>, "retry."> = {
  "retry.attempts": { models: "works", agents: NO_OWN_LOOP, "claude-code": "works" },
  "retry.totalMs": { models: "works", agents: NO_OWN_LOOP },
  "retry.afterFirstToken": { models: "works", agents: NO_OWN_LOOP },
};

const PROVIDER_ROWS = Object.fromEntries(PROVIDER_NAMES.map((name) => [name, forProvider(name)])) as Rows<
  Record<ProviderName, ProviderOptions>
>;

/**
 * Every option of a run on everything that may carry it out. Options with members of their own have a row for each of
 * them; those of Claude Code are its own, and `CLAUDE_CODE_ROWS` has the exceptions.
 */
export const OPTION_SUPPORT: Omit<Rows<RunOptions>, "limits" | "session"> &
  typeof LIMIT_ROWS &
  typeof SESSION_ROWS &
  typeof RETRY_ROWS = {
  instructions: { ...WORKS, command: NOT_REACHED },
  tools: { ...WORKS, "claude-code (plain)": CONTROLLED, command: NOT_REACHED },
  toolChoice: {
    models: onlyIf("with tools", ({ hasTools }) => (hasTools ? undefined : "there are no tools to choose from")),
    agents: onlyIf('`"auto"` is what happens anyway', ({ options }) =>
      options.toolChoice === "auto" ? undefined : NO_OWN_LOOP,
    ),
  },
  toolConcurrency: { models: "works", agents: NO_OWN_LOOP },
  parallelToolCalls: {
    models: onlyIf("where the host has a field for it", (given) =>
      given.options.parallelToolCalls === false
        ? whereTold("parallelToolCalls", ASKED_AT_ONCE).judge(given)
        : undefined,
    ),
    agents: onlyIf("`true` is what happens anyway", ({ options }) =>
      options.parallelToolCalls === false ? NO_OWN_LOOP : undefined,
    ),
  },
  output: WORKS,
  hooks: HELD,
  permission: HELD,
  permissions: HELD,
  guards: {
    ...WORKS,
    command: onlyIf("on input and output; a guard on tools is refused", ({ options }) =>
      (options.guards ?? []).every(({ place }) => place === "input" || place === "output")
        ? undefined
        : { refused: `guards on tool calls and tool results cannot hold: ${NOT_REACHED}` },
    ),
  },
  outputMode: WORKS,
  ...LIMIT_ROWS,
  context: WORKS,
  signal: WORKS,
  retry: {
    models: "works",
    agents: NO_OWN_LOOP,
    "claude-code": "works",
  },
  ...RETRY_ROWS,
  fallback: {
    models: "works",
    agents: NO_OWN_LOOP,
    "claude-code": onlyIf("`claude-code/…` and `anthropic/…`", ({ foreignFallbacks }) =>
      foreignFallbacks.length === 0
        ? undefined
        : `the CLI falls back to models of its own only, and ${foreignFallbacks.join(", ")} is none. Name it as claude-code/<model>`,
    ),
  },
  maxTokens: { models: "works", agents: NO_OWN_LOOP, "claude-code": "works" },
  temperature: {
    models: whereTold("temperature"),
    anthropic: onlyIf("without `thinkingTokens`", ({ options }) =>
      options.thinkingTokens === undefined ? undefined : "a model that thinks chooses its own temperature",
    ),
    agents: NO_OWN_LOOP,
  },
  thinkingTokens: {
    models: whereTold("thinkingTokens", "the model cannot be told how much to think"),
    anthropic: onlyIf("unless `toolChoice` forces a tool", ({ options, hasTools }) =>
      hasTools && (options.toolChoice === "required" || typeof options.toolChoice === "object")
        ? "a model that is made to call a tool cannot think first"
        : undefined,
    ),
    agents: NO_OWN_LOOP,
    "claude-code": numberedThinking,
  },
  ...SESSION_ROWS,
  cwd: { models: NO_PROCESS, agents: "works" },
  env: { models: NO_PROCESS, agents: "works" },
  strict: WORKS,
  record: {
    ...WORKS,
    "another agent": { refused: "nobody knows how to make it again, so a tape of it cannot be played" },
  },
  replay: {
    // Before anything is planned, in answer-from-tape.ts: its name does not tell a backend that was made by hand.
    models: onlyIf("given by name; a backend made by hand is refused", () => undefined),
    agents: "works",
    "another agent": { refused: "it was made by hand, and what it sends is on no tape" },
  },
  telemetry: WORKS,
  claudeCode: { models: "nobody in this run is Claude Code", agents: "it is not Claude Code", "claude-code": "works" },
  ...PROVIDER_ROWS,
};

export type SupportedOption = keyof typeof OPTION_SUPPORT;

/** Options of Claude Code that one of its modes leaves out. */
export const CLAUDE_CODE_ROWS: { readonly [Name in keyof ClaudeCodeOptions as `claudeCode.${Name}`]?: Row } = {
  "claudeCode.maxThinkingTokens": { ...WORKS, "claude-code": numberedThinking },
  "claudeCode.permissionPromptTool": {
    ...WORKS,
    "claude-code (control)": "permission questions are asked over the control channel, so the tool is never asked",
  },
};

/** What the table says about one option and one column; a condition stays one. */
export function supportOf(row: Row, column: SupportColumn): Support {
  const own = row[column];
  if (own !== undefined) return own;
  const isAgent = column.startsWith("claude-code") || column === "command" || column === "another agent";
  if (!isAgent) return row.models;
  return (column.startsWith("claude-code") ? row["claude-code"] : undefined) ?? row.agents;
}

/** An option that was given and will not hold. */
export interface IgnoredOption {
  readonly option: string;
  readonly reason: string;
  /** The run is not to start. */
  readonly isRefused: boolean;
}

/** The options of a run that will not hold on one of its backends. */
export function findIgnored(column: SupportColumn, given: SupportCase): readonly IgnoredOption[] {
  const ignored: IgnoredOption[] = [];
  for (const { option, path, row } of ENTRIES) {
    if (valueAt(given.options, path) === undefined) continue;
    const support = supportOf(row, column);
    const verdict = typeof support === "object" && "judge" in support ? support.judge(given) : support;
    if (verdict === undefined || verdict === "works") continue;
    const isRefused = typeof verdict === "object";
    ignored.push({ option, reason: isRefused ? verdict.refused : verdict, isRefused });
  }
  // What is said of the whole need not be said of its parts.
  return ignored.filter(({ option }) => !ignored.some((other) => option.startsWith(`${other.option}.`)));
}

/** Provider options from a configuration: they are there for whatever run may need them. */
export const FROM_CONFIGURATION: unique symbol = Symbol("from a configuration");

const ENTRIES = Object.entries({ ...OPTION_SUPPORT, ...CLAUDE_CODE_ROWS } as Readonly<Record<string, Row>>).map(
  ([option, row]) => ({ option, path: option.split("."), row }),
);

function valueAt(options: RunOptions, path: readonly string[]): unknown {
  let value: unknown = options;
  for (const name of path) {
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return typeof value === "object" && value !== null && FROM_CONFIGURATION in value ? undefined : value;
}
