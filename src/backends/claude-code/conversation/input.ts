import { type Block, type MediaBlock, type Message, unreachable } from "#domain";
import type { AgentLink } from "../../backend.ts";
import { encodeMessagesMedia, isMedia, outputText, splitContent } from "#dialects";
import type { ClaudeCodeOptions } from "../options.ts";

/** The input of the CLI for one turn. */
export interface CliInput {
  /** The whole input as text. */
  readonly text: string;
  /** The input as the CLI's own blocks; `undefined` if text is enough. */
  readonly blocks: readonly unknown[] | undefined;
}

/** The messages to send: a CLI that does not have the conversation receives all of it. */
export function toTell(
  messages: readonly Message[],
  link: Pick<AgentLink, "transcript">,
  isKnown: boolean,
): readonly Message[] {
  return isKnown ? messages : (link.transcript ?? messages);
}

/**
 * The input that the CLI needs to answer the last message.
 *
 * `isKnown`: the CLI has the conversation, and only what follows its last answer is new. Otherwise the whole
 * conversation is written into the prompt (S3-30), because the CLI accepts no foreign history.
 */
export function renderInput(
  messages: readonly Message[],
  isKnown: boolean,
  options: Pick<ClaudeCodeOptions, "slashCommands"> = {},
): CliInput {
  const lastAnswer = messages.findLastIndex((message) => message.role === "assistant");
  const fresh = messages.slice(lastAnswer + 1);
  const earlier = isKnown ? [] : messages.slice(0, lastAnswer + 1);
  const question = fresh.map(renderMessage).join("\n\n");
  const written = earlier.length === 0 ? question : `${renderHistory(earlier)}\n\n${question}`;
  const text = options.slashCommands === true ? written : asPlainText(written);
  const media = [...earlier, ...fresh].flatMap(({ blocks }) => blocks.flatMap(mediaOf));
  if (media.length === 0) return { text, blocks: undefined };
  const words = text.trim() === "" ? [] : [{ type: "text", text }];
  return { text, blocks: [...words, ...media.map(encodeMessagesMedia)] };
}

/** Pictures and documents of a block: its own, or those that a tool returned. */
function mediaOf(block: Block): readonly MediaBlock[] {
  if (block.type === "tool-result") return splitContent(block.output).media;
  return isMedia(block) ? [block] : [];
}

/**
 * Text that the CLI cannot mistake for one of its commands. It runs everything that begins with `/` as a command
 * instead of asking the model, and has no option to disable that.
 */
export function asPlainText(text: string): string {
  return /^\s*\//.test(text) ? `The user says:\n${text}` : text;
}

/** A user message as a line of stream-json input. */
export function userLine({ text, blocks }: CliInput, uuid: string | undefined): string {
  return `${JSON.stringify({
    type: "user",
    message: { role: "user", content: blocks ?? text },
    parent_tool_use_id: null,
    session_id: "",
    ...(uuid !== undefined && { uuid }),
  })}\n`;
}

function renderHistory(messages: readonly Message[]): string {
  const lines = messages
    .map((message) => [message.role === "assistant" ? "Assistant" : "User", renderMessage(message)] as const)
    .filter(([, text]) => text.trim() !== "")
    .map(([who, text]) => `${who}: ${text}`);
  return ["<conversation>", ...lines, "</conversation>", "", "Go on with this conversation. The user now says:"].join(
    "\n",
  );
}

function renderMessage({ blocks }: Message): string {
  return blocks
    .map(renderBlock)
    .filter((text) => text !== "")
    .join("\n");
}

function renderBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "tool-call":
      return `[tool call ${block.name}: ${JSON.stringify(block.input) ?? ""}]`;
    case "tool-result":
      return `[tool result${block.isError ? ", failed" : ""}: ${outputText(splitContent(block.output).value)}]`;
    case "thinking":
    case "image":
    case "document":
    case "audio":
    case "unknown":
      return "";
    default:
      return unreachable(block);
  }
}
