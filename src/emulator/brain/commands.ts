import type { ModelPrompt, PromptTool } from "../prompt.ts";
import { isText, readProperties } from "./schema.ts";
import type { PlannedCall } from "./sum-tools.ts";

const SHELL_TOOLS: ReadonlySet<string> = new Set(
  "Bash bash shell run_command execute_command run_shell_command run_terminal_cmd".split(" "),
);
const READ_TOOLS: ReadonlySet<string> = new Set("Read read read_file view_file".split(" "));
const COMMAND_FIELDS: readonly string[] = ["command", "cmd"];
const PATH_FIELDS: readonly string[] = ["file_path", "path", "absolute_path", "filePath", "file"];

/**
 * Whether the request comes from a coding agent. Its own tools change files and start processes, so none of them is
 * called because of a word they share with a question.
 */
export function isCodingAgent(tools: readonly PromptTool[]): boolean {
  const names = new Set(tools.map((tool) => tool.name));
  return (names.has("Bash") && names.has("Read")) || names.has("run_shell_command");
}

/** Whether a tool was added to a coding agent by its user. */
export function isAddedTool(tool: PromptTool): boolean {
  return tool.name.startsWith("mcp__");
}

/** Plans a command or a look into a file, when the user asks for one in so many words. */
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

/** A coding agent says where it works, and takes only whole paths. */
function makeAbsolute(path: string, instructions: string): string {
  if (path.startsWith("/")) return path;
  const folder = /working directory: (\/\S*)/i.exec(instructions)?.[1];
  return folder === undefined ? path : `${folder.replace(/\/$/, "")}/${path}`;
}
