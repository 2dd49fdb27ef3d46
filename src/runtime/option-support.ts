import { CLAUDE_CODE_ROWS } from "./claude-code-option-table.ts";
import {
  FROM_CONFIGURATION,
  type Refusal,
  type Row,
  type Support,
  type SupportCase,
  type SupportColumn,
  valueAt,
} from "./option-row.ts";
import { OPTION_SUPPORT } from "./option-table.ts";
import type { RunOptions } from "./options.ts";

/** The table's entry for one option and one column; a condition is returned as it is. */
export function supportOf(row: Row, column: SupportColumn): Support {
  const own = row[column];
  if (own !== undefined) return own;
  const isAgent = column.startsWith("claude-code") || column === "command" || column === "another agent";
  if (!isAgent) return row.models;
  return (column.startsWith("claude-code") ? row["claude-code"] : undefined) ?? row.agents;
}

/** An option that was given but has no effect. */
export interface IgnoredOption {
  readonly option: string;
  readonly reason: string;
  /** The run must not start. */
  readonly isRefused: boolean;
}

/** The options of a run that have no effect on one of its backends. */
export function findIgnored(column: SupportColumn, given: SupportCase): readonly IgnoredOption[] {
  const ignored: IgnoredOption[] = [];
  for (const { option, path, row } of ENTRIES) {
    if (valueAt(given.options, path) === undefined) continue;
    const verdict = verdictOn(row, column, given);
    if (verdict === undefined) continue;
    // Configured options of another backend are meant for the runs that use that backend, so they are not reported.
    if (isConfigured(given.options, path) && verdictOn(WHOLES[path[0] as string] ?? row, column, given) !== undefined)
      continue;
    const isRefused = typeof verdict === "object";
    ignored.push({ option, reason: isRefused ? verdict.refused : verdict, isRefused });
  }
  // A group that is reported as a whole is not reported by its members as well.
  return ignored.filter(({ option }) => !ignored.some((other) => option.startsWith(`${other.option}.`)));
}

/** Why an option has no effect; `undefined` when it works. */
function verdictOn(row: Row, column: SupportColumn, given: SupportCase): string | Refusal | undefined {
  const support = supportOf(row, column);
  const verdict = typeof support === "object" && "judge" in support ? support.judge(given) : support;
  return verdict === "works" ? undefined : verdict;
}

function isConfigured(options: RunOptions, [group = ""]: readonly string[]): boolean {
  const value = (options as Readonly<Record<string, unknown>>)[group];
  return typeof value === "object" && value !== null && FROM_CONFIGURATION in value;
}

const WHOLES: Readonly<Record<string, Row>> = OPTION_SUPPORT;

const ENTRIES = Object.entries({ ...OPTION_SUPPORT, ...CLAUDE_CODE_ROWS } as Readonly<Record<string, Row>>).map(
  ([option, row]) => ({ option, path: option.split("."), row }),
);
