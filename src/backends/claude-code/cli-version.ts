/** The command that updates the CLI. */
export const UPDATE_COMMAND = "npm update -g @anthropic-ai/claude-code";

/** A version as three numbers, and as text. */
export interface CliVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** `1.2.3`, without the text around it. */
  readonly raw: string;
}

/**
 * The first `1.2.3` in a text; text around it, including a pre-release, is ignored.
 *
 * @example
 * parseVersion("2.1.325 (Claude Code)")?.raw // "2.1.325"
 */
export function parseVersion(text: string): CliVersion | undefined {
  // Digits and input are bounded, so the match is linear and no number overflows.
  const found = /(\d{1,9})\.(\d{1,9})\.(\d{1,9})/.exec(text.slice(0, 4096));
  if (found === null) return undefined;
  const [raw, major, minor, patch] = found;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), raw };
}

/**
 * Whether a version is the minimum or newer. The only place where versions are compared.
 *
 * @example
 * const version = parseVersion("2.1.197 (Claude Code)")
 * const minimum = parseVersion("2.0.64")
 * if (version && minimum) console.log(versionMeetsMinimum(version, minimum)) // true
 */
export function versionMeetsMinimum(version: CliVersion, minimum: CliVersion): boolean {
  if (version.major !== minimum.major) return version.major > minimum.major;
  if (version.minor !== minimum.minor) return version.minor > minimum.minor;
  return version.patch >= minimum.patch;
}

/** A version from our own code. */
export function knownVersion(text: `${number}.${number}.${number}`): CliVersion {
  return parseVersion(text) ?? { major: 0, minor: 0, patch: 0, raw: text };
}
