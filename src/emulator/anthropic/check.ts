import { isRecord, type JsonRecord, ownArray, ownNumber, ownRecord, ownString, ownValue } from "#wire";
import { Refusal } from "../refusal.ts";
import type { ApiRequest } from "../request.ts";
import { checkPositive, checkRange, checkToolName, checkToolSchema } from "../tool-rules.ts";
import { checkAnthropicMessages, type SystemNotes } from "./check-messages.ts";
import { checkAnthropicOutput } from "./check-output.ts";

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const LEAST_THINKING = 1024;
/** The models before Opus 4.8. An unknown name counts as a newer model. */
const WITHOUT_NOTES = /^claude-(?:instant|\d|(?:opus|sonnet|haiku)-(?:3|4(?:$|-[0-7]\b|-\d{8})))/;

const FIELDS: ReadonlySet<string> = new Set(
  (
    "model messages max_tokens system stream temperature top_p top_k tools tool_choice thinking metadata stop_sequences " +
    "service_tier container context_management mcp_servers output_config output_format inference_geo speed cache_control"
  ).split(" "),
);

/** Refuses a request without a key. */
export function checkAnthropicKey({ headers }: ApiRequest): void {
  const bearer = /^bearer\s+\S/i.test(headers.authorization ?? "");
  if (!bearer && (headers["x-api-key"] ?? "").trim() === "") {
    throw new Refusal("unauthorized", "The x-api-key header is missing or empty. Any text will do here.");
  }
}

/** Refuses what the Messages API refuses. `counting`: a request that only counts tokens needs no token limit. */
export function checkAnthropic(
  request: ApiRequest,
  body: JsonRecord,
  { counting }: { readonly counting: boolean },
): void {
  if ((request.headers["anthropic-version"] ?? "") === "") {
    throw new Refusal("invalid", "The anthropic-version header is missing. Send for instance 2023-06-01.");
  }
  const betas = request.headers["anthropic-beta"] ?? "";
  checkFields(body, betas);
  if (!ownString(body, "model")) throw new Refusal("invalid", "model: a name is required.");
  if (!counting && ownValue(body, "max_tokens") === undefined) throw new Refusal("invalid", "max_tokens: is required.");
  checkPositive(body, "max_tokens");
  checkRange(body, "temperature", { least: 0, most: 1 });
  checkRange(body, "top_p", { least: 0, most: 1 });
  checkSystem(ownValue(body, "system"));
  checkAnthropicMessages(body, { systemNotes: systemNotesFor(body, betas), allowsNewBlocks: betas !== "" });
  const names = checkTools(body);
  checkChoice(body, names);
  checkThinking(body);
  checkAnthropicOutput(body);
}

/** The beta preceded the rule: Claude Code up to 2.1.197 names it and puts system notes anywhere. */
function systemNotesFor(body: JsonRecord, betas: string): SystemNotes {
  if (betas.includes("mid-conversation-system")) return "anywhere";
  return WITHOUT_NOTES.test(ownString(body, "model") ?? "") ? "never" : "after-user";
}

/** Betas add fields and kinds of blocks. Not all are known here, so a request that names a beta may have any. */
function checkFields(body: JsonRecord, betas: string): void {
  if (betas !== "") return;
  for (const field of Object.keys(body)) {
    if (!FIELDS.has(field)) throw new Refusal("invalid", `${field}: this field is not permitted.`);
  }
}

function checkSystem(system: unknown): void {
  if (system === undefined || typeof system === "string") return;
  const isList =
    Array.isArray(system) &&
    system.every((block) => isRecord(block) && block.type === "text" && ownString(block, "text"));
  if (!isList) throw new Refusal("invalid", "system: must be a string or a list of text blocks that are not empty.");
}

function checkTools(body: JsonRecord): Set<string> {
  const names = new Set<string>();
  const tools = ownValue(body, "tools");
  if (tools === undefined) return names;
  if (!Array.isArray(tools)) throw new Refusal("invalid", "tools: must be a list.");
  for (const [index, tool] of tools.entries()) {
    const path = `tools.${index}`;
    if (!isRecord(tool)) throw new Refusal("invalid", `${path}: must be an object.`);
    const type = ownString(tool, "type") ?? "custom";
    const name = ownValue(tool, "name");
    if (type !== "custom" && name === undefined) continue;
    checkToolName(name, { path: `${path}.name`, pattern: TOOL_NAME, seen: names });
    if (type === "custom") checkToolSchema(ownValue(tool, "input_schema"), `${path}.input_schema`);
  }
  return names;
}

function checkChoice(body: JsonRecord, names: ReadonlySet<string>): void {
  const choice = ownValue(body, "tool_choice");
  if (choice === undefined) return;
  const type = isRecord(choice) ? choice.type : undefined;
  if (!isRecord(choice) || !["auto", "any", "tool", "none"].includes(String(type))) {
    throw new Refusal("invalid", "tool_choice.type: must be auto, any, tool or none.");
  }
  if ((ownArray(body, "tools") ?? []).length === 0) {
    throw new Refusal("invalid", "tool_choice: may only be given together with tools.");
  }
  const name = ownString(choice, "name");
  if (type === "tool" && (name === undefined || !names.has(name))) {
    throw new Refusal("invalid", `tool_choice.name: there is no tool "${name ?? ""}" in tools.`);
  }
}

function checkThinking(body: JsonRecord): void {
  const thinking = ownRecord(body, "thinking");
  if (thinking === undefined) return;
  if (!["enabled", "adaptive", "disabled"].includes(String(thinking.type))) {
    throw new Refusal("invalid", "thinking.type: must be enabled, adaptive or disabled.");
  }
  if (thinking.type !== "enabled") return;
  const budget = ownNumber(thinking, "budget_tokens");
  if (budget === undefined || budget < LEAST_THINKING) {
    throw new Refusal("invalid", `thinking.budget_tokens: must be ${LEAST_THINKING} or more.`);
  }
  const limit = ownNumber(body, "max_tokens") ?? Number.POSITIVE_INFINITY;
  if (budget >= limit)
    throw new Refusal("invalid", `thinking.budget_tokens: ${budget} must be less than max_tokens, ${limit}.`);
  const choice = ownRecord(body, "tool_choice")?.type;
  if (choice === "any" || choice === "tool") {
    throw new Refusal("invalid", "thinking: cannot be enabled while tool_choice forces the use of a tool.");
  }
}
