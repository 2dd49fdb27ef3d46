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
  // an agent could not be started, after the run had begun
  "cli-not-found",
  "unsupported-cli-version",
  "unknown-version",
  "version-detection",
  "spawn",
  "feature-unavailable",
  // input from the wire
  "json-decode",
  "utf8-decode",
  "line-too-long",
  "buffer-overflow",
  /** One reply, or all replies of a run together, exceed `limits.replyBytes`. */
  "reply-too-large",
  "too-many-decode-errors",
  "unexpected-message",
  // how the run ended
  "stream-cut",
  "no-result",
  "process-exited",
  "timeout",
  "stalled",
  "aborted",
  "failed-result",
  "source-failed",
  /** With the option `replay`: the run sends something other than what is on its tape. */
  "tape-difference",
  "cleanup-timeout",
  /** The events of a run could not be stored, so it was ended. */
  "store-failed",
  /** The tenant has reached its storage limit, so the run was ended. */
  "storage-exceeded",
  // reported by a provider
  "provider-error",
  "provider-unreachable",
  "provider-overloaded",
  "provider-rate-limited",
  "provider-auth",
  "provider-invalid-request",
  "refused",
  "content-filtered",
  "malformed-tool-call",
  // caused by a policy or a schema
  "prompt-blocked",
  "guard-denied",
  // reported by an agent's control channel
  "control-failed",
  // rejected by a run handle
  "run-parked",
  "session-id-unknown",
  "text-retracted",
] as const;

/** The code of an `error` event. docs/errors.md explains each. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The explanation for a person attached to an error: what it means, what to try, what was seen. */
export interface Diagnostic {
  /** One sentence: the most likely cause. */
  readonly hint?: string;
  /** What to try, one step per line. */
  readonly troubleshooting?: string;
  /** The frame or text that caused the error, truncated. */
  readonly seen?: string;
  readonly exitCode?: number;
  readonly stderrTail?: string;
  readonly lastNonJsonLine?: string;
  readonly stdoutWasEmpty?: boolean;
  /** The HTTP status, and the vendor's own name for the error. */
  readonly status?: number;
  readonly vendorCode?: string;
  /** How many consecutive frames could not be read. */
  readonly count?: number;
  readonly limitBytes?: number;
  /** How long the host asks to wait before the next attempt. */
  readonly retryAfterMs?: number;
  /** The detected version; if none could be read, the program's output. */
  readonly detected?: string;
  /** The oldest supported version. */
  readonly minimum?: string;
  /** The command that fixes the problem. */
  readonly suggestion?: string;
}

/** An error without the fields of its event. */
export interface ErrorDetail {
  readonly code: ErrorCode;
  readonly message: string;
  /** After a terminal error only `done` follows. */
  readonly terminal: boolean;
  readonly diagnostic?: Diagnostic;
}
