import type { EventOf } from "../../../src/domain/index.ts";
import { changeTool, type Item, makeNote } from "./items.ts";
import { reportItem } from "./reports.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The notices that are shown, with their text. All others are for machines. */
const SHOWN: ReadonlyMap<string, (fields: Fields) => string> = new Map<string, (fields: Fields) => string>([
  ["retry", ({ attempt, attempts, message }) => `Trying again${count(attempt, attempts)}${tail(message)}`],
  ["fallback", ({ from, to, message }) => `${String(from)} cannot answer, ${String(to)} goes on${tail(message)}`],
  ["stall", ({ silentMs }) => `Nothing has come for ${Math.round(Number(silentMs) / 1000)} seconds. Still waiting.`],
  ["rate-limit", () => "The provider limits how often it can be asked."],
  ["guard", ({ guard, reason }) => `The guard ${String(guard)} changed or held back a text${tail(reason)}`],
]);

export function applyNotice(items: readonly Item[], event: EventOf<"notice">): readonly Item[] {
  const fields: Fields = typeof event.data === "object" && event.data !== null ? (event.data as Fields) : {};
  if (event.kind === "retract") {
    const fromIndex = typeof fields["fromIndex"] === "number" ? fields["fromIndex"] : 0;
    return items.filter((item) => !isRetracted(item, fields["messageId"], fromIndex));
  }
  if (event.kind === "artifact" || event.kind === "documents") {
    const report = reportItem(`report-${event.seq}`, event.kind, fields);
    return report === undefined ? items : [...items, report];
  }
  if (event.kind === "call-parked") return parkTool(items, fields);
  const describe = SHOWN.get(event.kind);
  if (describe === undefined) return items;
  const note = makeNote(`note-${event.seq}`, "info", { title: "", text: describe(fields) });
  // One line shows how long the stream has been silent; it is replaced, not repeated.
  const last = items.at(-1);
  const isSameKind = event.kind === "stall" && last?.kind === "note" && last.text.startsWith("Nothing has come");
  return isSameKind ? [...items.slice(0, -1), note] : [...items, note];
}

function parkTool(items: readonly Item[], { callId, name, until }: Fields): readonly Item[] {
  if (typeof callId !== "string" || typeof name !== "string") return items;
  const time = typeof until === "number" ? until : undefined;
  return changeTool(items, { callId, name }, (tool) =>
    tool.state === "done" ? tool : { ...tool, state: "parked", until: time },
  );
}

function isRetracted(item: Item, messageId: unknown, fromIndex: number): boolean {
  if (item.kind === "text" || item.kind === "thinking") return item.messageId === messageId && item.index >= fromIndex;
  return item.kind === "tool" && item.messageId === messageId && item.state === "writing";
}

/** Logs of earlier versions lack the total for Claude Code. */
function count(attempt: unknown, attempts: unknown): string {
  if (typeof attempt !== "number") return "";
  return typeof attempts === "number" ? ` (${attempt} of ${attempts})` : ` (${attempt})`;
}

const tail = (message: unknown): string => (typeof message === "string" && message !== "" ? `: ${message}` : ".");
