import { isRecord, type JsonRecord, ownArray, ownString, ownValue } from "#wire";
import { Refusal } from "../refusal.ts";
import type { ApiRequest } from "../request.ts";
import { checkToolName, checkToolSchema } from "../tool-rules.ts";
import { checkStrictSchema } from "./check-schema.ts";
import { invalid } from "./invalid.ts";

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Refuses a request without a key. */
export function checkOpenaiKey({ headers }: ApiRequest): void {
  if (!/^bearer\s+\S/i.test(headers.authorization ?? "")) {
    throw new Refusal("unauthorized", "The authorization header is missing or has no key. Send: Bearer <any text>.");
  }
}

export function checkModel(body: JsonRecord): void {
  if (!ownString(body, "model")) throw invalid("model", "a name is required.");
}

/** Refuses functions that OpenAI refuses. `read` extracts the fields of a function from an entry of `tools`. */
export function checkFunctions(
  body: JsonRecord,
  read: (tool: JsonRecord, path: string) => { readonly fields: JsonRecord; readonly path: string } | undefined,
): Set<string> {
  const names = new Set<string>();
  const tools = ownValue(body, "tools");
  if (tools === undefined || tools === null) return names;
  if (!Array.isArray(tools)) throw invalid("tools", "must be a list.");
  for (const [index, tool] of tools.entries()) {
    if (!isRecord(tool)) throw invalid(`tools[${index}]`, "must be an object.");
    const found = read(tool, `tools[${index}]`);
    if (found === undefined) continue;
    const { fields, path } = found;
    checkToolName(ownValue(fields, "name"), { path: `${path}.name`, pattern: NAME, seen: names });
    const schema = ownValue(fields, "parameters");
    if (schema === undefined || schema === null) continue;
    checkToolSchema(schema, `${path}.parameters`);
    if (fields.strict === true) checkStrictSchema(schema, `${path}.parameters`);
  }
  return names;
}

/** Refuses the choice of a tool that is not offered. */
export function checkToolChoice(
  body: JsonRecord,
  { named, names }: { readonly named: string | undefined; readonly names: ReadonlySet<string> },
): void {
  const choice = ownValue(body, "tool_choice");
  const hasTools = (ownArray(body, "tools") ?? []).length > 0;
  if (!hasTools && ownValue(body, "parallel_tool_calls") !== undefined) {
    throw invalid("parallel_tool_calls", "may only be given together with tools.");
  }
  if (choice === undefined || choice === null) return;
  if (!hasTools && choice !== "none" && choice !== "auto")
    throw invalid("tool_choice", "may only be given together with tools.");
  if (typeof choice === "string" && !["none", "auto", "required"].includes(choice)) {
    throw invalid("tool_choice", `"${choice}" is not none, auto or required.`);
  }
  if (named !== undefined && !names.has(named)) throw invalid("tool_choice", `there is no tool "${named}" in tools.`);
}
