import { type Diagnostic, StartError, type WarningDetail } from "#domain";
import { type CliVersion, knownVersion, UPDATE_COMMAND, versionMeetsMinimum } from "./cli-version.ts";
import type { VersionDetection } from "./detect-version.ts";

export type { CliVersion } from "./cli-version.ts";
export { parseVersion, versionMeetsMinimum } from "./cli-version.ts";
export type { DetectRequest, VersionDetection } from "./detect-version.ts";
export { detectVersion } from "./detect-version.ts";
export type { GatedFeature } from "./features.ts";
export { FEATURE_GATES, requireFeature, requireFlags } from "./features.ts";

/** Whether a run may start, and with which warnings. */
export type VersionVerdict =
  | {
      readonly kind: "proceed";
      readonly version: CliVersion | undefined;
      readonly warnings: readonly WarningDetail[];
    }
  | { readonly kind: "refused"; readonly error: StartError };

/** The oldest CLI that supports stream-json. */
export const MINIMUM_VERSION = "1.0.0";

/**
 * The policy: a readable version decides; an unreadable one is refused, or with `permissive` a warning. A CLI that is
 * too old is refused either way.
 */
export function applyVersionPolicy(
  detection: VersionDetection,
  { permissive = false }: { readonly permissive?: boolean } = {},
): VersionVerdict {
  switch (detection.kind) {
    case "found": {
      const { version } = detection;
      if (versionMeetsMinimum(version, knownVersion(MINIMUM_VERSION)))
        return { kind: "proceed", version, warnings: [] };
      return refuse(
        "unsupported-cli-version",
        `The Claude Code CLI is version ${version.raw}; at least ${MINIMUM_VERSION} is needed. Update it with ${UPDATE_COMMAND}.`,
        { detected: version.raw, minimum: MINIMUM_VERSION, suggestion: UPDATE_COMMAND },
      );
    }
    case "unreadable": {
      const detected = detection.output.slice(0, 200);
      const said = JSON.stringify(detected);
      if (permissive) return proceedWith("unparseable-cli-version", `The CLI says ${said} when asked for its version.`);
      return refuse(
        "unknown-version",
        `The Claude Code CLI says ${said} when asked for its version, which contains no version. ` +
          `Check that executable is the Claude Code CLI, update it with ${UPDATE_COMMAND}, or set permissiveVersionCheck.`,
        { detected, minimum: MINIMUM_VERSION, suggestion: UPDATE_COMMAND },
      );
    }
    case "failed":
      if (permissive)
        return proceedWith("version-detection-failed", `The CLI's version is unknown: ${detection.reason}`);
      return refuse(
        "version-detection",
        `The Claude Code CLI could not be asked for its version: ${detection.reason.replace(/(?<![.!?])$/, ".")} ` +
          "Try claude --version in a terminal, or set permissiveVersionCheck.",
        { minimum: MINIMUM_VERSION, suggestion: "claude --version" },
      );
  }
}

function proceedWith(code: WarningDetail["code"], message: string): VersionVerdict {
  return { kind: "proceed", version: undefined, warnings: [{ code, message }] };
}

function refuse(
  code: "unsupported-cli-version" | "unknown-version" | "version-detection",
  message: string,
  diagnostic: Diagnostic,
): VersionVerdict {
  return { kind: "refused", error: new StartError(code, message, { diagnostic }) };
}
