import type { Block, ToolResultBlock } from "#domain";
import { isRecord, ownString } from "#wire";
import type { ModelPrompt } from "../prompt.ts";

/** The last thing the user said, and what tools have answered since. */
export interface Question {
  readonly text: string;
  /** Calls made since, in order, with what came back. */
  readonly answers: readonly ToolAnswer[];
}

export interface ToolAnswer {
  readonly name: string;
  readonly input: unknown;
  readonly text: string;
  readonly isError: boolean;
}

/** Coding agents put notes to the model into the user's messages and behind results; nobody asked or said those. */
const NOTE_START = "<system-reminder>";
const NOTE_END = "</system-reminder>";

/** Reads a prompt as a question. */
export function findQuestion(prompt: ModelPrompt): Question {
  const { messages } = prompt;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== "user") continue;
    const text = readText(message.blocks);
    if (text !== "" && !isComplaint(text)) return { text, answers: readAnswers(prompt, index) };
  }
  return { text: "", answers: readAnswers(prompt, -1) };
}

/** Whether all that is said is that an answer had the wrong form: then the question before it is still open. */
function isComplaint(text: string): boolean {
  return (
    /^your (last )?(answer|reply)\b[^.:\n]{0,80}\b(schema|json)\b/i.test(text) ||
    /^give your answer by calling the tool\b/i.test(text)
  );
}

function readText(blocks: readonly Block[]): string {
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type !== "text") continue;
    const text = removeNotes(block.text).trim();
    if (text !== "") texts.push(text);
  }
  return texts.join("\n");
}

function removeNotes(text: string): string {
  let kept = "";
  let from = 0;
  for (;;) {
    const start = text.indexOf(NOTE_START, from);
    const end = start === -1 ? -1 : text.indexOf(NOTE_END, start);
    if (end === -1) return kept + text.slice(from);
    kept += text.slice(from, start);
    from = end + NOTE_END.length;
  }
}

function readAnswers(prompt: ModelPrompt, after: number): ToolAnswer[] {
  const calls = new Map<string, { readonly name: string; readonly input: unknown }>();
  const answers: ToolAnswer[] = [];
  for (const [index, message] of prompt.messages.entries()) {
    for (const block of message.blocks) {
      if (block.type === "tool-call") calls.set(block.callId, { name: block.name, input: block.input });
      if (block.type !== "tool-result" || index <= after) continue;
      const call = calls.get(block.callId) ?? { name: "the tool", input: {} };
      const text = removeNotes(readOutput(block.output)).trim();
      answers.push({ ...call, text, isError: isFailure(block, text) });
    }
  }
  return answers;
}

/** What a tool returned, as text. */
function readOutput(output: unknown): string {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) return output.map(readOutput).join("\n");
  if (isRecord(output)) {
    const text = ownString(output, "text");
    if (text !== undefined) return text;
    // Hosts that only take objects get a bare value under one name.
    const values = Object.values(output);
    const only = values[0];
    if (values.length === 1 && (typeof only !== "object" || only === null)) return String(only);
  }
  return JSON.stringify(output) ?? "";
}

/** OpenAI's protocols have no mark for a failed tool, so its words have to say it. */
function isFailure(block: ToolResultBlock, text: string): boolean {
  return block.isError || /^(error|failed|failure)\b/i.test(text) || isComplaint(text);
}
