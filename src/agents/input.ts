import { checkBlocks } from "./check-blocks.ts";
import { type Block, type Message, StartError, type ToolResultBlock } from "#domain";

/**
 * A message as a caller gives it: the id may be left out, and plain text stands for one text block. `content` is what
 * other libraries call it: a text, or blocks.
 */
export type InputMessage =
  | (Omit<Message, "id"> & { readonly id?: string })
  | { readonly id?: string; readonly role: Message["role"]; readonly text: string }
  | { readonly id?: string; readonly role: Message["role"]; readonly content: string | readonly Block[] };

/** What a run is given: a prompt, or the conversation so far with the new message last. */
export type RunInput = string | readonly InputMessage[];

/**
 * Reads a caller's input as a transcript.
 *
 * @throws StartError `invalid-input` naming what is wrong with it.
 */
export function readInput(input: RunInput): readonly Message[] {
  if (typeof input === "string") {
    if (input.trim() === "")
      throw new StartError("invalid-input", "The prompt is empty. Give the model something to do.");
    return [{ id: "input-1", role: "user", blocks: [{ type: "text", text: input }] }];
  }
  if (!Array.isArray(input) || input.length === 0) {
    throw new StartError(
      "invalid-input",
      `The input is ${describe(input)}. Give a text or a list with at least one message.`,
    );
  }
  const messages = input.map(readMessage);
  if (messages.at(-1)?.role !== "user") {
    throw new StartError(
      "invalid-input",
      "The last message of the input is the assistant's. Give the user's message to answer last.",
    );
  }
  return repairPairs(messages);
}

function readMessage(message: InputMessage, index: number): Message {
  const field = `input[${index}]`;
  if (typeof message !== "object" || message === null)
    throw new StartError("invalid-input", `${field} is ${describe(message)}, not a message.`);
  if (message.role !== "user" && message.role !== "assistant") {
    throw new StartError(
      "invalid-input",
      `${field}.role is ${JSON.stringify(message.role)}. Use "user" or "assistant"; instructions are an option of the run: { instructions: "…" }.`,
    );
  }
  const id = message.id ?? `input-${index + 1}`;
  if ("text" in message && typeof message.text === "string") {
    return { id, role: message.role, blocks: [{ type: "text", text: message.text }] };
  }
  if ("content" in message && !("blocks" in message)) return readContent({ ...message, id }, field);
  if (!("blocks" in message) || !Array.isArray(message.blocks)) {
    throw new StartError("invalid-input", `${field} has neither text, content nor blocks. Give one of them.`);
  }
  const { blocks } = message;
  checkBlocks(blocks, field);
  return { ...(message as Message), id, blocks };
}

function readContent(
  { id, role, content }: { readonly id: string; readonly role: Message["role"]; readonly content: unknown },
  field: string,
): Message {
  if (typeof content === "string") return { id, role, blocks: [{ type: "text", text: content }] };
  if (!Array.isArray(content)) {
    throw new StartError("invalid-input", `${field}.content is ${describe(content)}. Give a text or a list of blocks.`);
  }
  checkBlocks(content, field, "content");
  return { id, role, blocks: content };
}

/**
 * Makes a transcript one that every vendor takes: each tool call answered right behind it, no answer without a call.
 * A conversation whose run was killed has such gaps, and a model host refuses it for ever because of them.
 */
export function repairPairs(messages: readonly Message[]): readonly Message[] {
  const repaired: Message[] = [];
  let open = new Set<string>();
  const answer = (): ToolResultBlock[] =>
    [...open].map((callId) => ({
      type: "tool-result",
      callId,
      output: "This tool call was never carried out: the run ended before.",
      isError: true,
    }));
  for (const message of messages) {
    if (message.role === "assistant") {
      if (open.size > 0) repaired.push({ id: `${message.id}-gap`, role: "user", blocks: answer() });
      open = new Set(message.blocks.flatMap((block) => (block.type === "tool-call" ? [block.callId] : [])));
      repaired.push(message);
      continue;
    }
    const blocks: Block[] = message.blocks.filter((block) => block.type !== "tool-result" || open.delete(block.callId));
    blocks.unshift(...answer());
    open = new Set();
    if (blocks.length > 0) repaired.push({ ...message, blocks });
  }
  if (open.size > 0) repaired.push({ id: `${repaired.at(-1)?.id}-gap`, role: "user", blocks: answer() });
  return repaired;
}

function describe(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "an empty list" : `a ${typeof value}`;
}
