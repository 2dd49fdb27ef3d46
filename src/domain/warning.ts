/**
 * The codes of warnings: something odd happened and nothing changed because of it. A closed list: a new code is a
 * visible change.
 */
export const WARNING_CODES = [
  "unparseable-cli-version",
  "version-detection-failed",
  "clean-exit-no-result",
  "non-zero-exit-after-result",
  "unexpected-message-after-result",
  "incomplete-last-line",
  "input-cut",
  "background-left",
  "deprecated-option",
  "feature-ignored",
  "option-ignored",
  "callback-shadowed",
  "events-dropped",
  "tool-call-incomplete",
  "unknown-stop-reason",
  "event-refused",
  "hook-failed",
  "guard-failed",
  "permission-failed",
  "nobody-can-answer",
  "rule-never-matches",
  "git-not-isolated",
  "tape-difference",
] as const;

/** The code of a `warning` event. docs/errors.md explains each. */
export type WarningCode = (typeof WARNING_CODES)[number];

/** A warning without the fields of its event. */
export interface WarningDetail {
  readonly code: WarningCode;
  readonly message: string;
  /** What was seen, as JSON. */
  readonly context?: unknown;
  /** The warning is the expected companion of something already reported; tools may leave it out. */
  readonly expected?: boolean;
}
