import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { StartError } from "#domain";
import { type Tool, tool } from "#tools";
import { loadExports } from "./load-module.ts";

/** The tools of a module: everything it exports that `tool(…)` made, alone or in lists. */
export async function loadTools(path: string, cwd: string): Promise<readonly Tool[]> {
  const file = resolve(cwd, path);
  await access(file).catch((error) => {
    throw new StartError("invalid-option", `--tools ${path}: there is no such file (${file}). Check the path.`, {
      cause: error,
    });
  });
  const tools = (await loadExports(`--tools ${path}`, file)).filter(isTool);
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

function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && "inputSchema" in value && "parse" in value && "run" in value;
}
