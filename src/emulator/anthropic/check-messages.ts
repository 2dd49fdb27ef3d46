import { isRecord, type JsonRecord, ownRecord, ownString, ownValue } from "#wire";
import { signThought } from "../ids.ts";
import { Refusal } from "../refusal.ts";

const ID = /^[a-zA-Z0-9_-]+$/;

const BLOCK_TYPES: ReadonlySet<string> = new Set(
  (
    "text image document search_result thinking redacted_thinking tool_use tool_result server_tool_use container_upload " +
    "mcp_tool_use mcp_tool_result web_search_tool_result web_fetch_tool_result code_execution_tool_result " +
    "bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result tool_reference compaction"
  ).split(" "),
);

/** Neighbouring messages of one role, which the vendor reads as one message. */
interface Turn {
  readonly role: "user" | "assistant";
  /** The path of its first message in the request. */
  readonly path: string;
  readonly blocks: JsonRecord[];
}

/** Where a system message is allowed in the list. */
export type SystemNotes = "never" | "after-user" | "anywhere";

/** Refuses a list of messages that the Messages API refuses. */
export function checkAnthropicMessages(
  body: JsonRecord,
  { systemNotes, allowsNewBlocks }: { readonly systemNotes: SystemNotes; readonly allowsNewBlocks: boolean },
): void {
  const messages = ownValue(body, "messages");
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new Refusal("invalid", "messages: must be a list with at least one message.");
  }
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    if (!isRecord(message)) throw new Refusal("invalid", `${path}: must be an object.`);
    const role = ownValue(message, "role");
    if (role === "system") {
      checkNote(systemNotes, { path, before: turns.at(-1) });
      continue;
    }
    if (role !== "user" && role !== "assistant") {
      throw new Refusal("invalid", `${path}.role: ${JSON.stringify(role) ?? "nothing"} is not user or assistant.`);
    }
    if (turns.length === 0 && role !== "user")
      throw new Refusal("invalid", `${path}.role: the first message must be the user's.`);
    const isLastReply = role === "assistant" && index === messages.length - 1;
    const blocks = readBlocks(ownValue(message, "content"), { path, mayBeEmpty: isLastReply });
    const last = turns.at(-1);
    if (last?.role === role) for (const block of blocks) last.blocks.push(block);
    else turns.push({ role, path, blocks });
  }
  if (turns.length === 0) throw new Refusal("invalid", "messages: has to hold at least one message of the user.");
  checkBlocks(turns, allowsNewBlocks);
  checkPairs(turns);
}

function checkNote(
  allowed: SystemNotes,
  { path, before }: { readonly path: string; readonly before: Turn | undefined },
): void {
  if (allowed === "anywhere" || (allowed === "after-user" && before?.role === "user")) return;
  const where = allowed === "never" ? "is not supported on this model" : "may only follow a turn of the user";
  throw new Refusal("invalid", `${path}.role: "system" ${where}. Instructions belong into the field system.`);
}

function readBlocks(
  content: unknown,
  { path, mayBeEmpty }: { readonly path: string; readonly mayBeEmpty: boolean },
): JsonRecord[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks) || !blocks.every(isRecord)) {
    throw new Refusal("invalid", `${path}.content: must be a string or a list of blocks.`);
  }
  const isEmpty = blocks.length === 0 || content === "";
  if (isEmpty && !mayBeEmpty) throw new Refusal("invalid", `${path}.content: is empty. Only the last reply may be.`);
  return isEmpty ? [] : blocks;
}

function checkBlocks(turns: readonly Turn[], allowsNewBlocks: boolean): void {
  const used = new Set<string>();
  for (const { role, path, blocks } of turns) {
    for (const [index, block] of blocks.entries()) {
      const place = `${path}.content.${index}`;
      const type = ownString(block, "type") ?? "";
      if (!BLOCK_TYPES.has(type) && !allowsNewBlocks)
        throw new Refusal("invalid", `${place}.type: "${type}" is not a block type.`);
      if (type === "text") checkTextBlock(block, place);
      if (type === "image" || type === "document") checkSource(block, { place, type });
      if (type === "thinking") checkThinkingBlock(block, { place, role });
      if (type === "tool_use") checkCallBlock(block, { place, role, used });
      if (type === "tool_result" && role !== "user") {
        throw new Refusal("invalid", `${place}: tool_result blocks belong into messages of the user.`);
      }
    }
  }
}

