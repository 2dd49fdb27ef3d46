import { isAbsolute, relative, resolve } from "node:path";
import { MEMO_TOOLS, READING_TOOLS } from "../backends/claude-code/reading-tools.ts";
import type { Agent } from "./agent.ts";
import type { RunOptions } from "./options.ts";
import type { Target } from "./plan-run.ts";
import { requireName } from "./resolve-backend.ts";

/**
 * The options of a run that somebody else asks for: an agent with tools of its own asks a person before it uses one that
 * writes, runs or reaches out. Reading in the working folder, and tools that were given to it, need no question.
 *
 * Rules of whoever set the run up go first; a `permission` callback or `permissions.otherwise` decides instead.
 */
export function askFirst(target: Target, options: RunOptions, folder: string): RunOptions {
  const agents = agentsOf(target);
  if ([options, ...agents].some(isDecided)) return options;
  if (!agents.some(({ backend }) => hasOwnTools(backend))) return options;
  const own = new Set(
    [...(options.tools ?? []), ...agents.flatMap(({ tools }) => tools ?? [])].map(({ name }) => name),
  );
  const cwd = resolve(folder, options.claudeCode?.cwd ?? options.cwd ?? "");
  return {
    ...options,
    permission({ name, input, reason }) {
      // A rule or a hook wants somebody to decide.
      if (reason !== undefined) return "ask";
      return own.has(name) || MEMO_TOOLS.includes(name) || readsInside(name, input, cwd) ? { allow: true } : "ask";
    },
  };
}

/** Whoever set the run up has said what happens to calls that no rule is about. */
function isDecided({ permission, permissions }: Pick<RunOptions, "permission" | "permissions">): boolean {
  return permission !== undefined || permissions?.otherwise !== undefined;
}

function agentsOf(target: Target): readonly (Pick<Agent, "backend"> & Partial<Agent>)[] {
  if (typeof target === "string") return [{ backend: target }];
  if ("agents" in target) return target.agents;
  return "backend" in target ? [target] : [{ backend: target }];
}

function hasOwnTools(backend: Agent["backend"]): boolean {
  if (typeof backend !== "string") return backend.kind === "agent";
  return requireName(backend).name === "claude-code";
}

/** Whether a call only looks at files of the working folder, as far as its own words say. */
function readsInside(name: string, input: unknown, cwd: string): boolean {
  const fields = Object.hasOwn(READING_TOOLS, name) ? READING_TOOLS[name] : undefined;
  if (fields === undefined || typeof input !== "object" || input === null) return false;
  return fields.every((field) => {
    const value = Object.hasOwn(input, field) ? (input as Readonly<Record<string, unknown>>)[field] : undefined;
    if (value === undefined) return true;
    if (typeof value !== "string" || value.startsWith("~")) return false;
    const way = relative(cwd, resolve(cwd, value));
    return !isAbsolute(way) && way.split(/[\\/]/)[0] !== ".." && !value.split(/[\\/]/).includes("..");
  });
}
