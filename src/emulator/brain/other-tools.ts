import type { PromptTool } from "../prompt.ts";
import { buildInstance, type Source } from "./instance.ts";
import { isText, readChoices, readProperties } from "./schema.ts";
import type { Subject } from "./subject.ts";
import type { PlannedCall } from "./sum-tools.ts";
import { readNameWords, readTopicWords, readWords } from "./words.ts";

const HANDOFF = /^(transfer_to_|transfer-to-|handoff)/i;
const HANDOFF_WORDS: ReadonlySet<string> = new Set("transfer to handoff agent assistant team".split(" "));

/** Tools that take the answer itself, in the form it has to have: ours, and Claude Code's. */
const FINAL: ReadonlySet<string> = new Set(["final_answer", "StructuredOutput"]);

export function isFinal(name: string): boolean {
  return FINAL.has(name);
}

/** Whether a tool passes the conversation to another agent. */
export function isHandoff(name: string): boolean {
  return HANDOFF.test(name);
}

/** Picks the agent the question asks for, among the hand-offs that are offered. */
export function planHandoff(tools: readonly PromptTool[], source: Source): PlannedCall | undefined {
  const said = new Set(readWords(source.question));
  for (const tool of tools) {
    if (!isHandoff(tool.name)) continue;
    const targets = readNameWords(tool.name).filter((word) => !HANDOFF_WORDS.has(word));
    const choices = readProperties(tool.schema).flatMap((property) => readChoices(property.schema) ?? []);
    const names = targets.length > 0 ? targets : choices.flatMap((choice) => readNameWords(choice));
    if (names.some((name) => said.has(name) || said.has(name.replace(/s$/, "")))) return planCall(tool, source);
  }
  return undefined;
}

/** Picks the tool whose name has most words in common with the question; none when no name has any. */
export function pickTool(tools: readonly PromptTool[], question: string): PromptTool | undefined {
  const said = new Set(readWords(question));
  let best: PromptTool | undefined;
  let most = 0;
  for (const tool of tools) {
    if (isHandoff(tool.name)) continue;
    const shared = readTopicWords(tool.name).filter((word) => said.has(word)).length;
    if (shared > most) {
      best = tool;
      most = shared;
    }
  }
  return best;
}

/** Arguments for a tool, made from the question. */
export function planCall(tool: PromptTool, source: Source): PlannedCall {
  const input = buildInstance({ type: "object", ...tool.schema }, source);
  return { name: tool.name, input: input as Readonly<Record<string, unknown>> };
}

/** One call, or one for each of several names when the tool takes just one text: "the weather in Paris and Rome". */
export function planCalls(tool: PromptTool, source: Source, subject: Subject): PlannedCall[] {
  const required = readProperties(tool.schema).filter((property) => property.isRequired);
  const isOneText =
    required.length === 1 && required.every(({ schema }) => isText(schema) && readChoices(schema) === undefined);
  if (!isOneText || subject.quoted.length > 0 || subject.names.length < 2) return [planCall(tool, source)];
  return subject.names.slice(0, 8).map((name) => planCall(tool, { ...source, texts: [name] }));
}
