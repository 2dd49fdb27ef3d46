import { StartError } from "#domain";
import { type CliVersion, knownVersion, versionMeetsMinimum } from "./cli-version.ts";

/** What needs a newer CLI than the oldest, and from which version on it is there. */
export const FEATURE_GATES = {
  partial: "1.0.86",
  "set-permission-mode": "1.0.109",
  "set-model": "1.0.119",
  control: "2.0.0",
  agents: "2.0.0",
  "mcp-status": "2.0.0",
  "max-budget-usd": "2.0.30",
  "set-max-thinking-tokens": "2.0.30",
  "json-schema": "2.0.77",
  "tools-list": "2.0.77",
  "streaming-tools": "2.1.0",
} as const;

export type GatedFeature = keyof typeof FEATURE_GATES;

const UPDATE = "npm update -g @anthropic-ai/claude-code";

/**
 * Refuses (`feature-unavailable`) what this CLI is too old for, with both versions. A version nobody knows is let
 * through: the CLI itself will say.
 */
export function requireFeature(version: CliVersion | undefined, feature: GatedFeature): void {
  if (version === undefined || hasFeature(version, feature)) return;
  throw new StartError(
    "feature-unavailable",
    `${feature} needs Claude Code CLI ${FEATURE_GATES[feature]} or newer; this one is ${version.raw}. Update it with ${UPDATE}.`,
  );
}

/** Whether this version is new enough for a feature. */
export function hasFeature(version: CliVersion, feature: GatedFeature): boolean {
  return versionMeetsMinimum(version, knownVersion(FEATURE_GATES[feature]));
}
