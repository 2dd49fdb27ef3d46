import { anthropicMessages } from "./anthropic/anthropic.ts";
import { claudeCode } from "./claude-code/claude-code.ts";
import type { Format } from "./format.ts";
import { gemini } from "./gemini/gemini.ts";
import { ndjson } from "./ndjson.ts";
import { openAiChat } from "./openai-chat/openai-chat.ts";
import { text } from "./text/text.ts";

/** A format with the other names it answers to. */
export interface FormatEntry {
  readonly format: Format;
  readonly aliases?: readonly string[];
}

/**
 * The formats that come with the package.
 *
 * @example
 * for (const { format } of builtInFormats()) console.log(format.name, format.description)
 */
export function builtInFormats(): readonly FormatEntry[] {
  return [
    { format: claudeCode, aliases: ["claude-agent-sdk", "@mlld/claude-agent-sdk", "anthropic"] },
    { format: anthropicMessages },
    { format: openAiChat },
    { format: gemini },
    { format: ndjson },
    { format: text },
  ];
}
