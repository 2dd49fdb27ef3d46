import type { ErrorCode, WarningCode } from "../../../src/domain/index.ts";

/** A sentence about each error code, for people who do not know our codes. Every code has one. */
const ERROR_TITLES: Readonly<Record<ErrorCode, string>> = {
  "cli-not-found": "The agent is not installed on the server",
  "unsupported-cli-version": "The agent on the server is too old",
  "unknown-version": "The agent's version could not be read",
  "version-detection": "The agent's version could not be read",
  spawn: "The agent could not be started",
  "feature-unavailable": "The agent cannot do what was asked",
  "json-decode": "A part of the answer could not be read",
  "utf8-decode": "A part of the answer could not be read",
  "line-too-long": "A part of the answer was too long to be read",
  "buffer-overflow": "The answer came faster than it could be read",
  "reply-too-large": "The answer was too long",
  "too-many-decode-errors": "The answer could not be read",
  "unexpected-message": "The agent sent something unexpected",
  "stream-cut": "The answer was cut off",
  "no-result": "The answer ended without a result",
  "process-exited": "The agent stopped in the middle of its answer",
  timeout: "The answer took too long",
  stalled: "Nothing came for too long",
  aborted: "The answer was stopped",
  "failed-result": "The agent could not finish its answer",
  "source-failed": "The answer failed",
  "tape-difference": "The request differs from the recording",
  "cleanup-timeout": "The agent did not stop in time",
  "store-failed": "The answer could not be stored",
  "storage-exceeded": "There is no storage left",
  "provider-error": "The provider reported an error",
  "provider-unreachable": "The provider could not be reached",
  "provider-overloaded": "The provider is overloaded",
  "provider-rate-limited": "The provider was asked too often",
  "provider-auth": "The provider did not accept the key",
  "provider-invalid-request": "The provider did not accept the request",
  refused: "The model declined to answer",
  "content-filtered": "The provider's filter stopped the answer",
  "malformed-tool-call": "The model wrote a tool call that cannot be read",
  "prompt-blocked": "The message was blocked",
  "guard-denied": "A guard stopped the answer",
  "control-failed": "The agent did not accept a command",
  "run-parked": "The run waits",
  "session-id-unknown": "The session is not known",
  "text-retracted": "The text was taken back",
};

const WARNING_TITLES: Readonly<Record<WarningCode, string>> = {
  "unparseable-cli-version": "The agent's version could not be read",
  "version-detection-failed": "The agent's version could not be read",
  "clean-exit-no-result": "The agent ended without a result",
  "non-zero-exit-after-result": "The agent failed after its answer",
  "unexpected-message-after-result": "The agent sent something after its answer",
  "incomplete-last-line": "The last line of the answer was incomplete",
  "input-cut": "The agent did not read all of the message",
  "background-left": "The agent left something running",
  "deprecated-option": "An option is out of date",
  "feature-ignored": "Something that was asked for is not available here",
  "option-ignored": "An option has no effect here",
  "callback-shadowed": "A callback is not used",
  "events-dropped": "Some events were left out",
  "tool-call-incomplete": "A tool call was incomplete and was not run",
  "unknown-stop-reason": "The model stopped for an unknown reason",
  "event-refused": "An event was refused",
  "hook-failed": "A hook failed",
  "guard-failed": "A guard failed",
  "permission-failed": "The permission check failed",
  "nobody-can-answer": "A question could not be answered",
  "rule-never-matches": "A permission rule can never match",
  "git-not-isolated": "Some git repository is not isolated",
  "tape-difference": "The request differs from the recording",
};

/** The titles of results that ended a run by a limit. An agent may have others. */
const RESULT_TITLES: Readonly<Record<string, string>> = {
  error_during_execution: "The agent failed",
  error_max_turns: "The limit of turns was reached",
  error_max_budget_usd: "The limit of costs was reached",
  error_max_tokens: "The answer reached its limit of tokens",
  error_max_total_tokens: "The limit of tokens was reached",
  error_max_handoffs: "The limit of handoffs was reached",
  error_max_structured_output_retries: "The answer did not fit its schema",
  error_timeout: "The answer took too long",
};

const TITLES = new Map<string, string>(Object.entries({ ...RESULT_TITLES, ...WARNING_TITLES, ...ERROR_TITLES }));

/** Errors that only the operator of the server can fix. */
const OPERATOR_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  "cli-not-found",
  "unsupported-cli-version",
  "unknown-version",
  "version-detection",
  "spawn",
  "json-decode",
  "utf8-decode",
  "line-too-long",
  "too-many-decode-errors",
  "unexpected-message",
  "no-result",
  "process-exited",
  "store-failed",
  "provider-unreachable",
  "provider-auth",
  "provider-invalid-request",
  "control-failed",
]);

/** The text for an error or a warning, and whether its advice is for the operator. */
export function wordsOf(code: string, text: string) {
  return { title: titleOf(code), text, isForOperator: OPERATOR_CODES.has(code) };
}

/** The title of an error, a warning or a result. An unknown code gets a general one. */
export function titleOf(code: string): string {
  return TITLES.get(code) ?? "The answer failed";
}
