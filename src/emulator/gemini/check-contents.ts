import { isRecord, type JsonRecord, ownString, ownValue } from "#wire";
import { isGeminiSignature, listOf, recordOf, textOf, valueOf } from "./fields.ts";
import { Refusal } from "../refusal.ts";

const PART_FIELDS: readonly string[] = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
];

/** One content: its role, and its calls and answers. */
interface Content {
  readonly role: "user" | "model";
  readonly calls: readonly JsonRecord[];
  readonly answers: readonly JsonRecord[];
}

/** Refuses contents that the Gemini API refuses. */
export function checkGeminiContents(model: string, body: JsonRecord): void {
  const list = listOf(body, "contents");
  if (list === undefined || list.length === 0)
    throw new Refusal("invalid", "contents: must be a list that is not empty.");
  const used = new Set<string>();
  let before: Content | undefined;
  for (const [index, entry] of list.entries()) {
    const path = `contents[${index}]`;
    const content = readContent(entry, path);
    checkOrder(content, before, path);
    for (const call of content.calls) checkCall(call, { path, used });
    if (content.calls.length > 0 && model.startsWith("gemini-3")) checkSignature(entry, path);
    before = content;
  }
  if (before !== undefined && before.calls.length > 0) {
    throw new Refusal(
      "invalid",
      `contents[${list.length - 1}]: its function calls have no function responses after them.`,
    );
  }
}

function readContent(entry: unknown, path: string): Content {
  if (!isRecord(entry)) throw new Refusal("invalid", `${path}: must be an object.`);
  const role = ownString(entry, "role") ?? "user";
  // `function` is the older name for the role of a user who answers calls.
  if (role !== "user" && role !== "model" && role !== "function") {
    throw new Refusal("invalid", `${path}.role: "${role}" is not user or model.`);
  }
  const parts = listOf(entry, "parts");
  if (parts === undefined || parts.length === 0) throw new Refusal("invalid", `${path}.parts: must not be empty.`);
  const calls: JsonRecord[] = [];
  const answers: JsonRecord[] = [];
  for (const [index, part] of parts.entries()) {
    const fields = isRecord(part) ? PART_FIELDS.filter((field) => valueOf(part, field) !== undefined) : [];
    if (!isRecord(part) || fields.length !== 1) {
      throw new Refusal("invalid", `${path}.parts[${index}]: has to have exactly one of ${PART_FIELDS.join(", ")}.`);
    }
    const call = recordOf(part, "functionCall");
    const answer = recordOf(part, "functionResponse");
    if (call !== undefined) calls.push(call);
    if (answer !== undefined) answers.push(answer);
  }
  if (calls.length > 0 && role !== "model")
    throw new Refusal("invalid", `${path}: function calls belong into a content of the model.`);
  if (answers.length > 0 && role === "model")
    throw new Refusal("invalid", `${path}: function responses belong into a content of the user.`);
  return { role: role === "model" ? "model" : "user", calls, answers };
}

/** Calls must directly follow a user content, and their answers must directly follow them, one per call. */
function checkOrder(content: Content, before: Content | undefined, path: string): void {
  if (content.calls.length > 0 && before?.role !== "user") {
    throw new Refusal("invalid", `${path}: a content with function calls has to come right after one of the user.`);
  }
  const calls = before?.calls ?? [];
  if (content.answers.length !== calls.length) {
    throw new Refusal(
      "invalid",
      `${path}: has ${content.answers.length} function responses, and there were ${calls.length} function calls right before it. The numbers have to be equal.`,
    );
  }
  const open = calls.map((call) => ({ id: ownString(call, "id"), name: ownString(call, "name") }));
  for (const answer of content.answers) {
    const name = ownString(answer, "name") ?? "";
    const id = ownString(answer, "id");
    if (!isRecord(ownValue(answer, "response")))
      throw new Refusal("invalid", `${path}: the response of "${name}" must be an object.`);
    const index = open.findIndex(
      (call) => call.name === name && (id === undefined || call.id === undefined || call.id === id),
    );
    if (index === -1)
      throw new Refusal(
        "invalid",
        `${path}: the function response "${name}"${id === undefined ? "" : ` (${id})`} answers no function call right before it.`,
      );
    open.splice(index, 1);
  }
}

function checkCall(call: JsonRecord, { path, used }: { readonly path: string; readonly used: Set<string> }): void {
  if (!ownString(call, "name")) throw new Refusal("invalid", `${path}: a function call needs a name.`);
  const args = ownValue(call, "args");
  if (args !== undefined && !isRecord(args))
    throw new Refusal("invalid", `${path}: the args of a function call have to be an object.`);
  const id = ownString(call, "id");
  if (id === undefined || id === "") return;
  if (used.has(id))
    throw new Refusal("invalid", `${path}: the function call id "${id}" was used before. Ids have to be unique.`);
  used.add(id);
}

/** From Gemini 3 on, the first call of a reply must be sent back with its thought signature. */
function checkSignature(entry: unknown, path: string): void {
  const parts = isRecord(entry) ? (listOf(entry, "parts") ?? []) : [];
  const first = parts.find((part) => isRecord(part) && recordOf(part, "functionCall") !== undefined);
  const call = isRecord(first) ? recordOf(first, "functionCall") : undefined;
  const signature = isRecord(first) ? textOf(first, "thoughtSignature") : undefined;
  const name = call === undefined ? "" : (ownString(call, "name") ?? "");
  if (signature === undefined)
    throw new Refusal("invalid", `${path}: the function call "${name}" lacks its thought_signature.`);
  if (!isGeminiSignature(signature, name))
    throw new Refusal("invalid", `${path}: the thought_signature of "${name}" is not valid.`);
}
