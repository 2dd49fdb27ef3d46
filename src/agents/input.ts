import { checkBlocks } from "./check-blocks.ts";
import { type Block, type Message, StartError, type ToolResultBlock } from "#domain";

/**
 * A message as a caller gives it. The id is optional, and `text` is short for one text block. `content` is the name
 * that other libraries use: a text, or blocks.
 */
export type InputMessage =
  | (Omit<Message, "id"> & { readonly id?: string })
  | { readonly id?: string; readonly role: Message["role"]; readonly text: string }
  | { readonly id?: string; readonly role: Message["role"]; readonly content: string | readonly Block[] };

/** The input of a run: a prompt, or the conversation so far with the new message last. */
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
      `The input is ${describe(input)}. Give a string or a list with at least one message.`,
    );
  }
  const messages = input.map(readMessage);
  checkAnswers(messages);
  if (messages.at(-1)?.role !== "user") {
    throw new StartError(
      "invalid-input",
      "The last message of the input is the assistant's. Give the user's message to answer last.",
    );
  }
  return repairPairs(messages);
}

/** Rejects a tool result in the new message that answers no call. `repairPairs` would otherwise drop it silently. */
function checkAnswers(messages: readonly Message[]): void {
  const asked = messages.at(-2)?.blocks ?? [];
  for (const [index, block] of (messages.at(-1)?.blocks ?? []).entries()) {
    if (block.type !== "tool-result") continue;
    if (asked.some((call) => call.type === "tool-call" && call.callId === block.callId)) continue;
    throw new StartError(
      "invalid-input",
      `input[${messages.length - 1}].blocks[${index}].callId is ${JSON.stringify(block.callId)}, and the message before it holds no such call. Put the assistant's message with the tool-call before it.`,
    );
  }
}

/** Fields that other libraries use for what are blocks here. */
const FOREIGN_FIELDS = ["tool_calls", "function_call", "tool_call_id", "toolInvocations", "parts"] as const;

function checkFields(message: object, field: string): void {
  const given = ["text", "content", "blocks"].filter(
    (name) => (message as Record<string, unknown>)[name] !== undefined,
  );
  if (given.length > 1) {
    throw new StartError("invalid-input", `${field} has ${given.join(" and ")}. Give one of them.`);
  }
  const foreign = FOREIGN_FIELDS.find((name) => {
    const value = (message as Record<string, unknown>)[name];
    return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  });
  if (foreign === undefined) return;
  throw new StartError(
    "invalid-input",
    `${field}.${foreign} is not a field of a message. Give calls and results of tools as blocks: { type: "tool-call", callId, name, input } and { type: "tool-result", callId, output }.`,
  );
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
  checkFields(message, field);
  const id = message.id ?? `input-${index + 1}`;
  if ("text" in message && typeof message.text === "string") {
    return { id, role: message.role, blocks: [{ type: "text", text: message.text }] };
  }
  if ("content" in message && message.content !== undefined) return readContent({ ...message, id }, field);
  if (!("blocks" in message) || !Array.isArray(message.blocks)) {
    throw new StartError("invalid-input", `${field} has neither text, content nor blocks. Give one of them.`);
  }
  const { blocks } = message;
  checkBlocks(blocks, field);
  checkRole(message.role, blocks, `${field}.blocks`);
  return { ...(message as Message), id, blocks };
}

function readContent(
  { id, role, content }: { readonly id: string; readonly role: Message["role"]; readonly content: unknown },
  field: string,
): Message {
  if (typeof content === "string") return { id, role, blocks: [{ type: "text", text: content }] };
  if (!Array.isArray(content)) {
    throw new StartError(
      "invalid-input",
      `${field}.content is ${describe(content)}. Give a string or a list of blocks.`,
    );
  }
  checkBlocks(content, field, "content");
  checkRole(role, content, `${field}.content`);
  return { id, role, blocks: content };
}

/** Rejects blocks in a user message that only a model can write: they would not be sent. */
function checkRole(role: Message["role"], blocks: readonly Block[], field: string): void {
  const at = blocks.findIndex(({ type }) => type === "tool-call" || type === "thinking");
  if (role !== "user" || at === -1) return;
  throw new StartError(
    "invalid-input",
    `${field}[${at}].type is ${JSON.stringify(blocks[at]?.type)}, which has no place in a user's message. Put it in one with role: "assistant".`,
  );
}

/**
 * Makes a transcript acceptable to every vendor: each tool call is followed by its result, and there is no result
 * without a call. The transcript of a run that was killed has such gaps, and without this repair the host would reject
 * every further request with it.
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
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an empty list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
