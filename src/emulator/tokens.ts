import { type Block, unreachable } from "#domain";
import type { ModelPrompt } from "./prompt.ts";

/** Estimates about four characters per token. Deterministic, and accurate enough here. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** The tokens of a whole prompt. */
export function estimatePrompt(prompt: ModelPrompt): number {
  return estimatePrefix(prompt) + estimateLast(prompt);
}

/**
 * The tokens of everything except the last message: the part that a second request of a conversation shares with the
 * first.
 */
export function estimatePrefix(prompt: ModelPrompt): number {
  let tokens = estimateTokens(prompt.instructions);
  for (const tool of prompt.tools) {
    tokens += estimateTokens(tool.name) + estimateTokens(tool.description) + estimateTokens(write(tool.schema));
  }
  for (const message of prompt.messages.slice(0, -1)) tokens += estimateBlocks(message.blocks);
  return tokens;
}

function estimateLast(prompt: ModelPrompt): number {
  return estimateBlocks(prompt.messages.at(-1)?.blocks ?? []);
}

function estimateBlocks(blocks: readonly Block[]): number {
  let tokens = 3;
  for (const block of blocks) tokens += estimateBlock(block);
  return tokens;
}

function estimateBlock(block: Block): number {
  switch (block.type) {
    case "text":
    case "thinking":
      return estimateTokens(block.text);
    case "tool-call":
      return estimateTokens(block.name) + estimateTokens(write(block.input));
    case "tool-result":
      return estimateTokens(typeof block.output === "string" ? block.output : write(block.output));
    case "image":
    case "document":
    case "audio":
      return Math.ceil((block.data?.length ?? 0) / 1000) + 85;
    case "unknown":
      return estimateTokens(write(block.raw));
    default:
      return unreachable(block);
  }
}

function write(value: unknown): string {
  return JSON.stringify(value) ?? "";
}
