import { isRecord, type JsonRecord, ownValue } from "#wire";
import { Refusal } from "../refusal.ts";
import type { ApiRequest } from "../request.ts";
import { checkRange, checkToolName, checkToolSchema } from "../tool-rules.ts";
import { checkGeminiContents } from "./check-contents.ts";
import { listOf, recordOf, textOf, toCamel, valueOf } from "./fields.ts";

const TOOL_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/;
const MODES: ReadonlySet<string> = new Set(["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"]);
const MAX_DEPTH = 64;

const FIELDS: ReadonlySet<string> = new Set(
  "contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent model serviceTier labels generateContentRequest".split(
    " ",
  ),
);

/** The subset of OpenAPI for `parameters` and `responseSchema`. Any other name is unknown. */
const SCHEMA_FIELDS: ReadonlySet<string> = new Set(
  (
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties " +
    "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum"
  ).split(" "),
);

/** Refuses a request without a key. */
export function checkGeminiKey({ headers, query }: ApiRequest): void {
  const key = headers["x-goog-api-key"] ?? query.get("key") ?? headers.authorization ?? "";
  if (key.trim() === "") {
    throw new Refusal(
      "unauthorized",
      "There is no key: the x-goog-api-key header is missing or empty. Any text will do here.",
    );
  }
}

/** Refuses what the Gemini API refuses. */
export function checkGemini(model: string, body: JsonRecord): void {
  for (const field of Object.keys(body)) {
    if (!FIELDS.has(toCamel(field))) throw new Refusal("invalid", `Unknown name "${field}": there is no such field.`);
  }
  checkGeminiContents(model, body);
  const system = valueOf(body, "systemInstruction");
  if (system !== undefined && !(isRecord(system) && Array.isArray(ownValue(system, "parts")))) {
    throw new Refusal("invalid", "system_instruction: must be an object with parts.");
  }
  const names = checkFunctions(body);
  checkCalling(body, names);
  const config = recordOf(body, "generationConfig") ?? {};
  checkGeneration(config);
  const type = textOf(config, "responseMimeType") ?? "text/plain";
  const generation = Number(/^gemini-(\d{1,3})/.exec(model)?.[1] ?? 0);
  if (names.size > 0 && type === "application/json" && generation < 3) {
    throw new Refusal("invalid", "Function calling with a response_mime_type of application/json is not supported.");
  }
}

function checkFunctions(body: JsonRecord): Set<string> {
  const names = new Set<string>();
  for (const [index, tool] of (listOf(body, "tools") ?? []).entries()) {
    if (!isRecord(tool)) throw new Refusal("invalid", `tools[${index}]: must be an object.`);
    for (const [at, declaration] of (listOf(tool, "functionDeclarations") ?? []).entries()) {
      const path = `tools[${index}].function_declarations[${at}]`;
      if (!isRecord(declaration)) throw new Refusal("invalid", `${path}: must be an object.`);
      checkToolName(ownValue(declaration, "name"), { path: `${path}.name`, pattern: TOOL_NAME, seen: names });
      const schema = ownValue(declaration, "parameters");
      const jsonSchema = valueOf(declaration, "parametersJsonSchema");
      if (schema !== undefined && jsonSchema !== undefined) {
        throw new Refusal("invalid", `${path}: give either parameters or parameters_json_schema, not both.`);
      }
      if (schema !== undefined) {
        checkToolSchema(schema, `${path}.parameters`);
        checkSchemaFields(schema, `${path}.parameters`, 0);
      }
      if (jsonSchema !== undefined) checkToolSchema(jsonSchema, `${path}.parameters_json_schema`);
    }
  }
  return names;
}

function checkSchemaFields(schema: unknown, path: string, depth: number): void {
  if (!isRecord(schema) || depth > MAX_DEPTH) return;
  for (const field of Object.keys(schema)) {
    if (SCHEMA_FIELDS.has(toCamel(field))) continue;
    throw new Refusal(
      "invalid",
      `Unknown name "${field}" at ${path}: there is no such field. JSON Schema belongs into parameters_json_schema.`,
    );
  }
  const properties = ownValue(schema, "properties");
  if (isRecord(properties)) {
    for (const [name, property] of Object.entries(properties))
      checkSchemaFields(property, `${path}.properties.${name}`, depth + 1);
  }
  checkSchemaFields(ownValue(schema, "items"), `${path}.items`, depth + 1);
  for (const variant of listOf(schema, "anyOf") ?? []) checkSchemaFields(variant, `${path}.any_of`, depth + 1);
}

/** Next to a reference, only keywords that start with a dollar sign are allowed. */
function checkReferences(part: unknown, path: string, depth: number): void {
  if (depth > MAX_DEPTH) throw new Refusal("invalid", `${path}: the schema is nested too deeply.`);
  if (Array.isArray(part)) {
    for (const [index, entry] of part.entries()) checkReferences(entry, `${path}[${index}]`, depth + 1);
  }
  if (!isRecord(part)) return;
  const isReference = typeof ownValue(part, "$ref") === "string";
  if (isReference && Object.keys(part).some((keyword) => !keyword.startsWith("$"))) {
    throw new Refusal("invalid", `${path}: nothing may stand beside a $ref.`);
  }
  for (const [keyword, value] of Object.entries(part)) checkReferences(value, `${path}.${keyword}`, depth + 1);
}

function checkCalling(body: JsonRecord, names: ReadonlySet<string>): void {
  const calling = recordOf(recordOf(body, "toolConfig") ?? {}, "functionCallingConfig");
  if (calling === undefined) return;
  const mode = textOf(calling, "mode") ?? "AUTO";
  if (!MODES.has(mode))
    throw new Refusal("invalid", `tool_config.function_calling_config.mode: "${mode}" is not a mode.`);
  const allowed = listOf(calling, "allowedFunctionNames") ?? [];
  if (allowed.length > 0 && mode !== "ANY" && mode !== "VALIDATED") {
    throw new Refusal("invalid", "allowed_function_names: may only be given with the mode ANY or VALIDATED.");
  }
  for (const name of allowed) {
    if (!names.has(String(name)))
      throw new Refusal("invalid", `allowed_function_names: there is no function "${String(name)}".`);
  }
}

function checkGeneration(config: JsonRecord): void {
  checkRange(config, "temperature", { least: 0, most: 2 });
  const schema = valueOf(config, "responseSchema");
  const jsonSchema = valueOf(config, "responseJsonSchema");
  const hasSchema = schema !== undefined || jsonSchema !== undefined;
  if (schema !== undefined && jsonSchema !== undefined) {
    throw new Refusal("invalid", "generation_config: give either response_schema or response_json_schema, not both.");
  }
  const type = textOf(config, "responseMimeType") ?? "text/plain";
  if (hasSchema && type !== "application/json") {
    throw new Refusal(
      "invalid",
      `generation_config.response_schema: needs response_mime_type "application/json", not "${type}".`,
    );
  }
  checkSchemaFields(schema, "generation_config.response_schema", 0);
  checkReferences(jsonSchema, "generation_config.response_json_schema", 0);
  const limit = valueOf(config, "maxOutputTokens");
  if (limit !== undefined && (typeof limit !== "number" || limit < 1)) {
    throw new Refusal("invalid", "generation_config.max_output_tokens: must be a number from 1 on.");
  }
}
