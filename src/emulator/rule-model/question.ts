import type { Block, ToolResultBlock } from "#domain";
import { isRecord, ownString } from "#wire";
import type { ModelPrompt } from "../prompt.ts";

/** The last message of the user, and the tool results since then. */
export interface Question {
  readonly text: string;
  /** The calls since then, in order, with their results. */
  readonly answers: readonly ToolAnswer[];
}

export interface ToolAnswer {
  readonly name: string;
  readonly input: unknown;
  readonly text: string;
  readonly isError: boolean;
}

/** Coding agents insert notes for the model into the user's messages and after results. They are not part of either. */
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

/** Whether the text only reports that an answer had the wrong form: then the question before it is still open. */
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

/** A tool's output as text. */
function readOutput(output: unknown): string {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) return output.map(readOutput).join("\n");
  if (isRecord(output)) {
    const text = ownString(output, "text");
    if (text !== undefined) return text;
    // Hosts that accept only objects get a bare value under one name.
    const values = Object.values(output);
    const only = values[0];
    if (values.length === 1 && (typeof only !== "object" || only === null)) return String(only);
  }
  return JSON.stringify(output) ?? "";
}

/** OpenAI's protocols do not mark a failed tool, so the text must show it. */
function isFailure(block: ToolResultBlock, text: string): boolean {
  return block.isError || /^(error|failed|failure)\b/i.test(text) || isComplaint(text);
}

/** The subject of a question, as far as its words show it. */
export interface Subject {
  /** What follows "in", "for", "of" …: one or more places, names or things. */
  readonly names: readonly string[];
  /** Text in quotation marks or backticks. */
  readonly quoted: readonly string[];
  readonly numbers: readonly number[];
}

const PREPOSITIONS: ReadonlySet<string> = new Set("in for of about to at on from named called".split(" "));
const ENDINGS: ReadonlySet<string> = new Set(
  "today tomorrow tonight now please and or but is are was were right this next using with by then".split(" "),
);
const ARTICLES: ReadonlySet<string> = new Set("the a an my our your".split(" "));
const LONGEST = 200;

/** Reads the subject of a question. Linear in the question. */
export function readSubject(question: string): Subject {
  return {
    names: readNames(question),
    quoted: [...question.matchAll(/"([^"\n]+)"|“([^”\n]+)”|`([^`\n]+)`/g)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? "",
    ),
    numbers: (question.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number),
  };
}

interface Word {
  readonly text: string;
  /** Punctuation directly after it. */
  readonly mark: string;
}

function readNames(question: string): string[] {
  const words = [...question.matchAll(/([^\s?!.,;:]+(?:[.:][^\s?!.,;:]+)*)([?!.,;:]*)/g)].map(
    (match): Word => ({ text: match[1] ?? "", mark: match[2] ?? "" }),
  );
  for (const [index, word] of words.entries()) {
    if (!PREPOSITIONS.has(word.text.toLowerCase()) || word.mark !== "") continue;
    let start = index + 1;
    while (ARTICLES.has(words[start]?.text.toLowerCase() ?? "")) start += 1;
    const names = readList(words, start);
    if (names.length > 0) return names;
  }
  return [];
}

/** "Paris", "New York and Rome", "red shoes". */
function readList(words: readonly Word[], start: number): string[] {
  const names: string[] = [];
  const isNamed = isCapital(words[start]?.text);
  let current: string[] = [];
  for (const word of words.slice(start)) {
    const isJoint = word.text.toLowerCase() === "and" && isNamed;
    const isEnd = !isJoint && (isNamed ? !isCapital(word.text) : ENDINGS.has(word.text.toLowerCase()));
    if (isEnd) break;
    if (!isJoint) current.push(word.text);
    if ((isJoint || word.mark !== "") && current.length > 0) {
      names.push(current.join(" ").slice(0, LONGEST));
      current = [];
    }
    if (word.mark !== "" && !(isNamed && word.mark === ",")) return names;
  }
  return current.length === 0 ? names : [...names, current.join(" ").slice(0, LONGEST)];
}

function isCapital(word: string | undefined): boolean {
  return word !== undefined && /^\p{Lu}/u.test(word);
}

const NAME_PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;

/** Words of a tool's name that do not show its purpose. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  "get set fetch find list do run make create tool tools mcp api call the of for to in on by with and or is my your".split(
    " ",
  ),
);

/** The words of a tool's name in lower case: `get_weather`, `getWeather` and `mcp__sky__get-weather` give the same. */
export function readNameWords(name: string): string[] {
  const own = name.split("__").at(-1) ?? name;
  return (own.match(NAME_PART) ?? []).map((word) => word.toLowerCase());
}

/** The words of a name that show its purpose, without plural endings. */
export function readTopicWords(name: string): string[] {
  return readNameWords(name)
    .filter((word) => word.length > 2 && !EMPTY_WORDS.has(word))
    .map(singular);
}

/** The words of a sentence in lower case, without plural endings. */
export function readWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(singular);
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
