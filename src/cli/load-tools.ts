import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { StartError } from "#domain";
import { explainLoad, ignoreSecondReport } from "#runtime";
import { type Tool, tool } from "#tools";
import { usageError } from "./usage-error.ts";

/** Loads the tools of a module: all exports created by `tool(…)`, single or in lists. */
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

/** The default tools of the offline model: enough to show a tool call. */
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

/** All exports of a flag's module, with lists flattened. `flag` is the flag with its value, for messages. */
export async function loadExports(flag: string, file: string): Promise<readonly unknown[]> {
  const module = await import(pathToFileURL(file).href).catch((error: unknown) => {
    ignoreSecondReport(error);
    throw usageError(`${flag} could not be loaded: ${explainLoad(error, file)}`, error);
  });
  return Object.values(module as Record<string, unknown>).flat();
}
