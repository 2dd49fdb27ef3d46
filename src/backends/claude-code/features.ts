import { StartError } from "#domain";
import type { Argv } from "./argv.ts";
import { type CliVersion, knownVersion, UPDATE_COMMAND, versionMeetsMinimum } from "./cli-version.ts";

/**
 * Features that need a newer CLI than the minimum, with the first version that has them. Verified against the versions.
 */
export const FEATURE_GATES = {
  "set-permission-mode": "1.0.109",
  partial: "1.0.109",
  "set-model": "1.0.119",
  // Without it the settings of the repository cannot be left out, so nothing is started unless all of them are wanted.
  "setting-sources": "1.0.122",
  "resume-at": "1.0.126",
  control: "2.0.0",
  agents: "2.0.0",
  "mcp-status": "2.0.0",
  "max-thinking-tokens": "2.0.2",
  plugins: "2.0.25",
  "max-budget-usd": "2.0.30",
  "set-max-thinking-tokens": "2.0.30",
  "append-prompt-file": "2.0.33",
  // Before, the output of a failed tool is shown only to the model.
  guards: "2.0.56",
  betas: "2.0.58",
  agent: "2.0.59",
  "json-schema": "2.0.64",
  "tools-list": "2.0.64",
  "session-persistence": "2.0.64",
  "streaming-tools": "2.1.0",
  effort: "2.1.38",
  "set-agent": "2.1.50",
  "hook-events": "2.1.88",
  "replace-tool-output": "2.1.121",
  // Earlier versions may have it, but were not tested.
  "rewind-conversation": "2.1.197",
} as const;

export type GatedFeature = keyof typeof FEATURE_GATES;

/** Flags that older versions do not know: they exit with "unknown option" and an empty stdout. */
const GATED_FLAGS: Readonly<Record<string, GatedFeature>> = {
  "--include-partial-messages": "partial",
  "--setting-sources": "setting-sources",
  "--agents": "agents",
  "--max-thinking-tokens": "max-thinking-tokens",
  "--plugin-dir": "plugins",
  "--max-budget-usd": "max-budget-usd",
  "--append-system-prompt-file": "append-prompt-file",
  "--betas": "betas",
  "--agent": "agent",
  "--json-schema": "json-schema",
  "--tools": "tools-list",
  "--no-session-persistence": "session-persistence",
  "--effort": "effort",
  "--include-hook-events": "hook-events",
};

/**
 * Refuses (`feature-unavailable`) a feature that this CLI is too old for, naming both versions. An unknown version is
 * accepted: the CLI itself will report it.
 */
export function requireFeature(version: CliVersion | undefined, feature: GatedFeature): void {
  if (version === undefined || hasFeature(version, feature)) return;
  const minimum = FEATURE_GATES[feature];
  throw new StartError(
    "feature-unavailable",
    `${feature} needs Claude Code CLI ${minimum} or newer; this one is ${version.raw}. Update it with ${UPDATE_COMMAND}.`,
    { diagnostic: { detected: version.raw, minimum, suggestion: UPDATE_COMMAND } },
  );
}

/** Refuses a start with flags that this CLI is too old for. */
export function requireFlags(version: CliVersion | undefined, { args, files }: Pick<Argv, "args" | "files">): void {
  const end = args.indexOf("--");
  const written = [...files.map(({ flag }) => flag), ...(end === -1 ? args : args.slice(0, end))];
  for (const argument of written) {
    // A value that is joined to its flag follows the first "=".
    const [flag = ""] = argument.split("=", 1);
    const feature = Object.hasOwn(GATED_FLAGS, flag) ? GATED_FLAGS[flag] : undefined;
    if (feature !== undefined) requireFeature(version, feature);
  }
}

/** Whether this version is new enough for a feature. */
export function hasFeature(version: CliVersion, feature: GatedFeature): boolean {
  return versionMeetsMinimum(version, knownVersion(FEATURE_GATES[feature]));
}
