import { isRecord, type JsonRecord, ownArray, ownRecord, ownString, ownValue } from "#wire";
import { checkJsonSchema } from "../openai/check-schema.ts";
import { checkFunctions, checkModel, checkToolChoice } from "../openai/check-tools.ts";
import { invalid } from "../openai/invalid.ts";
import { checkPositive, checkRange } from "../tool-rules.ts";
import { checkChatMessages } from "./check-messages.ts";

/** Refuses what the Chat Completions API refuses. */
export function checkChat(body: JsonRecord): void {
  checkModel(body);
  checkChatMessages(body);
  checkNumbers(body);
  const names = checkFunctions(body, (tool, path) => {
    const fields = ownRecord(tool, "function");
    if (tool.type === "custom") return undefined;
    if (tool.type !== "function")
      throw invalid(`${path}.type`, `${JSON.stringify(tool.type) ?? "nothing"} is not function.`);
    if (fields === undefined) throw invalid(`${path}.function`, "is required.");
    return { fields, path: `${path}.function` };
  });
  const choice = ownRecord(body, "tool_choice");
  checkToolChoice(body, { named: choice && ownString(ownRecord(choice, "function") ?? {}, "name"), names });
  checkFormat(body);
  checkEffort(body);
}

function checkNumbers(body: JsonRecord): void {
  if (ownValue(body, "max_tokens") !== undefined && ownValue(body, "max_completion_tokens") !== undefined) {
    throw invalid("max_tokens", "give either max_tokens or max_completion_tokens, not both.");
  }
  for (const field of ["max_tokens", "max_completion_tokens", "n"]) checkPositive(body, field);
  checkRange(body, "temperature", { least: 0, most: 2 });
  checkRange(body, "top_p", { least: 0, most: 1 });
  const count = ownValue(body, "n");
  if (typeof count === "number" && count > 1) throw invalid("n", "the offline server gives one choice.");
  const options = ownValue(body, "stream_options");
  if (options !== undefined && options !== null && body.stream !== true) {
    throw invalid("stream_options", "may only be given when stream is true.");
  }
}

/** The names of all efforts, whichever models accept them. */
const EFFORTS: ReadonlySet<unknown> = new Set(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

function checkEffort(body: JsonRecord): void {
  const effort = ownValue(body, "reasoning_effort");
  if (effort === undefined || effort === null || EFFORTS.has(effort)) return;
  throw invalid("reasoning_effort", `${JSON.stringify(effort)} is not one of ${[...EFFORTS].join(", ")}.`);
}

function checkFormat(body: JsonRecord): void {
  const format = ownRecord(body, "response_format");
  if (format === undefined) return;
  if (!["text", "json_object", "json_schema"].includes(String(format.type))) {
    throw invalid(
      "response_format.type",
      `${JSON.stringify(format.type) ?? "nothing"} is not text, json_object or json_schema.`,
    );
  }
  if (format.type === "json_schema") {
    const schema = ownRecord(format, "json_schema");
    if (schema === undefined) throw invalid("response_format.json_schema", "is required.");
    checkJsonSchema(schema, "response_format.json_schema");
  }
  if (format.type === "json_object" && !mentionsJson(body)) {
    throw invalid("messages", "the word json has to occur in them when response_format is json_object.");
  }
}

function mentionsJson(body: JsonRecord): boolean {
  return (ownArray(body, "messages") ?? []).some(
    (message) => isRecord(message) && /json/i.test(JSON.stringify(ownValue(message, "content") ?? "")),
  );
}
