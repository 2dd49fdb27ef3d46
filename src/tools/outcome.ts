import { describeThrown } from "#domain";
import { toJsonPrefix } from "./json-value.ts";
import { ParkedCall } from "./park.ts";

/** The typed value of one tool execution inside the loop. It becomes a tool result. */
export type Outcome =
  | { readonly kind: "returned"; readonly output: unknown }
  | { readonly kind: "failed"; readonly output: string; readonly why: FailureReason }
  /** The result comes later: at the time, or when somebody gives it. */
  | { readonly kind: "parked"; readonly until?: number | undefined; readonly output?: unknown };

/** The outcome of a call that has its result. */
export type SettledOutcome = Exclude<Outcome, { readonly kind: "parked" }>;

/** Why a tool returned no value. `thrown` includes `ToolFailure`, whose message goes to the model unchanged. */
export type FailureReason = "unknown-tool" | "invalid-input" | "thrown" | "timeout" | "aborted" | "unprintable";

/** Longer results are truncated before a model sees them. */
export const MAX_RESULT_CHARACTERS = 256 * 1024;

/**
 * A tool's return value as the JSON that is sent: `undefined` becomes an empty text, text stays text, an `Error` is a
 * failure, and everything else gets its JSON form (`toJsonValue`) or becomes a failure with the reason. A value over
 * the limit is truncated, with a mark. No more of it is read than is kept, however many members it has.
 */
export function toOutcome(value: unknown, maxCharacters = MAX_RESULT_CHARACTERS): Outcome {
  if (value === undefined) return { kind: "returned", output: "" };
  if (value instanceof ParkedCall) return { kind: "parked", until: value.until, output: value.output };
  if (typeof value === "string") return { kind: "returned", output: cut(value, maxCharacters) };
  if (value instanceof Error) {
    return { kind: "failed", why: "thrown", output: `The tool failed: ${describeThrown(value)}` };
  }
  if (typeof value === "function" || typeof value === "symbol") {
    return { kind: "failed", why: "unprintable", output: `The tool returned a ${typeof value}, which is not JSON.` };
  }
  try {
    const { value: output, isWhole } = toJsonPrefix(value, maxCharacters);
    const text = JSON.stringify(output);
    if (!isWhole) return { kind: "returned", output: `${text.slice(0, maxCharacters)}\n${CUT}` };
    return { kind: "returned", output: text.length > maxCharacters ? cut(text, maxCharacters) : output };
  } catch (error) {
    const why = describeThrown(error).split("\n")[0];
    return { kind: "failed", why: "unprintable", output: `The tool returned a value that is not JSON: ${why}.` };
  }
}

/** The mark of a value that was not read to its end, so that its full length is unknown. */
const CUT = "[cut: the rest of the value is left out]";

function cut(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters)}\n[cut: ${text.length - maxCharacters} of ${text.length} characters left out]`;
}
