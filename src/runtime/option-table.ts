import type { ModelBackend } from "#backends";
import type { PermissionRules } from "#policy";
import type { TelemetryOptions } from "#sinks";
import { numberedThinking } from "./numbered-thinking.ts";
import {
  byName,
  type Condition,
  forCli,
  onlyIf,
  REPORTED,
  type Row,
  type Rows,
  unlessGiven,
  WORKS,
} from "./option-row.ts";
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

const NO_OWN_LOOP = "an agent runs its own loop, which has no such setting";
const NO_PROCESS = "a model behind an API has no process";
const NO_SESSIONS = "a model behind an API keeps no sessions. Give the earlier messages as input, or use openSession";
const ASKED_AT_ONCE = "the host has no field for it, and may still ask for several calls at once";
/** Only the output of a command is visible; what it does cannot be controlled. */
const NOT_REACHED = "a command is started and read; nothing else of it can be reached";

/** Some hosts and models have no field for an option; their backends list it in `ignores`. */
const whereSupported = (
  option: NonNullable<ModelBackend["ignores"]>[number],
  reason = "the model has no such setting",
): Condition =>
  onlyIf("where the model has such a setting", ({ backend }) =>
    backend.kind === "model" && backend.ignores?.includes(option) === true ? reason : undefined,
  );

/** The route reports this: a feature that a forced mode leaves out has its own warning code. */
const CONTROLLED = onlyIf("in control mode, which is taken for it; a forced plain mode leaves it out", () => undefined);

/** Rules only reach an agent's tools if the agent asks; a command does not. */
const HELD: Row = {
  ...WORKS,
  "claude-code (plain)": CONTROLLED,
  command: { refused: `it cannot hold: ${NOT_REACHED}` },
};

const WITH_OUTPUT_GUARD = onlyIf("with a guard on output", ({ options }) =>
  (options.guards ?? []).some(({ place }) => place === "output")
    ? undefined
    : "it says how output waits for its guards, and there is no guard on output",
);

const forProvider = (name: ProviderName): Row => ({
  models: onlyIf(`for ${name} alone, given by name, as the model or as a fallback`, (given) => byName(name, given)),
  agents: `it is not a model of ${name}`,
});

/** Not reported elsewhere: a configuration applies to runs with and without a store, and without one nothing parks. */
const IN_A_STORE = onlyIf("for runs in a store", () => undefined);

const LIMIT_ROWS: Rows<Limits, "limits."> = {
  "limits.turns": { ...WORKS, command: NOT_REACHED },
  "limits.handoffs": WORKS,
  "limits.costUsd": REPORTED,
  "limits.tokens": REPORTED,
  "limits.timeoutMs": WORKS,
  "limits.idleMs": WORKS,
  "limits.toolMs": {
    ...WORKS,
    "claude-code": onlyIf("for your tools; the CLI limits its own", ({ hasTools }) =>
      hasTools ? undefined : "it is the time of your tools, and there are none. The CLI limits the time of its own",
    ),
    command: NOT_REACHED,
  },
  "limits.replyBytes": WORKS,
  "limits.permissionMs": { ...WORKS, command: NOT_REACHED },
  "limits.parkMs": { models: IN_A_STORE, agents: IN_A_STORE, command: NOT_REACHED },
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
  "session.orReplay": {
    models: NO_SESSIONS,
    agents: onlyIf("with `session.resume`", ({ options: { session } }) =>
      session?.resume !== undefined ? undefined : "no session is named that could be gone. Give session.resume as well",
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
  // Checked before planning, in answer-from-tape.ts: a backend made by hand cannot be recognised by its name.
  models: onlyIf("given by name; a backend created in code is refused", () => undefined),
  agents: "works",
  "another agent": { refused: "it was created in code, and what it sends is on no tape" },
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
 * The support of every option on everything that can carry out a run. Options with members have a row for each member;
 * those of Claude Code are in `CLAUDE_CODE_ROWS`.
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
  // Our own tools run in this process, whichever backend calls them.
  toolConcurrency: {
    ...WORKS,
    "claude-code": onlyIf("for `readOnly` tools; the CLI makes other calls one after the other", (given) =>
      given.options.toolConcurrency === 1 || given.hasReadOnlyTools
        ? undefined
        : "the CLI makes calls of your tools one after the other, unless a tool says readOnly: true",
    ),
    command: NOT_REACHED,
  },
  parallelToolCalls: {
    models: onlyIf("where the host has a field for it", (given) =>
      given.options.parallelToolCalls === false
        ? whereSupported("parallelToolCalls", ASKED_AT_ONCE).judge(given)
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
        : `the CLI falls back to its own models only, and ${foreignFallbacks.join(", ")} is not one of them. Name it as claude-code/<model>`,
    ),
  },
  maxTokens: { models: "works", agents: NO_OWN_LOOP, "claude-code": "works" },
  temperature: {
    models: whereSupported("temperature"),
    anthropic: onlyIf("without `thinkingTokens`", ({ options }) =>
      options.thinkingTokens === undefined ? undefined : "a model that thinks chooses its own temperature",
    ),
    agents: NO_OWN_LOOP,
  },
  thinkingTokens: {
    models: whereSupported("thinkingTokens", "the model has no setting for how much to think"),
    anthropic: onlyIf("unless `toolChoice` forces a tool", ({ options, hasTools }) =>
      hasTools && (options.toolChoice === "required" || typeof options.toolChoice === "object")
        ? "a model that is made to call a tool cannot think first"
        : undefined,
    ),
    agents: NO_OWN_LOOP,
    "claude-code": numberedThinking,
  },
  ...SESSION_ROWS,
  cwd: {
    models: onlyIf("with permission rules about paths, which start there", ({ options: { permissions = {} } }) =>
      [permissions.allow, permissions.deny, permissions.ask].some((rules) => rules?.some((rule) => rule.includes("(")))
        ? undefined
        : NO_PROCESS,
    ),
    agents: "works",
  },
  env: { models: NO_PROCESS, agents: "works" },
  keepRaw: WORKS,
  strict: WORKS,
  record: {
    ...WORKS,
    "another agent": { refused: "it cannot be created again, so a tape of it cannot be played" },
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