function checkTextBlock(block: JsonRecord, place: string): void {
  const text = ownString(block, "text");
  if (text === undefined || text.trim() === "") {
    throw new Refusal("invalid", `${place}.text: text blocks have to hold more than blanks.`);
  }
}

const PICTURES: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Inline bytes are pictures or PDF; text is sent as text. */
function checkSource(block: JsonRecord, { place, type }: { readonly place: string; readonly type: string }): void {
  const source = ownRecord(block, "source");
  if (source === undefined) throw new Refusal("invalid", `${place}.source: Field required`);
  const mediaType = ownString(source, "media_type") ?? "";
  const allowed = type === "image" ? PICTURES : ["application/pdf"];
  if (source.type === "base64" && !allowed.includes(mediaType)) {
    throw new Refusal("invalid", `${place}.source.base64.media_type: Input should be '${allowed.join("', '")}'`);
  }
  if (source.type === "text" && mediaType !== "text/plain") {
    throw new Refusal("invalid", `${place}.source.text.media_type: Input should be 'text/plain'`);
  }
}

/** A thought must be sent back unchanged, or not at all. */
function checkThinkingBlock(
  block: JsonRecord,
  { place, role }: { readonly place: string; readonly role: string },
): void {
  if (role !== "assistant") throw new Refusal("invalid", `${place}: thinking blocks belong into replies.`);
  const text = ownString(block, "thinking");
  const signature = ownString(block, "signature");
  if (text === undefined || signature === undefined) {
    throw new Refusal("invalid", `${place}: a thinking block needs its thinking and its signature.`);
  }
  if (signature !== signThought(text)) {
    throw new Refusal(
      "invalid",
      `${place}: the signature of this thinking block is not valid here. Leave foreign thoughts out.`,
    );
  }
}

function checkCallBlock(
  block: JsonRecord,
  { place, role, used }: { readonly place: string; readonly role: string; readonly used: Set<string> },
): void {
  if (role !== "assistant") throw new Refusal("invalid", `${place}: tool_use blocks belong into replies.`);
  const id = ownString(block, "id") ?? "";
  if (!ID.test(id)) throw new Refusal("invalid", `${place}.id: "${id}" has to match ${ID.source}.`);
  if (!ownString(block, "name")) throw new Refusal("invalid", `${place}.name: is required.`);
  if (!isRecord(ownValue(block, "input"))) throw new Refusal("invalid", `${place}.input: must be an object.`);
  if (used.has(id))
    throw new Refusal("invalid", `${place}.id: tool_use ids have to be unique, and "${id}" was used before.`);
  used.add(id);
}

/** Every call must be answered once, at the beginning of the very next turn; nothing else may be answered. */
function checkPairs(turns: readonly Turn[]): void {
  let asked = new Set<string>();
  let askedIn = "";
  for (const turn of turns) {
    const answered = checkResults(turn, asked);
    const missing = [...asked].filter((id) => !answered.has(id));
    if (missing.length > 0) throw unanswered(askedIn, missing);
    asked = new Set(idsOf(turn.blocks, "tool_use", "id"));
    askedIn = turn.path;
  }
  if (asked.size > 0) throw unanswered(askedIn, [...asked]);
}

/** The calls that a turn answers before any other content. */
function checkResults(turn: Turn, asked: ReadonlySet<string>): Set<string> {
  const answered = new Set<string>();
  const seen = new Set<string>();
  let isLeading = true;
  for (const block of turn.blocks) {
    if (block.type !== "tool_result") {
      isLeading = false;
      continue;
    }
    const id = ownString(block, "tool_use_id") ?? "";
    if (!asked.has(id) || seen.has(id)) {
      const reason = asked.has(id) ? "it is answered twice" : "there is no such tool_use block in the message before";
      throw new Refusal("invalid", `${turn.path}: the tool_result for tool_use_id "${id}" is unexpected: ${reason}.`);
    }
    seen.add(id);
    if (isLeading) answered.add(id);
  }
  return answered;
}

function unanswered(path: string, ids: readonly string[]): Refusal {
  const list = ids.join(", ");
  return new Refusal(
    "invalid",
    `${path}: tool_use ids without tool_result blocks right after them: ${list}. Answer each at the start of the next message.`,
  );
}

function idsOf(blocks: readonly JsonRecord[], type: string, field: string): string[] {
  return blocks.filter((block) => block.type === type).map((block) => ownString(block, field) ?? "");
}
