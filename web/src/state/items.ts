import { adviceFor } from "../../../src/domain/advice.ts";
import type { Diagnostic } from "../../../src/domain/index.ts";
import type { ReportEntry } from "../../../src/domain/report-entry.ts";

/** One entry of a conversation, as the page shows it. */
export type Item = UserItem | TextItem | ToolItem | HandoffRow | ReportItem | NoteItem;

export interface UserItem {
  readonly kind: "user";
  readonly key: string;
  readonly text: string;
}

export interface TextItem {
  readonly kind: "text" | "thinking";
  readonly key: string;
  readonly messageId: string;
  readonly index: number;
  readonly text: string;
  readonly agent: string | undefined;
  /** The call id of the sub-agent that wrote it. */
  readonly parent: string | undefined;
  /** Whether more may follow. */
  readonly isOpen: boolean;
}

/**
 * `writing`: its arguments are still arriving. `asked`: a person must decide. `parked`: its result comes from elsewhere, or
 * at a time.
 */
export type ToolState = "writing" | "asked" | "running" | "parked" | "done";

export interface ToolItem {
  readonly kind: "tool";
  readonly key: string;
  readonly callId: string;
  readonly messageId: string | undefined;
  readonly name: string;
  readonly agent: string | undefined;
  readonly parent: string | undefined;
  /** The arguments while they are being written. */
  readonly json: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly isError: boolean;
  /** Why the tool was not run. */
  readonly skipped: string | undefined;
  readonly startedAt: number | undefined;
  readonly ms: number | undefined;
  readonly state: ToolState;
  /** When a parked call goes on by itself. */
  readonly until: number | undefined;
  /** The reason for the question. */
  readonly question: string | undefined;
  /** The reason if the call was denied. */
  readonly verdict: string | undefined;
}

export interface HandoffRow {
  readonly kind: "handoff";
  readonly key: string;
  readonly from: string | undefined;
  readonly to: string;
  readonly message: string;
}

/** What a tool has made or used, beside its result. */
export interface ReportItem {
  readonly kind: "report";
  readonly key: string;
  readonly tool: string;
  readonly verb: "made" | "used";
  readonly entries: readonly ReportEntry[];
  /** How many more there are. */
  readonly others: number;
}

/** What to do about an error. */
export interface Advice {
  readonly hint: string | undefined;
  readonly steps: readonly string[];
  /** The steps are for the operator of the server: they cannot be done on the page. */
  readonly isForOperator: boolean;
  /** The end of the program's output, or the frame that could not be read. */
  readonly seen: string | undefined;
}

export interface NoteItem {
  readonly kind: "note";
  readonly key: string;
  readonly level: "info" | "warning" | "error";
  readonly title: string;
  readonly text: string;
  readonly advice: Advice | undefined;
}

interface Called {
  readonly callId: string;
  readonly name: string;
  readonly agent?: string;
  readonly parent?: string;
  readonly messageId?: string;
}

/** Changes the card of a call, or appends a new one. */
export function changeTool(
  items: readonly Item[],
  call: Called,
  change: (tool: ToolItem) => ToolItem,
): readonly Item[] {
  const at = items.findLastIndex((item) => item.kind === "tool" && item.callId === call.callId);
  const known = items[at];
  return known?.kind === "tool" ? items.with(at, change(known)) : [...items, change(newTool(call))];
}

function newTool({ callId, name, agent, parent, messageId }: Called): ToolItem {
  return {
    kind: "tool",
    key: `tool-${callId}`,
    callId,
    messageId,
    name,
    agent,
    parent,
    json: "",
    input: undefined,
    output: undefined,
    isError: false,
    skipped: undefined,
    startedAt: undefined,
    ms: undefined,
    state: "writing",
    until: undefined,
    question: undefined,
    verdict: undefined,
  };
}

export function makeNote(
  key: string,
  level: NoteItem["level"],
  words: { readonly title: string; readonly text: string; readonly isForOperator?: boolean },
  diagnostic?: Diagnostic,
): NoteItem {
  const text = adviceFor("page", words.text);
  const advice = diagnostic === undefined ? undefined : adviceOf(diagnostic, words.isForOperator === true);
  return { kind: "note", key, level, title: words.title, text, advice };
}

function adviceOf(diagnostic: Diagnostic, isForOperator: boolean): Advice | undefined {
  const { hint, troubleshooting = "", stderrTail, seen } = diagnostic;
  const steps = troubleshooting
    .split("\n")
    .map((line) =>
      adviceFor("page", line)
        .replace(/^\s*(?:[-*•]|\d+[.)])\s+/, "")
        .trim(),
    )
    .filter((line) => line !== "");
  const evidence = stderrTail || seen;
  if (hint === undefined && steps.length === 0 && !evidence) return undefined;
  return { hint, steps, isForOperator, seen: evidence || undefined };
}
