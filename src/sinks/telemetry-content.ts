import { type Block, type Message, unreachable } from "#domain";
import { finishReason } from "./telemetry-names.ts";

/** The maximum characters of content in one attribute; the rest is cut, as most back ends would do. */
export const MAX_CONTENT = 32_768;

/** Messages as one attribute, according to the conventions: always complete JSON, even if content had to be cut. */
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
      // The bytes themselves are of no use in a trace.
      return { type: block.type, ...(block.mediaType !== undefined && { mime_type: block.mediaType }) };
    case "unknown":
      return { type: "unknown" };
    default:
      return unreachable(block);
  }
}

/** A value that fits is kept; otherwise it becomes the beginning of its JSON text. */
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

/** The beginning of a text, without splitting a character. */
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
