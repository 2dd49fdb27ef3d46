import type { Backend, ModelBackend } from "#backends";
import type { PermissionRules } from "#policy";
import type { TelemetryOptions } from "#sinks";
import type { ClaudeCodeOptions } from "../backends/claude-code/options.ts";
import {
  type Limits,
  PROVIDER_NAMES,
  PROVIDER_OPTION_NAMES,
  type ProviderName,
  type ProviderOptions,
  type ReplaySource,
  type RunOptions,
  type SessionOptions,
} from "./options.ts";
import type { OutputRequest } from "./output-option.ts";

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
  /** Who is asked: the backend and its fallbacks, by name. */
  readonly providers: ReadonlySet<string>;
  /** Those of them that were given by name, so that they are made with the options of the run. */
  readonly named: ReadonlySet<string>;
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

/** Options reach a backend that is made from its name; one that was made by hand has its own. */
const byName = (name: string, { providers, named }: SupportCase): string | undefined => {
  if (named.has(name)) return undefined;
  return providers.has(name)
    ? `this ${name} was made by hand, with options of its own. Give it these as well`
    : `nobody in this run is ${name}`;
};

const WITH_OUTPUT_GUARD = onlyIf("with a guard on output", ({ options }) =>
  (options.guards ?? []).some(({ place }) => place === "output")
    ? undefined
    : "it says how output waits for its guards, and there is no guard on output",
);

const forProvider = (name: ProviderName): Row => ({
  models: onlyIf(`for ${name} alone, given by name, as the model or as a fallback`, (given) => byName(name, given)),
  agents: `it is no model of ${name}`,
});

/** What is said twice holds once: the option of the run goes before the backend's own. */
const unlessGiven = (option: string): Condition =>
  onlyIf(`without \`${option}\`, which goes before`, ({ options }) =>
    valueAt(options, option.split(".")) === undefined ? undefined : `${option} is given too, and goes before`,
  );

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
  "session.continue": { models: NO_SESSIONS, agents: unlessGiven("session.resume"), command: NOT_REACHED },
  "session.fork": {
    models: NO_SESSIONS,
    agents: onlyIf("with `session.resume` or `session.continue`", ({ options: { session } }) =>
      session?.resume !== undefined || session?.continue === true
        ? undefined
        : "there is no session to fork. Give session.resume or session.continue as well",
    ),
    command: NOT_REACHED,
  },
};

const PERMISSION_ROWS: Rows<PermissionRules, "permissions."> = {
  "permissions.allow": HELD,
  "permissions.deny": HELD,
  "permissions.ask": HELD,
  "permissions.otherwise": HELD,
};

const OUTPUT_ROWS: Rows<OutputRequest, "output."> = {
  "output.schema": WORKS,
  "output.jsonSchema": WORKS,
  "output.repairs": WORKS,
};

const PLAYED: Row = {
  // Before anything is planned, in answer-from-tape.ts: its name does not tell a backend that was made by hand.
  models: onlyIf("given by name; a backend made by hand is refused", () => undefined),
  agents: "works",
  "another agent": { refused: "it was made by hand, and what it sends is on no tape" },
};

const REPLAY_ROWS: Rows<ReplaySource, "replay."> = {
  "replay.tape": PLAYED,
  "replay.onDifference": PLAYED,
  "replay.allowTorn": PLAYED,
  "replay.allowEdited": PLAYED,
};

const TELEMETRY_ROWS: Rows<TelemetryOptions, "telemetry."> = {
  "telemetry.recordContent": WORKS,
  "telemetry.attributes": WORKS,
  "telemetry.tracer": WORKS,
  "telemetry.meter": WORKS,
};

const RETRY_ROWS: Rows<Exclude<RunOptions["retry"], false | undefined>, "retry."> = {
  "retry.attempts": { models: "works", agents: NO_OWN_LOOP, "claude-code": "works" },
  "retry.totalMs": { models: "works", agents: NO_OWN_LOOP },
  "retry.afterFirstToken": { models: "works", agents: NO_OWN_LOOP },
};

const PROVIDER_ROWS = Object.fromEntries(PROVIDER_NAMES.map((name) => [name, forProvider(name)])) as Rows<
  Record<ProviderName, ProviderOptions>
>;

type ProviderMember = `${ProviderName}.${keyof ProviderOptions}`;

