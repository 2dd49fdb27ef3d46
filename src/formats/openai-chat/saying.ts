import { isRecord, type JsonRecord, type Saying } from "#wire";
import type { LooseFragment } from "../tool-call-assembler.ts";
import { readFragment } from "./delta.ts";

/** What a chunk says that adds one text to the reply and nothing else. */
export interface ChatSaying extends Saying {
  /** What the text is added to. */
  readonly to: "text" | "thinking" | "call";
  /** The rest of the fragment, when it is added to a call. */
  readonly fragment: LooseFragment | undefined;
}

/** What a chunk says, unless it says anything else that the decoder would look at. */
export function findSaying(chunk: unknown, name: string): ChatSaying | undefined {
  if (!isRecord(chunk) || name === "error" || chunk.object === "error" || chunk.error || isRecord(chunk.usage)) {
    return undefined;
  }
  const choice = Array.isArray(chunk.choices) && chunk.choices.length === 1 ? (chunk.choices[0] as unknown) : undefined;
  if (!isRecord(choice) || (choice.index ?? 0) !== 0 || choice.error || choice.finish_reason) return undefined;
  // Padding against those who look at the length of what is sent.
  const noiseKey = typeof chunk.obfuscation === "string" ? "obfuscation" : undefined;
  return isRecord(choice.delta) ? findInDelta(choice.delta, noiseKey) : undefined;
}

function findInDelta(delta: JsonRecord, noiseKey: string | undefined): ChatSaying | undefined {
  const fields = Object.entries(delta).filter(([key, value]) => key !== "role" && value !== null);
  const [key, value] = fields.length === 1 ? (fields[0] as [string, unknown]) : [];
  if (key === "content") return asSaying(key, value, "text", noiseKey);
  if (key === "reasoning_content" || key === "reasoning") return asSaying(key, value, "thinking", noiseKey);
  const call = key === "tool_calls" && Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : undefined;
  if (!isRecord(call) || !isRecord(call.function)) return undefined;
  const { arguments: written } = call.function;
  return asSaying("arguments", written, "call", noiseKey, readFragment(call, call.function));
}

function asSaying(
  key: string,
  said: unknown,
  to: ChatSaying["to"],
  noiseKey: string | undefined,
  fragment?: LooseFragment,
): ChatSaying | undefined {
  return typeof said === "string" && said !== "" ? { said, key, noiseKey, to, fragment } : undefined;
}
