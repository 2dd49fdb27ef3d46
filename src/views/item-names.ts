import type { WarningCode } from "#domain";

/** The canonical names of warnings; there are no synonyms. */
export const WARNING_NAMES = {
  "unparseable-cli-version": "UnparseableCliVersion",
  "version-detection-failed": "VersionDetectionFailed",
  "clean-exit-no-result": "CleanExitNoResult",
  "non-zero-exit-after-result": "NonZeroExitAfterResult",
  "unexpected-message-after-result": "UnexpectedMessageAfterResult",
  "incomplete-last-line": "IncompleteLastLine",
  "input-cut": "InputCut",
  "background-left": "BackgroundLeft",
  "deprecated-option": "DeprecatedOption",
  "feature-ignored": "FeatureIgnored",
  "option-ignored": "OptionIgnored",
  "callback-shadowed": "CallbackShadowed",
  "events-dropped": "EventsDropped",
  "tool-call-incomplete": "ToolCallIncomplete",
  "unknown-stop-reason": "UnknownStopReason",
  "event-refused": "EventRefused",
  "hook-failed": "HookFailed",
  "guard-failed": "GuardFailed",
  "permission-failed": "PermissionFailed",
  "nobody-can-answer": "NobodyCanAnswer",
  "rule-never-matches": "RuleNeverMatches",
  "git-not-isolated": "GitNotIsolated",
  "tape-difference": "TapeDifference",
} as const satisfies Record<WarningCode, string>;
