/** Codes of errors thrown before a run exists. */
export const START_ERROR_CODES = [
  "cli-not-found",
  "unsupported-cli-version",
  "unknown-version",
  "version-detection",
  "spawn",
  "unknown-backend",
  "missing-key",
  "unknown-agent",
  "unknown-format",
  "invalid-format",
  "invalid-option",
  "invalid-input",
  /** The installed CLI, or the chosen mode, cannot do what was asked. */
  "feature-unavailable",
  "invalid-config",
  "invalid-tape",
  "session-closed",
] as const;

/** The code of a `StartError`. docs/errors.md explains each. */
export type StartErrorCode = (typeof START_ERROR_CODES)[number];

/** Codes of `error` events. Whether one ends the run is in the event (`terminal`). */
export const ERROR_CODES = [
  // an agent that could not be started: found out after the run had begun
  "cli-not-found",
  "unsupported-cli-version",
  "unknown-version",
  "version-detection",
  "spawn",
  "feature-unavailable",
  // what came off the wire
  "json-decode",
  "utf8-decode",
  "line-too-long",
  "buffer-overflow",
  /** One reply, or the replies of a run together, have more bytes than `limits.replyBytes` allows. */
  "reply-too-large",
  "too-many-decode-errors",
  "unexpected-message",
  // how it ended
  "stream-cut",
  "no-result",
  "process-exited",
  "timeout",
  "stalled",
  "aborted",
  "failed-result",
  "source-failed",
  /** With the option `replay`: what the run sends is not what its tape has. */
  "tape-difference",
  "cleanup-timeout",
  /** The events of a run could not be stored, so it was ended. */
  "store-failed",
  /** The tenant keeps as much as it may, so the run was ended. */
  "storage-exceeded",
  // what a provider said
  "provider-error",
  "provider-unreachable",
  "provider-overloaded",
  "provider-rate-limited",
  "provider-auth",
  "provider-invalid-request",
  "refused",
  "content-filtered",
  "malformed-tool-call",
  // what a policy or a schema said
  "prompt-blocked",
  "guard-denied",
  // what an agent's control channel said
  "control-failed",
  // asked of a run handle
  "session-id-unknown",
  "text-retracted",
] as const;

/** The code of an `error` event. docs/errors.md explains each. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The explanation for a person attached to an error: what it means, what to try, what was seen. */
export interface Diagnostic {
  /** One sentence: what this most likely is. */
  readonly hint?: string;
  /** What to try, one step per line. */
  readonly troubleshooting?: string;
  /** The frame or text that gave the error, cut to a readable size. */
  readonly seen?: string;
  readonly exitCode?: number;
  readonly stderrTail?: string;
  readonly lastNonJsonLine?: string;
  readonly stdoutWasEmpty?: boolean;
  /** HTTP status, and the vendor's own name for the error. */
  readonly status?: number;
  readonly vendorCode?: string;
  /** How many frames in a row could not be read. */
  readonly count?: number;
  readonly limitBytes?: number;
  /** How long the host asks to wait before the next try. */
  readonly retryAfterMs?: number;
  /** The version that was found; where none could be read, what the program said instead. */
  readonly detected?: string;
  /** The oldest version that will do. */
  readonly minimum?: string;
  /** The command that puts it right. */
  readonly suggestion?: string;
}

/** An error without its place in a run. */
export interface ErrorDetail {
  readonly code: ErrorCode;
  readonly message: string;
  /** After a terminal error only `done` follows. */
  readonly terminal: boolean;
  readonly diagnostic?: Diagnostic;
}
