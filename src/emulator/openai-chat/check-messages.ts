import { isRecord, type JsonRecord, ownString, ownValue } from "#wire";
import { invalid } from "../openai/invalid.ts";

const ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

/** The calls of the last reply that are not answered yet. */
interface Open {
  readonly path: string;
  readonly waiting: Set<string>;
}

/** Refuses a list of messages that the Chat Completions API refuses. */
export function checkChatMessages(body: JsonRecord): void {
  const messages = ownValue(body, "messages");
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalid("messages", "must be a list with at least one message.");
  }
  const used = new Set<string>();
  let open: Open | undefined;
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isRecord(message)) throw invalid(path, "must be an object.");
    const role = ownValue(message, "role");
    if (!ROLES.has(role)) throw invalid(`${path}.role`, `${JSON.stringify(role) ?? "nothing"} is not a role.`);
    if (role === "tool") {
      checkAnswer(message, path, open);
      continue;
    }
    if (open !== undefined && open.waiting.size > 0) throw unanswered(open);
    checkContent(message, path);
    open = role === "assistant" ? checkCalls(message, path, used) : undefined;
  }
  if (open !== undefined && open.waiting.size > 0) throw unanswered(open);
}

function checkContent(message: JsonRecord, path: string): void {
  const content = ownValue(message, "content");
  const isOptional = message.role === "assistant" && hasSomethingElse(message);
  if ((content === undefined || content === null) && isOptional) return;
  if (typeof content === "string") return;
  if (!Array.isArray(content) || content.length === 0) {
    throw invalid(`${path}.content`, "must be a string, or a list of parts that is not empty.");
  }
  for (const [index, part] of content.entries()) {
    if (!isRecord(part) || typeof part.type !== "string")
      throw invalid(`${path}.content[${index}]`, "has to have a type.");
    if (part.type === "text" && typeof part.text !== "string")
      throw invalid(`${path}.content[${index}].text`, "is required.");
  }
}

function hasSomethingElse(message: JsonRecord): boolean {
  return ["tool_calls", "function_call", "refusal", "audio"].some(
    (field) => (ownValue(message, field) ?? null) !== null,
  );
}

function checkCalls(message: JsonRecord, path: string, used: Set<string>): Open | undefined {
  const calls = ownValue(message, "tool_calls");
  if (calls === undefined || calls === null) return undefined;
  if (!Array.isArray(calls) || calls.length === 0)
    throw invalid(`${path}.tool_calls`, "must be a list that is not empty.");
  const waiting = new Set<string>();
  for (const [index, call] of calls.entries()) {
    const place = `${path}.tool_calls[${index}]`;
    if (!isRecord(call)) throw invalid(place, "must be an object.");
    const id = ownString(call, "id");
    if (!id) throw invalid(`${place}.id`, "is required.");
    if (call.type === "function") checkFunction(ownValue(call, "function"), `${place}.function`);
    else if (call.type !== "custom")
      throw invalid(`${place}.type`, `${JSON.stringify(call.type) ?? "nothing"} is not function.`);
    if (used.has(id)) throw invalid(`${place}.id`, `"${id}" was used before. Ids of tool calls have to be unique.`);
    used.add(id);
    waiting.add(id);
  }
  return { path, waiting };
}

function checkFunction(value: unknown, place: string): void {
  if (!isRecord(value)) throw invalid(place, "is required.");
  if (!ownString(value, "name")) throw invalid(`${place}.name`, "is required.");
  if (typeof value.arguments !== "string") {
    throw invalid(`${place}.arguments`, "must be a string: the arguments as JSON, not an object.");
  }
}

function checkAnswer(message: JsonRecord, path: string, open: Open | undefined): void {
  const id = ownString(message, "tool_call_id");
  if (!id) throw invalid(`${path}.tool_call_id`, "is required.");
  if (open === undefined)
    throw invalid(`${path}.role`, "a message of role tool has to answer a message with tool_calls right before it.");
  if (!open.waiting.delete(id)) {
    throw invalid(
      `${path}.tool_call_id`,
      `"${id}" is not among the tool_calls of ${open.path} that wait for an answer.`,
    );
  }
  checkContent(message, path);
}

function unanswered(open: Open): Error {
  const ids = [...open.waiting].join(", ");
  return invalid(
    open.path,
    `each of its tool_calls must be answered by a message of role tool right after it. Missing: ${ids}.`,
  );
}
