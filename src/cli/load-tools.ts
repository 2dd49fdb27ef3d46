import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describeThrown, StartError } from "#domain";
import { type Tool, tool } from "#tools";

/** The tools of a module: everything it exports that `tool(…)` made, alone or in lists. */
export async function loadTools(path: string, cwd: string): Promise<readonly Tool[]> {
  const file = resolve(cwd, path);
  await access(file).catch((error) => {
    throw new StartError("invalid-option", `--tools ${path}: there is no such file (${file}).`, { cause: error });
  });
  const module = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new StartError("invalid-option", `--tools ${path} could not be loaded: ${describeFault(error, file)}`, {
      cause: error,
    });
  });
  const tools = Object.values(module as Record<string, unknown>)
    .flat()
    .filter(isTool);
  if (tools.length > 0) return tools;
  throw new StartError(
    "invalid-option",
    `--tools ${path} exports no tool. Export what tool(name, description, input, run) returns.`,
  );
}

/** What the offline model is given when nothing else is: enough to show a tool call. */
export function demoTools(): readonly Tool[] {
  const numbers = { a: "number", b: "number" } as const;
  return [
    tool("add", "Add two numbers", numbers, ({ a, b }) => a + b),
    tool("subtract", "Subtract the second number from the first", numbers, ({ a, b }) => a - b),
    tool("multiply", "Multiply two numbers", numbers, ({ a, b }) => a * b),
    tool("divide", "Divide the first number by the second", numbers, ({ a, b }) => a / b),
  ];
}

/** Node tells the place of a syntax error only to a terminal, so the way to see it is named. */
function describeFault(error: unknown, file: string): string {
  const fault = describeThrown(error);
  return error instanceof SyntaxError ? `${fault} (node --check ${file} shows where)` : fault;
}

function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && "inputSchema" in value && "parse" in value && "run" in value;
}
