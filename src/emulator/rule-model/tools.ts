import type { ModelPrompt, PromptTool } from "../prompt.ts";
import { buildInstance, isText, readChoices, readProperties, type Source } from "./instance.ts";
import { readNameWords, readTopicWords, readWords, type Subject } from "./question.ts";
import type { PlannedCall } from "./sum-tools.ts";

const HANDOFF = /^(transfer_to_|transfer-to-|handoff)/i;
const HANDOFF_WORDS: ReadonlySet<string> = new Set("transfer to handoff agent assistant team".split(" "));

/** Tools that receive the final answer as structured output: ours, and Claude Code's. */
const FINAL: ReadonlySet<string> = new Set(["final_answer", "StructuredOutput"]);

export function isFinal(name: string): boolean {
  return FINAL.has(name);
}

/** Whether a tool hands off to another agent. */
export function isHandoff(name: string): boolean {
  return HANDOFF.test(name);
}

/** Picks the agent that the question asks for, among the offered handoffs. */
export function planHandoff(tools: readonly PromptTool[], source: Source): PlannedCall | undefined {
  const asked = new Set(readWords(source.question));
  for (const tool of tools) {
    if (!isHandoff(tool.name)) continue;
    const targets = readNameWords(tool.name).filter((word) => !HANDOFF_WORDS.has(word));
    const choices = readProperties(tool.schema).flatMap((property) => readChoices(property.schema) ?? []);
    const names = targets.length > 0 ? targets : choices.flatMap((choice) => readNameWords(choice));
    if (names.some((name) => asked.has(name) || asked.has(name.replace(/s$/, "")))) return planCall(tool, source);
  }
  return undefined;
}

/** Picks the tool whose name shares the most words with the question; none if no name shares any. */
export function pickTool(tools: readonly PromptTool[], question: string): PromptTool | undefined {
  const asked = new Set(readWords(question));
  let best: PromptTool | undefined;
  let most = 0;
  for (const tool of tools) {
    if (isHandoff(tool.name)) continue;
    const shared = readTopicWords(tool.name).filter((word) => asked.has(word)).length;
    if (shared > most) {
      best = tool;
      most = shared;
    }
  }
  return best;
}

/** A call with arguments made from the question. */
export function planCall(tool: PromptTool, source: Source): PlannedCall {
  const input = buildInstance({ type: "object", ...tool.schema }, source);
  return { name: tool.name, input: input as Readonly<Record<string, unknown>> };
}

/** One call, or one for each of several names if the tool needs just one text: "the weather in Paris and Rome". */
export function planCalls(tool: PromptTool, source: Source, subject: Subject): PlannedCall[] {
  const required = readProperties(tool.schema).filter((property) => property.isRequired);
  const isOneText =
    required.length === 1 && required.every(({ schema }) => isText(schema) && readChoices(schema) === undefined);
  if (!isOneText || subject.quoted.length > 0 || subject.names.length < 2) return [planCall(tool, source)];
  return subject.names.slice(0, 8).map((name) => planCall(tool, { ...source, texts: [name] }));
}

const SHELL_TOOLS: ReadonlySet<string> = new Set(
  "Bash bash shell run_command execute_command run_shell_command run_terminal_cmd".split(" "),
);
const READ_TOOLS: ReadonlySet<string> = new Set("Read read read_file view_file".split(" "));
const COMMAND_FIELDS: readonly string[] = ["command", "cmd"];
const PATH_FIELDS: readonly string[] = ["file_path", "path", "absolute_path", "filePath", "file"];

/**
 * Whether the request comes from a coding agent. Its own tools change files and start processes, so none of them is
 * called just because it shares a word with a question.
 */
export function isCodingAgent(tools: readonly PromptTool[]): boolean {
  const names = new Set(tools.map((tool) => tool.name));
  return (names.has("Bash") && names.has("Read")) || names.has("run_shell_command");
}

/** Whether a tool was added to a coding agent by its user. */
export function isAddedTool(tool: PromptTool): boolean {
  return tool.name.startsWith("mcp__");
}

/** Plans a shell command or the reading of a file, if the user explicitly asks for it. */
export function planCommand(prompt: ModelPrompt, question: string): PlannedCall | undefined {
  const command = /\b(?:run|execute)\b[^`\n]{0,60}`([^`\n]+)`/i.exec(question)?.[1];
  if (command !== undefined) return fill(prompt.tools, SHELL_TOOLS, COMMAND_FIELDS, command);
  const path = /\bread\s+(?:the\s+)?(?:file\s+)?["'`]?((?:[\w.~-]*\/)*[\w~-]+(?:\.[\w~-]+)+|\/[\w./~-]+)/i.exec(
    question,
  )?.[1];
  if (path !== undefined) return fill(prompt.tools, READ_TOOLS, PATH_FIELDS, makeAbsolute(path, prompt.instructions));
  return undefined;
}

function fill(
  tools: readonly PromptTool[],
  names: ReadonlySet<string>,
  fields: readonly string[],
  value: string,
): PlannedCall | undefined {
  for (const tool of tools) {
    if (!names.has(tool.name)) continue;
    const properties = readProperties(tool.schema);
    const field = properties.find((property) => fields.includes(property.name) && isText(property.schema));
    const needs = properties.filter((property) => property.isRequired && property !== field);
    if (field === undefined || needs.some((property) => !isText(property.schema))) continue;
    const others = needs.map((property): [string, unknown] => [property.name, `As the user asked: ${value}`]);
    return { name: tool.name, input: Object.fromEntries([[field.name, value], ...others]) };
  }
  return undefined;
}

/** A coding agent states its working directory, and accepts only absolute paths. */
function makeAbsolute(path: string, instructions: string): string {
  if (path.startsWith("/")) return path;
  const folder = /working directory: (\/\S*)/i.exec(instructions)?.[1];
  return folder === undefined ? path : `${folder.replace(/\/$/, "")}/${path}`;
}