const PROVIDER_MEMBER_ROWS = Object.fromEntries(
  PROVIDER_NAMES.flatMap((name) => PROVIDER_OPTION_NAMES.map((member) => [`${name}.${member}`, forProvider(name)])),
) as { readonly [Name in ProviderMember]: Row };

/**
 * Every option of a run on everything that may carry it out. Options with members of their own have a row for each of
 * them; those of Claude Code are in `CLAUDE_CODE_ROWS`.
 */
export const OPTION_SUPPORT: Omit<Rows<RunOptions>, "limits" | "session"> &
  typeof LIMIT_ROWS &
  typeof SESSION_ROWS &
  typeof RETRY_ROWS &
  typeof PERMISSION_ROWS &
  typeof OUTPUT_ROWS &
  typeof REPLAY_ROWS &
  typeof TELEMETRY_ROWS &
  typeof PROVIDER_MEMBER_ROWS = {
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
  ...OUTPUT_ROWS,
  hooks: HELD,
  permission: HELD,
  permissions: HELD,
  ...PERMISSION_ROWS,
  guards: {
    ...WORKS,
    command: onlyIf("on input and output; a guard on tools is refused", ({ options }) =>
      (options.guards ?? []).every(({ place }) => place === "input" || place === "output")
        ? undefined
        : { refused: `guards on tool calls and tool results cannot hold: ${NOT_REACHED}` },
    ),
  },
  outputMode: {
    models: WITH_OUTPUT_GUARD,
    agents: WITH_OUTPUT_GUARD,
  },
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
  replay: PLAYED,
  ...REPLAY_ROWS,
  telemetry: WORKS,
  ...TELEMETRY_ROWS,
  claudeCode: forCli(onlyIf("given by name", (given) => byName("claude-code", given))),
  ...PROVIDER_ROWS,
  ...PROVIDER_MEMBER_ROWS,
};

export type SupportedOption = keyof typeof OPTION_SUPPORT;

