import { compareTexts } from "./compare.ts";
import { describeChange } from "./difference.ts";
import { recordedText, sentText } from "./settled-text.ts";
import type { WireContext } from "./wire-context.ts";

/** Compares a file that is written for a process with the one that was written with this number, from 1. */
export function compareFile(desk: WireContext, number: number, text: string): void {
  const entry = desk.tape.entries.find((one) => one.type === "answer" && one.key === `files.write#${number}`);
  const kept = entry?.type === "answer" && "value" in entry ? (entry.value as { text?: unknown } | null) : undefined;
  // Tapes of earlier versions do not hold what was written.
  if (typeof kept?.text !== "string") return;
  const differences = compareTexts("text", recordedText(desk, kept.text), sentText(desk, text));
  if (differences.length > 0) desk.differ(describeChange(`file ${number} for a process`, differences));
}
