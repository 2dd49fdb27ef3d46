import type { Backend } from "#backends";
import { PROVIDER_NAMES, type RunOptions } from "./options.ts";

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
export type Support = string | Condition | Refusal;

/** What would protect the caller and cannot: the run does not start, `strict` or not. */
export interface Refusal {
  readonly refused: string;
}

/** An answer that depends on other options. `note` says on what, for the table in docs/options.md. */
export interface Condition {
  readonly note: string;
  judge(given: SupportCase): string | Refusal | undefined;
}

/** One option: on models, on agents, and on single backends where those differ. */
export type Row = { readonly models: Support; readonly agents: Support } & {
  readonly [Column in SupportColumn]?: Support;
} & { readonly "claude-code"?: Support };

export const WORKS: Row = { models: "works", agents: "works" };

/** Rows by the names of the options; a new option without a row does not compile. */
export type Rows<Options, Prefix extends string = ""> = {
  readonly [Name in keyof Required<Options> & string as `${Prefix}${Name}`]: Row;
};

export const onlyIf = (note: string, judge: Condition["judge"]): Condition => ({ note, judge });

/** Options reach a backend that is made from its name; one that was made by hand has its own. */
export const byName = (name: string, { providers, named }: SupportCase): string | undefined => {
  if (named.has(name)) return undefined;
  return providers.has(name)
    ? `this ${name} was made by hand, with options of its own. Give it these as well`
    : `nobody in this run is ${name}`;
};

/** What is said twice holds once: the option of the run goes before the backend's own. */
export const unlessGiven = (option: string): Condition =>
  onlyIf(`without \`${option}\`, which goes before`, ({ options }) =>
    valueAt(options, option.split(".")) === undefined ? undefined : `${option} is given too, and goes before`,
  );

/** A row of `CLAUDE_CODE_ROWS`. */
export function forCli(cell: Support = "works"): Row {
  return { models: "nobody in this run is Claude Code", agents: "it is not Claude Code", "claude-code": cell };
}

/** Provider options from a configuration: they are there for whatever run may need them. */
export const FROM_CONFIGURATION: unique symbol = Symbol("from a configuration");

export function valueAt(options: RunOptions, path: readonly string[]): unknown {
  let value: unknown = options;
  for (const name of path) {
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return typeof value === "object" && value !== null && FROM_CONFIGURATION in value ? undefined : value;
}