/** The options of Claude Code; what they mean is in docs/claude-code.md. */
export const CLAUDE_CODE_ROWS: Rows<ClaudeCodeOptions, "claudeCode."> = {
  "claudeCode.model": forCli(
    onlyIf("unless the backend is given as `claude-code/<model>`", ({ backend: { model }, options }) =>
      model === options.claudeCode?.model ? undefined : `the run asks claude-code/${model}, which goes before`,
    ),
  ),
  "claudeCode.fallbackModel": forCli(unlessGiven("fallback")),
  "claudeCode.maxTurns": forCli(unlessGiven("limits.turns")),
  "claudeCode.maxBudgetUsd": forCli(unlessGiven("limits.costUsd")),
  "claudeCode.maxThinkingTokens": forCli(
    onlyIf(`${numberedThinking.note}; without \`thinkingTokens\``, (given) =>
      given.options.thinkingTokens === undefined
        ? numberedThinking.judge(given)
        : "thinkingTokens is given too, and goes before",
    ),
  ),
  "claudeCode.effort": forCli(),
  "claudeCode.systemPrompt": forCli(),
  "claudeCode.appendSystemPrompt": forCli(unlessGiven("claudeCode.systemPrompt")),
  "claudeCode.allowedTools": forCli(),
  "claudeCode.disallowedTools": forCli(
    onlyIf('unless `toolFilter` is `"allow-first"`', ({ options: { claudeCode = {} } }) =>
      claudeCode.toolFilter === "allow-first" && (claudeCode.allowedTools ?? []).length > 0
        ? `claudeCode.allowedTools wins by toolFilter, and no longer denied are ${(claudeCode.disallowedTools ?? []).join(", ")}`
        : undefined,
    ),
  ),
  "claudeCode.toolFilter": forCli(
    onlyIf("with `allowedTools` and `disallowedTools`", ({ options: { claudeCode = {} } }) =>
      claudeCode.allowedTools !== undefined && claudeCode.disallowedTools !== undefined
        ? undefined
        : "it decides between claudeCode.allowedTools and claudeCode.disallowedTools, and not both are given",
    ),
  ),
  "claudeCode.tools": forCli(),
  "claudeCode.mcpConfig": forCli(),
  "claudeCode.strictMcpConfig": forCli(),
  "claudeCode.permissionMode": forCli(),
  "claudeCode.permissionPromptTool": {
    ...forCli(),
    "claude-code (control)": "permission questions are asked over the control channel, so the tool is never asked",
  },
  "claudeCode.resume": forCli(unlessGiven("session.resume")),
  "claudeCode.continue": forCli(
    onlyIf("without a session to resume", ({ options: { claudeCode, session } }) =>
      claudeCode?.resume === undefined && session?.resume === undefined
        ? undefined
        : "the session to go on with is named by resume, which goes before",
    ),
  ),
  "claudeCode.forkSession": forCli(
    onlyIf("with a session to go on with", ({ options: { claudeCode, session } }) =>
      [claudeCode?.resume, session?.resume, claudeCode?.continue, session?.continue].some((one) => one !== undefined)
        ? undefined
        : "there is no session to fork. Set claudeCode.resume or claudeCode.continue as well",
    ),
  ),
  "claudeCode.sessionId": forCli(
    onlyIf("for a session that begins or is forked", ({ options: { claudeCode, session } }) =>
      [claudeCode?.resume, session?.resume, claudeCode?.continue, session?.continue].every(
        (one) => one === undefined,
      ) ||
      claudeCode?.forkSession === true ||
      session?.fork === true
        ? undefined
        : "a session that goes on keeps its id. Set claudeCode.forkSession as well to give it a new one",
    ),
  ),
  "claudeCode.persistSession": forCli(),
  "claudeCode.cwd": forCli(unlessGiven("cwd")),
  "claudeCode.addDirs": forCli(),
  "claudeCode.env": forCli(),
  "claudeCode.executable": forCli(),
  "claudeCode.mode": forCli(),
  "claudeCode.attachments": forCli(),
  "claudeCode.slashCommands": forCli(),
  "claudeCode.repositoryGit": forCli(),
  "claudeCode.settingSources": forCli(),
  "claudeCode.settings": forCli(),
  "claudeCode.includePartialMessages": forCli(),
  "claudeCode.includeHookEvents": forCli(),
  "claudeCode.agents": forCli(),
  "claudeCode.agent": forCli(),
  "claudeCode.jsonSchema": forCli(unlessGiven("output")),
  "claudeCode.betas": forCli(),
  "claudeCode.pluginDirs": forCli(),
  "claudeCode.extraArgs": forCli(),
  "claudeCode.skipVersionCheck": forCli(),
  "claudeCode.permissiveVersionCheck": forCli(),
  "claudeCode.strictExitStatus": forCli(),
  "claudeCode.keepBackground": forCli(),
  "claudeCode.maxLineBytes": forCli(),
  "claudeCode.stderr": forCli(),
  "claudeCode.spawn": forCli(),
  "claudeCode.watchdog": forCli(),
};

/** A row of `CLAUDE_CODE_ROWS`. */
function forCli(cell: Support = "works"): Row {
  return { models: "nobody in this run is Claude Code", agents: "it is not Claude Code", "claude-code": cell };
}

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
    const verdict = verdictOn(row, column, given);
    if (verdict === undefined) continue;
    // What a configuration holds for another backend is there for the runs that ask that one, all of it.
    if (isConfigured(given.options, path) && verdictOn(WHOLES[path[0] as string] ?? row, column, given) !== undefined)
      continue;
    const isRefused = typeof verdict === "object";
    ignored.push({ option, reason: isRefused ? verdict.refused : verdict, isRefused });
  }
  // What is said of the whole need not be said of its parts.
  return ignored.filter(({ option }) => !ignored.some((other) => option.startsWith(`${other.option}.`)));
}

/** Why an option does not hold; `undefined` when it does. */
function verdictOn(row: Row, column: SupportColumn, given: SupportCase): string | Refusal | undefined {
  const support = supportOf(row, column);
  const verdict = typeof support === "object" && "judge" in support ? support.judge(given) : support;
  return verdict === "works" ? undefined : verdict;
}

function isConfigured(options: RunOptions, [group = ""]: readonly string[]): boolean {
  const value = (options as Readonly<Record<string, unknown>>)[group];
  return typeof value === "object" && value !== null && FROM_CONFIGURATION in value;
}

/** Provider options from a configuration: they are there for whatever run may need them. */
export const FROM_CONFIGURATION: unique symbol = Symbol("from a configuration");

const WHOLES: Readonly<Record<string, Row>> = OPTION_SUPPORT;

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
