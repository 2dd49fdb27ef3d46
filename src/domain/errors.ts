import type { RunResult } from "./run-result.ts";

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
] as const;

export type StartErrorCode = (typeof START_ERROR_CODES)[number];

/** Codes of `error` events. Whether one ends the run is in the event (`terminal`). */
export const ERROR_CODES = [
  // what came off the wire
  "json-decode",
  "utf8-decode",
  "line-too-long",
  "buffer-overflow",
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
  "cleanup-timeout",
  // what a provider said
  "provider-error",
  "provider-unreachable",
  "provider-overloaded",
  "provider-rate-limited",
  "provider-auth",
  "provider-invalid-request",
  "refused",
  "content-filtered",
  // asked of a run handle
  "session-id-unknown",
  "text-retracted",
] as const;

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
}

/** An error without its place in a run. */
export interface ErrorDetail {
  readonly code: ErrorCode;
  readonly message: string;
  /** After a terminal error only `done` follows. */
  readonly terminal: boolean;
  readonly diagnostic?: Diagnostic;
}

// `Symbol.for` instead of `instanceof`: two loaded copies of this package must recognise each other's errors.
const START_ERROR: unique symbol = Symbol.for("millrace.StartError") as never;
const RUN_ERROR: unique symbol = Symbol.for("millrace.RunError") as never;
const TOOL_FAILURE: unique symbol = Symbol.for("millrace.ToolFailure") as never;

/**
 * A run could not be started. Thrown before any event exists; the message names the field, the value and the remedy.
 *
 * @example
 * try { run("nowhere/model", "hi") } catch (error) { if (isStartError(error)) console.error(error.code, error.message) }
 */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly [START_ERROR] = true;
  readonly code: StartErrorCode;
  readonly diagnostic: Diagnostic | undefined;

  constructor(code: StartErrorCode, message: string, details: { diagnostic?: Diagnostic; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.diagnostic = details.diagnostic;
  }
}

/**
 * A run that did not succeed, as the short forms `text()` and `output()` throw it. Events and `result()` never throw.
 *
 * `result` holds everything the run produced; it is absent while the run still goes on.
 */
export class RunError extends Error {
  override readonly name = "RunError";
  readonly [RUN_ERROR] = true;
  readonly code: ErrorCode;
  readonly diagnostic: Diagnostic | undefined;
  readonly result: RunResult | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: { diagnostic?: Diagnostic | undefined; result?: RunResult; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.diagnostic = details.diagnostic;
    this.result = details.result;
  }
}

/**
 * Thrown by a tool to tell the model what went wrong and what to do instead. The loop goes on.
 *
 * @example
 * throw new ToolFailure("No order 17. Ask the user for the number on the invoice.")
 */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
  readonly [TOOL_FAILURE] = true;
}

/** Unlike `instanceof`, holds when two copies of the package are loaded. */
export function isStartError(value: unknown): value is StartError {
  return hasBrand(value, START_ERROR);
}

/** Unlike `instanceof`, holds when two copies of the package are loaded. */
export function isRunError(value: unknown): value is RunError {
  return hasBrand(value, RUN_ERROR);
}

/** Unlike `instanceof`, holds when two copies of the package are loaded. */
export function isToolFailure(value: unknown): value is ToolFailure {
  return hasBrand(value, TOOL_FAILURE);
}

/** The message of anything that was thrown. */
export function describeThrown(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message === "" ? thrown.name : thrown.message;
  try {
    return String(thrown);
  } catch {
    return "a value that cannot be printed";
  }
}

function hasBrand(value: unknown, brand: symbol): boolean {
  return typeof value === "object" && value !== null && brand in value;
}
