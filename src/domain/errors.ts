import type { Diagnostic, ErrorCode, StartErrorCode } from "./error-detail.ts";
import type { RunResult } from "./run-result.ts";

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
 * Unlike `instanceof`, holds when two copies of the package are loaded.
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
 * Unlike `instanceof`, holds when two copies of the package are loaded.
 *
 * @example
 * const text = await run("offline", "Hello").output().catch((error: unknown) => (isRunError(error) ? error.message : ""))
 */
export function isRunError(value: unknown): value is RunError {
  return hasBrand(value, RUN_ERROR);
}

/**
 * Unlike `instanceof`, holds when two copies of the package are loaded.
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

/** The message of anything that was thrown. */
export function describeThrown(thrown: unknown): string {
  // An error may be made so that looking at it throws again.
  try {
    if (thrown instanceof Error) return thrown.message === "" ? thrown.name : String(thrown.message);
    const text = String(thrown);
    return text === "[object Object]" ? describeObject(thrown as object) : text;
  } catch {
    return "a value that cannot be printed";
  }
}

/** Libraries throw plain objects, too: what such a one says of itself, else its fields. */
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
 * A value as an error message shows it: short, and never a failure of its own.
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
