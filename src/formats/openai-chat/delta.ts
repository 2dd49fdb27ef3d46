import type { Chunk } from "#domain";
import { isRecord, type JsonRecord, ownArray, ownString } from "#wire";
import { writeJson } from "../json-text.ts";
import type { LooseFragment } from "../tool-call-assembler.ts";
import { keepUnknown, type Reply, writeFragment, writeText, writeThinking } from "./reply.ts";

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "refusal",
  "reasoning",
  "reasoning_content",
  "tool_calls",
  "function_call",
]);

const NOTHING: JsonRecord = {};

/** Writes what one `delta` adds to the reply. */
export function decodeDelta(reply: Reply, delta: JsonRecord, chunks: Chunk[]): void {
  // Two names for one thing: a host that sends both sends the same text twice.
  const reasoning = delta.reasoning_content ?? delta.reasoning;
  if (typeof reasoning === "string") writeThinking(reply, reasoning, chunks);

  const content = delta.content;
  if (typeof content === "string") writeText(reply, content, chunks);
  else if (Array.isArray(content)) for (const part of content) decodePart(reply, part, chunks);

  const refusal = delta.refusal;
  if (typeof refusal === "string" && refusal !== "") {
    reply.hasRefused = true;
    writeText(reply, refusal, chunks);
  }

  const calls = delta.tool_calls;
  if (Array.isArray(calls)) {
    for (const call of calls) if (isRecord(call)) writeFragment(reply, readFragment(call, call.function), chunks);
  }

  // The older form knows one call per reply and no ids. One made here lets its arguments be shown as they come.
  const legacy = delta.function_call;
  if (isRecord(legacy)) writeFragment(reply, readFragment({ id: reply.legacyCallId }, legacy), chunks);
}

/** Whether a delta says something under a name this dialect does not know. */
export function hasUnknownField(delta: JsonRecord): boolean {
  return Object.keys(delta).some((key) => !KNOWN_FIELDS.has(key) && delta[key] !== null);
}

/** Some hosts send content as a list of typed parts instead of one text. */
function decodePart(reply: Reply, part: unknown, chunks: Chunk[]): void {
  if (typeof part === "string") return writeText(reply, part, chunks);
  if (!isRecord(part)) return keepUnknown(reply, part);
  const text = ownString(part, "text");
  if ((part.type === "text" || part.type === undefined) && text !== undefined) return writeText(reply, text, chunks);
  if (part.type === "thinking") return writeThinking(reply, readThinking(part), chunks);
  keepUnknown(reply, part);
}

function readThinking(part: JsonRecord): string {
  const pieces = ownArray(part, "thinking") ?? [];
  const texts = pieces.map((piece) => (isRecord(piece) ? (ownString(piece, "text") ?? "") : ""));
  return ownString(part, "thinking") ?? texts.join("");
}

// Every field is written, known or not: fragments are a hot path, and one literal gives one hidden class.
export function readFragment(call: JsonRecord, called: unknown): LooseFragment {
  const { index, id } = call;
  const { name, arguments: written } = isRecord(called) ? called : NOTHING;
  return {
    index: typeof index === "number" ? index : undefined,
    id: typeof id === "string" ? id : undefined,
    name: typeof name === "string" ? name : undefined,
    argumentsDelta: readArguments(written),
  };
}

/** Arguments are JSON text; some hosts send the object itself, always whole. */
function readArguments(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return isRecord(value) ? writeJson(value) : undefined;
}
