import {
  type ErrorDetail,
  type ErrorItem,
  type HandoffItem,
  type NoticeItem,
  type PermissionItem,
  type RunResult,
  type StartItem,
  type ToolCallItem,
  type ToolResultItem,
  describeMs,
  readReportEntry,
} from "#domain";
import { isRecord, ownArray, ownNumber, ownString, ownValue } from "#wire";
import { plainLine } from "./display-width.ts";
import type { Palette } from "./palette.ts";
import { foldLine } from "./word-wrap.ts";

/** The output of the lines. */
export interface LineDisplay {
  readonly width: () => number;
  /** Whether warnings and errors are folded to the width. Otherwise each is one line: a file has no width. */
  readonly folds: boolean;
  /** Adapts warnings and errors to where they are shown. */
  readonly reword: (text: string) => string;
}

/**
 * The short lines next to a run's text. Untrusted text in them is plain, and each line fits the width; warnings and
 * errors may have several lines, because the remedy is at their end.
 */
export interface EventLines {
  toolCall(event: ToolCallItem): string;
  /** `name` is set if several calls are running. `ms` is the duration. */
  toolResult(event: ToolResultItem, about: { readonly name?: string; readonly ms?: number | undefined }): string;
  permission(event: PermissionItem): string;
  handoff(event: HandoffItem): string;
  /** A notice that is always of interest; `undefined` for the others. */
  notice(event: NoticeItem): string | undefined;
  /** Any notice, for the verbose output. */
  anyNotice(event: NoticeItem): string;
  start(event: StartItem): string;
  warning(message: string): string;
  error(event: ErrorItem): readonly string[];
  thought(characters: number, ms: number): string;
  /** Why a run did not succeed. */
  failure(error: ErrorDetail): readonly string[];
  closing(result: RunResult): string;
}

/** The maximum columns of a warning or error: it may contain a page of minified source. */
const MAX_ADVICE = 2000;

export function createEventLines(palette: Palette, { width: columnsNow, folds, reword }: LineDisplay): EventLines {
  const { dim, red, yellow } = palette;
  const line = (text: string, columns = columnsNow()): string => plainLine(text, columns);
  /** A line that is not cut, with `mark` before it. */
  const whole = (mark: string, text: string): string => {
    const plain = plainLine(reword(text), MAX_ADVICE);
    return mark + (folds ? foldLine(plain, columnsNow() - 1, mark.length) : plain);
  };
  const failure = ({ message, diagnostic }: Pick<ErrorDetail, "message" | "diagnostic">): readonly string[] => {
    const { hint, troubleshooting } = diagnostic ?? {};
    const advice = [...(hint === undefined ? [] : [hint]), ...(troubleshooting?.split("\n") ?? [])];
    return [red(whole("✗ ", message)), ...advice.map((text) => dim(whole("  ", text)))];
  };
  return {
    toolCall: (event) =>
      dim(indented(event, (room) => line(`→ ${event.name} ${jsonText(event.input)}`, room), columnsNow())),
    toolResult(event, { name, ms }) {
      const output = typeof event.output === "string" ? event.output : jsonText(event.output);
      const took = ms === undefined ? "" : ` (${describeMs(ms)})`;
      const prefix = name === undefined ? "" : `${name}: `;
      const text = indented(event, (room) => line(`← ${prefix}${output}`, room - took.length) + took, columnsNow());
      return event.isError ? red(text) : dim(text);
    },
    permission(event) {
      const reason = event.reason === undefined ? "" : `, ${event.reason}`;
      return yellow(line(`? ${event.name}: ${event.state}${reason}`));
    },
    handoff: (event) => dim(line(`⇒ ${event.from} hands over to ${event.to}: ${event.message}`)),
    notice(event) {
      const report = describeReport(event);
      if (report !== undefined) return dim(line(`· ${report}`));
      const text = describeNotice(event);
      return text === undefined ? undefined : yellow(line(`… ${text}`));
    },
    anyNotice: (event) => dim(line(`· ${event.kind} ${jsonText(event.data)}`)),
    start(event) {
      const model = event.model === undefined ? "" : `, ${event.model}`;
      const session = event.sessionId === undefined ? "" : `, session ${event.sessionId}`;
      const tools = event.tools === undefined ? "" : `, ${count(event.tools.length, "tool")}`;
      return dim(line(`· ${event.backend} (${event.mode})${model}${session}${tools}`));
    },
    warning: (message) => yellow(whole("! ", message)),
    error: failure,
    failure,
    thought: (characters, ms) => dim(line(`· thought for ${describeMs(ms)}, ${count(characters, "character")}`)),
    closing: (result) => dim(whole("", closingLine(result))),
  };
}

/** Lines of a sub-agent are indented. */
function indented(event: { readonly parent?: string }, write: (room: number) => string, width: number): string {
  return event.parent === undefined ? write(width) : `  ${write(width - 2)}`;
}

function describeNotice({ kind, data }: NoticeItem): string | undefined {
  const fields = isRecord(data) ? data : {};
  const text = (name: string): string => ownString(fields, name) ?? "?";
  if (kind === "retry") {
    return `trying again (${ownNumber(fields, "attempt") ?? "?"}): ${ownString(fields, "message") ?? "no reason given"}`;
  }
  if (kind === "fallback") return `${text("from")} is down, asking ${text("to")}`;
  if (kind === "call-parked") {
    const until = ownNumber(fields, "until");
    const wait = until === undefined ? "its result comes from elsewhere" : `waiting until ${describeTime(until)}`;
    return `${text("name")}: ${wait}`;
  }
  if (kind === "stall") return `silent for ${describeMs(ownNumber(fields, "silentMs") ?? 0)}`;
  return undefined;
}

/** What a tool has made or used. */
function describeReport({ kind, data }: NoticeItem): string | undefined {
  if ((kind !== "artifact" && kind !== "documents") || !isRecord(data)) return undefined;
  const told = kind === "artifact" ? [ownValue(data, "artifact")] : (ownArray(data, "documents") ?? []);
  const words = told
    .map(readReportEntry)
    .map(({ label, href }) => label + (href && href !== label ? ` (${href})` : ""));
  return `${ownString(data, "name") ?? "?"} ${kind === "artifact" ? "made" : "used"} ${words.join(", ")}`;
}

/** A time that a tool gave may be any number. */
function describeTime(until: number): string {
  const isDate = Math.abs(until) <= 8.64e15;
  return isDate ? `${new Date(until).toISOString().slice(0, 16).replace("T", " ")} UTC` : String(until);
}

function closingLine(result: RunResult): string {
  const parts = [describeStatus(result), describeMs(result.ms)];
  const { inputTokens, outputTokens } = result.usage;
  if (inputTokens !== undefined || outputTokens !== undefined) {
    parts.push(`${inputTokens ?? "?"} tokens in, ${outputTokens ?? "?"} out`);
  }
  if (result.costUsd !== undefined && result.costUsd > 0) parts.push(`$${result.costUsd.toFixed(4)}`);
  if (result.toolCalls.length > 0) parts.push(count(result.toolCalls.length, "tool call"));
  return parts.join(" · ");
}

function describeStatus({ status, subtype, error, text }: RunResult): string {
  if (status === "success") return text.trim() === "" ? "done: the answer is empty" : "done";
  // An abort has no further reason: its subtype is the same word.
  if (status !== "error") return status;
  // An agent may report the failure of its model as a successful result with an error in it.
  return `failed: ${subtype === "success" ? (error?.code ?? "failed-result") : subtype}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? "";
}
