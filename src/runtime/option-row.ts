import type { Backend } from "#backends";
import { PROVIDER_NAMES, type RunOptions } from "./options.ts";

/** Everything that can carry out a run, as far as options are concerned. */
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

/** What the support of an option may depend on besides the backend. */
export interface SupportCase {
  readonly options: RunOptions;
  readonly backend: Backend;
  readonly hasTools: boolean;
  /** Whether one of them is `readOnly`. */
  readonly hasReadOnlyTools: boolean;
  /** The models in `fallback` that cannot be passed to Claude Code. */
  readonly foreignFallbacks: readonly string[];
  /** The names of the backend and its fallbacks. */
  readonly providers: ReadonlySet<string>;
  /** Those that were given by name and therefore use the options of the run. */
  readonly named: ReadonlySet<string>;
}

/**
 * Whether an option works on a backend. `"works"`: it does. Any other string: it does not, for this reason; the run
 * warns, or with `strict` does not start. A condition: it depends on the case. A refusal: the run does not start.
 */
export type Support = string | Condition | Refusal;

/** The option would protect the caller but cannot: the run does not start, with or without `strict`. */
export interface Refusal {
  readonly refused: string;
}

/** An answer that depends on other options. `note` states the condition, for the table in docs/options.md. */
export interface Condition {
  readonly note: string;
  judge(given: SupportCase): string | Refusal | undefined;
}

/** One option: on models, on agents, and on single backends that differ. */
export type Row = { readonly models: Support; readonly agents: Support } & {
  readonly [Column in SupportColumn]?: Support;
} & { readonly "claude-code"?: Support };

export const WORKS: Row = { models: "works", agents: "works" };

/** Rows by the names of the options; a new option without a row does not compile. */
export type Rows<Options, Prefix extends string = ""> = {
  readonly [Name in keyof Required<Options> & string as `${Prefix}${Name}`]: Row;
};

export const onlyIf = (note: string, judge: Condition["judge"]): Condition => ({ note, judge });

/** Options apply to a backend that is made from its name; a backend made by hand has its own. */
export const byName = (name: string, { providers, named }: SupportCase): string | undefined => {
  if (named.has(name)) return undefined;
  return providers.has(name)
    ? `this ${name} backend was created in code and has its own options. Pass these options there`
    : `this run does not use ${name}`;
};

/** If a setting is given twice, the option of the run overrides the backend's own. */
export const unlessGiven = (option: string): Condition =>
  onlyIf(`without \`${option}\`, which takes precedence`, ({ options }) =>
    valueAt(options, option.split(".")) === undefined ? undefined : `${option} is given too, and takes precedence`,
  );

/** What a backend reports is known after its first reply, so the warning comes then, also with `strict`. */
const WHERE_REPORTED = onlyIf("where it is reported; a warning otherwise", () => undefined);
export const REPORTED: Row = { models: WHERE_REPORTED, agents: WHERE_REPORTED, "claude-code": "works" };

/** A row of `CLAUDE_CODE_ROWS`. */
export function forCli(cell: Support = "works"): Row {
  return { models: "this run does not use Claude Code", agents: "it is not Claude Code", "claude-code": cell };
}

/** Marks provider options that come from a configuration: they are meant for any run that uses that provider. */
export const FROM_CONFIGURATION: unique symbol = Symbol("from a configuration");

/** Marks the callback that a server adds by itself: it is for agents that ask, and nobody relies on it for commands. */
export const ASKS_FIRST: unique symbol = Symbol("asks first");

export function valueAt(options: RunOptions, path: readonly string[]): unknown {
  let value: unknown = options;
  for (const name of path) {
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return typeof value === "object" && value !== null && FROM_CONFIGURATION in value ? undefined : value;
}
