import {
  type Diagnostic,
  type ErrorItem,
  isRecord,
  present,
  type StartError,
  unreachable,
  type WarningItem,
} from "#domain";
import type { ItemDiagnostic, ItemError, ItemWarning } from "./item.ts";
import { WARNING_NAMES } from "./item-names.ts";
import { asText } from "./json-text.ts";

/**
 * Translates an `error` event to its canonical name. An error without one is a `ProcessError` if it ends the run, and
 * otherwise an `UnexpectedMessageError` that contains it whole.
 */
export function toItemError(event: ErrorItem): ItemError {
  const { code, message, diagnostic, raw } = event;
  switch (code) {
    case "json-decode":
    case "line-too-long":
      return { type: "JsonDecodeError", line: raw?.json || (diagnostic?.seen ?? ""), error: message };
    case "utf8-decode":
      return { type: "Utf8DecodeError", raw_bytes: raw?.bytes ?? new Uint8Array() };
    case "unexpected-message":
      return { type: "UnexpectedMessageError", raw_json: raw?.json || (diagnostic?.seen ?? "") };
    case "buffer-overflow":
      if (diagnostic?.limitBytes === undefined) return { type: "BufferOverflow" };
      return { type: "BufferOverflow", limit_bytes: diagnostic.limitBytes };
    case "too-many-decode-errors":
      return { type: "TooManyDecodeErrors", count: diagnostic?.count ?? 0, last_error: message };
    default:
      if (!event.terminal) {
        return { type: "UnexpectedMessageError", raw_json: raw?.json || asText({ type: "error", code, message }) };
      }
      return {
        type: "ProcessError",
        exit_code: diagnostic?.exitCode ?? null,
        diagnostic: toItemDiagnostic(message, diagnostic),
        code,
      };
  }
}

/**
 * Whether the error ends the stream.
 *
 * @example
 * const { nonTerminalErrors } = await collect(run("offline", "Hello"))
 * console.log(nonTerminalErrors.some(isTerminal)) // false
 */
export function isTerminal(error: ItemError): boolean {
  switch (error.type) {
    case "ProcessError":
    case "BufferOverflow":
    case "TooManyDecodeErrors":
      return true;
    case "JsonDecodeError":
    case "Utf8DecodeError":
    case "UnexpectedMessageError":
      return false;
    default:
      return unreachable(error);
  }
}

/**
 * One or more readable lines for an error of the stream or a start error.
 *
 * @example
 * const { terminalError } = await collect(run("offline", "Hello"))
 * if (terminalError) console.error(errorToString(terminalError))
 */
export function errorToString(error: ItemError | StartError): string {
  if ("name" in error) return `${error.name} (${error.code}): ${error.message}`;
  switch (error.type) {
    case "ProcessError": {
      const { exit_code_hint, troubleshooting, stderr_tail } = error.diagnostic;
      const status = error.exit_code === null ? error.code : `exit code ${error.exit_code}`;
      const lines = [`ProcessError (${status}): ${exit_code_hint}`, troubleshooting, stderr_tail ?? ""];
      return lines.filter((line) => line !== "").join("\n");
    }
    case "BufferOverflow":
      if (error.limit_bytes === undefined) return "BufferOverflow: a line was longer than the limit.";
      return `BufferOverflow: a line was longer than the limit of ${error.limit_bytes} bytes.`;
    case "TooManyDecodeErrors":
      return `TooManyDecodeErrors: ${error.count} lines in a row could not be read; the last: ${error.last_error}`;
    case "JsonDecodeError":
      return `JsonDecodeError: ${error.error}: ${error.line}`;
    case "Utf8DecodeError":
      return `Utf8DecodeError: a line of ${error.raw_bytes.length} bytes is not UTF-8.`;
    case "UnexpectedMessageError":
      return `UnexpectedMessageError: ${error.raw_json}`;
    default:
      return unreachable(error);
  }
}

export function toItemWarning(event: WarningItem): ItemWarning {
  const { code, message, context, expected } = event;
  const exitCode = code === "non-zero-exit-after-result" ? readExitCode(context) : undefined;
  return {
    code: WARNING_NAMES[code],
    message,
    ...(context !== undefined && { context: contextText(context) }),
    ...present({ exit_code: exitCode, expected }),
  };
}

function toItemDiagnostic(message: string, diagnostic: Diagnostic = {}): ItemDiagnostic {
  const { lastNonJsonLine, stdoutWasEmpty, hint, troubleshooting, stderrTail } = diagnostic;
  return {
    ...(lastNonJsonLine !== undefined && { last_non_json_line: lastNonJsonLine }),
    stdout_was_empty: stdoutWasEmpty ?? false,
    exit_code_hint: hint ?? message,
    troubleshooting: troubleshooting ?? "",
    ...(stderrTail !== undefined && { stderr_tail: stderrTail }),
  };
}

/** If the context is a line, its text is enough. */
function contextText(context: unknown): string {
  return isRecord(context) && typeof context["text"] === "string" ? context["text"] : asText(context);
}

function readExitCode(context: unknown): number | undefined {
  const found = isRecord(context) ? (context["exitCode"] ?? context["code"]) : context;
  return typeof found === "number" ? found : undefined;
}
