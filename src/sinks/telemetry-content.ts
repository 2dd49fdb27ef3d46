import { type Block, type Message, unreachable } from "#domain";
import { finishReason } from "./telemetry-names.ts";

/** So many characters of content go into one attribute; the rest is cut, and back ends would cut it anyway. */
export const MAX_CONTENT = 32_768;

/** Messages as the conventions write them into one attribute: JSON, whole also when content had to be cut. */
export function encodeMessages(messages: readonly Pick<Message, "role" | "blocks" | "stopReason">[]): string {
  const budget = { left: MAX_CONTENT };
  return JSON.stringify(
    messages.map(({ role, blocks, stopReason }) => ({
      role: blocks.length > 0 && blocks.every((block) => block.type === "tool-result") ? "tool" : role,
      parts: blocks.map((block) => asPart(block, budget)),
      ...(stopReason !== undefined && { finish_reason: finishReason(stopReason) }),
    })),
  );
}

/** A value as text for one attribute. */
export function encodeContent(value: unknown): string {
  return cut(typeof value === "string" ? value : asJson(value), { left: MAX_CONTENT });
}

interface Budget {
  left: number;
}

function asPart(block: Block, budget: Budget): unknown {
  switch (block.type) {
    case "text":
      return { type: "text", content: cut(block.text, budget) };
    case "thinking":
      return { type: "reasoning", content: cut(block.text, budget) };
    case "tool-call":
      return { type: "tool_call", id: block.callId, name: block.name, arguments: cutValue(block.input, budget) };
    case "tool-result":
      return { type: "tool_call_response", id: block.callId, response: cutValue(block.output, budget) };
    case "image":
    case "document":
    case "audio":
      // The bytes themselves help nobody who reads a trace.
      return { type: block.type, ...(block.mediaType !== undefined && { mime_type: block.mediaType }) };
    case "unknown":
      return { type: "unknown" };
    default:
      return unreachable(block);
  }
}

/** A value that fits stays a value; one that does not becomes the beginning of its text. */
function cutValue(value: unknown, budget: Budget): unknown {
  if (typeof value === "string") return cut(value, budget);
  const json = asJson(value);
  if (json.length > budget.left) return cut(json, budget);
  budget.left -= json.length;
  return value;
}

function cut(text: string, budget: Budget): string {
  const kept = text.length <= budget.left ? text : `${wholeCharacters(text, budget.left)}…`;
  budget.left = Math.max(0, budget.left - text.length);
  return kept;
}

/** The beginning of a text, without half a character at its end. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
