import { isRecord, type JsonRecord, ownRecord, ownString, ownValue } from "#wire";
import { checkJsonSchema } from "../openai/check-schema.ts";
import { checkFunctions, checkModel, checkToolChoice } from "../openai/check-tools.ts";
import { invalid } from "../openai/invalid.ts";
import { checkPositive, checkRange } from "../tool-rules.ts";

const ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant"]);

/** Refuses what the Responses API refuses. */
export function checkResponses(body: JsonRecord): void {
  checkModel(body);
  checkInput(ownValue(body, "input"));
  checkPositive(body, "max_output_tokens");
  checkRange(body, "temperature", { least: 0, most: 2 });
  // The vendor runs other kinds of tools; here they are accepted and ignored.
  const names = checkFunctions(body, (tool, path) => (tool.type === "function" ? { fields: tool, path } : undefined));
  const choice = ownRecord(body, "tool_choice");
  checkToolChoice(body, { named: choice?.type === "function" ? ownString(choice, "name") : undefined, names });
  const format = ownRecord(ownRecord(body, "text") ?? {}, "format");
  if (format?.type === "json_schema") checkJsonSchema(format, "text.format");
}

function checkInput(input: unknown): void {
  if (typeof input === "string") return;
  if (!Array.isArray(input) || input.length === 0)
    throw invalid("input", "must be a string, or a list that is not empty.");
  const calls = new Map<string, string>();
  const answered = new Set<string>();
  for (const [index, item] of input.entries()) {
    const path = `input[${index}]`;
    if (!isRecord(item)) throw invalid(path, "must be an object.");
    const type = ownString(item, "type") ?? "message";
    if (type === "message") checkMessage(item, path);
    if (type === "function_call") checkCall(item, path, calls);
    if (type === "function_call_output") checkOutput(item, path, { calls, answered });
  }
  for (const [id, path] of calls) {
    if (!answered.has(id)) throw invalid("input", `the function call "${id}" in ${path} has no function_call_output.`);
  }
}

function checkMessage(item: JsonRecord, path: string): void {
  const role = ownValue(item, "role");
  if (!ROLES.has(role)) throw invalid(`${path}.role`, `${JSON.stringify(role) ?? "nothing"} is not a role.`);
  const content = ownValue(item, "content");
  if (typeof content === "string") return;
  if (!Array.isArray(content) || content.length === 0)
    throw invalid(`${path}.content`, "must be a string, or a list that is not empty.");
  for (const [index, part] of content.entries()) {
    const type = isRecord(part) ? ownString(part, "type") : undefined;
    const isWrongSide =
      role === "assistant" ? type?.startsWith("input_") : type === "output_text" || type === "refusal";
    if (type === undefined || isWrongSide) {
      throw invalid(
        `${path}.content[${index}].type`,
        `"${type ?? ""}" cannot stand in a message of role ${String(role)}.`,
      );
    }
  }
}

function checkCall(item: JsonRecord, path: string, calls: Map<string, string>): void {
  const id = ownString(item, "call_id");
  if (!id) throw invalid(`${path}.call_id`, "is required.");
  if (!ownString(item, "name")) throw invalid(`${path}.name`, "is required.");
  if (typeof item.arguments !== "string")
    throw invalid(`${path}.arguments`, "must be a string: the arguments as JSON.");
  if (calls.has(id)) throw invalid(`${path}.call_id`, `"${id}" was used before. Ids of calls have to be unique.`);
  calls.set(id, path);
}

function checkOutput(
  item: JsonRecord,
  path: string,
  { calls, answered }: { readonly calls: ReadonlyMap<string, string>; readonly answered: Set<string> },
): void {
  const id = ownString(item, "call_id") ?? "";
  if (!calls.has(id)) throw invalid("input", `there is no function call with the call_id "${id}" before ${path}.`);
  if (answered.has(id)) throw invalid(`${path}.call_id`, `the function call "${id}" is answered twice.`);
  const output = ownValue(item, "output");
  if (typeof output !== "string" && !Array.isArray(output))
    throw invalid(`${path}.output`, "must be a string or a list of parts.");
  answered.add(id);
}
