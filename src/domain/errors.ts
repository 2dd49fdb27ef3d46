import type { Diagnostic, ErrorCode, StartErrorCode } from "./error-detail.ts";
import type { RunResult } from "./run-result.ts";

// `Symbol.for` rather than `instanceof`, so that two loaded copies of this package recognise each other's errors.
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
 * A run that did not succeed, as thrown by the short forms `text()` and `output()`. Events and `result()` never throw.
 *
 * `result` holds everything the run produced; it is absent while the run is still active.
 *
 * @example
 * try {
 *   await run("offline", "Hello", { limits: { timeoutMs: 1000 } }).output()
 * } catch (error) {
 *   if (isRunError(error)) console.error(error.code, error.result?.text)
 * }
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

/**
 * Whether a value is a `StartError`. Unlike `instanceof`, this also works when two copies of the package are loaded.
 *
 * @example
 * try {
 *   run("no-such-backend", "Hello")
 * } catch (error) {
 *   if (isStartError(error)) console.error(error.code, error.message) // unknown-backend …
 * }
 */
export function isStartError(value: unknown): value is StartError {
  return hasBrand(value, START_ERROR);
}

/**
 * Whether a value is a `RunError`. Unlike `instanceof`, this also works when two copies of the package are loaded.
 *
 * @example
 * const text = await run("offline", "Hello").output().catch((error: unknown) => (isRunError(error) ? error.message : ""))
 */
export function isRunError(value: unknown): value is RunError {
  return hasBrand(value, RUN_ERROR);
}

/**
 * Whether a value is a `ToolFailure`. Unlike `instanceof`, this also works when two copies of the package are loaded.
 *
 * @example
 * const text = await createToolRegistry().execute("add", {}).catch((error: unknown) => {
 *   if (isToolFailure(error)) return error.message
 *   throw error
 * })
 */
export function isToolFailure(value: unknown): value is ToolFailure {
  return hasBrand(value, TOOL_FAILURE);
}

/** The message of any thrown value. */
export function describeThrown(thrown: unknown): string {
  // An error may be built so that reading it throws again.
  try {
    if (thrown instanceof Error) return thrown.message === "" ? thrown.name : String(thrown.message);
    const text = String(thrown);
    return text === "[object Object]" ? describeObject(thrown as object) : text;
  } catch {
    return "a value that cannot be printed";
  }
}

const READ_FAILURES: ReadonlyMap<unknown, string> = new Map([
  ["ENOENT", "there is no such file"],
  ["EISDIR", "it is a folder"],
  ["EACCES", "you may not read it"],
]);

/** Why a file could not be read, without the name of a system call. */
export function describeReadFailure(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return READ_FAILURES.get(code) ?? describeThrown(thrown);
}

const WRITE_FAILURES: ReadonlyMap<unknown, string> = new Map([
  ["EEXIST", "it already exists and is a file"],
  ["ENOTDIR", "a part of the path is a file"],
  ["ENOENT", "there is no such folder"],
  ["EISDIR", "it is a folder"],
  ["EACCES", "you may not write there"],
  ["EPERM", "you may not write there"],
  ["EROFS", "the disk is read-only"],
  ["ENOSPC", "the disk is full"],
]);

/** Why a folder could not be made, or a file not be written, without the name of a system call. */
export function describeWriteFailure(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return WRITE_FAILURES.get(code) ?? describeThrown(thrown);
}

/** Libraries also throw plain objects: returns the object's message, otherwise its fields. */
function describeObject(thrown: object): string {
  const { message } = thrown as { readonly message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  const fields = JSON.stringify(thrown) ?? "";
  return fields.length > MAX_FIELDS ? `${fields.slice(0, MAX_FIELDS)} …` : fields;
}

const MAX_FIELDS = 500;

function hasBrand(value: unknown, brand: symbol): boolean {
  return typeof value === "object" && value !== null && brand in value;
}

/**
 * A short description of a value for an error message. Never throws.
 *
 * @example
 * describeValue({ a: 1 }) // '{"a":1}'
 */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "function":
      return "a function";
    case "bigint":
      return `${value}n`;
    case "number":
    case "symbol":
      return String(value);
    default:
      return writeShort(value);
  }
}

function writeShort(value: unknown): string {
  try {
    const text = JSON.stringify(value) ?? "undefined";
    return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
  } catch {
    return Array.isArray(value) ? "a list" : "an object";
  }
}
