import { compareTexts } from "./compare.ts";
import { describeChange } from "./difference.ts";
import { recordedText, sentText } from "./settled-text.ts";
import type { WireContext } from "./wire-context.ts";

// What a wire player loads when it is needed.

export { createWireFetch } from "./wire-fetch.ts";
export { createWireSpawn } from "./wire-spawn.ts";

/** Compares a file that is written for a process with the recorded one of the same number, from 1. */
export function compareFile(context: WireContext, number: number, text: string): void {
  const entry = context.tape.entries.find((one) => one.type === "answer" && one.key === `files.write#${number}`);
  const kept = entry?.type === "answer" && "value" in entry ? (entry.value as { text?: unknown } | null) : undefined;
  // Tapes of earlier versions do not contain the written text.
  if (typeof kept?.text !== "string") return;
  const differences = compareTexts("text", recordedText(context, kept.text), sentText(context, text));
  if (differences.length > 0) context.differ(describeChange(`file ${number} for a process`, differences));
}
