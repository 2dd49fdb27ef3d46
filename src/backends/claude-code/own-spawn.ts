import { describeValue, type ProcessHandle, StartError } from "#domain";
import type { ClaudeCodeWorld } from "./world.ts";
import type { ClaudeCodeOptions } from "./options.ts";

/**
 * The world with the caller's own `spawn`, if there is one. Where its processes run is unknown: they are neither
 * searched among the processes of this machine nor guarded by the watchdog, and are stopped only through their handle.
 */
export function withOwnSpawn({ spawn }: ClaudeCodeOptions, world: ClaudeCodeWorld): ClaudeCodeWorld {
  if (spawn === undefined) return world;
  return {
    ...world,
    spawn: async (request) => requireHandle(await spawn(request)),
    processes: undefined,
    watchdog: undefined,
    versions: undefined,
  };
}

const METHODS = ["write", "endInput", "kill"] as const satisfies readonly (keyof ProcessHandle)[];
const OUTPUTS = ["stdout", "stderr"] as const satisfies readonly (keyof ProcessHandle)[];

function requireHandle(handle: ProcessHandle): ProcessHandle {
  if (typeof handle !== "object" || handle === null) {
    throw invalid(`gave ${describeValue(handle)}`, "a handle on the process");
  }
  for (const name of OUTPUTS) {
    if (typeof handle[name]?.[Symbol.asyncIterator] !== "function") {
      throw invalid(`gave a handle whose ${name} is ${describeValue(handle[name])}`, "an async iterable of bytes");
    }
  }
  for (const name of METHODS) {
    if (typeof handle[name] !== "function") {
      throw invalid(`gave a handle whose ${name} is ${describeValue(handle[name])}`, "a function");
    }
  }
  if (typeof handle.exit?.then !== "function") {
    throw invalid(`gave a handle whose exit is ${describeValue(handle.exit)}`, "a promise of { code, signal }");
  }
  return handle;
}

function invalid(what: string, remedy: string): StartError {
  return new StartError("invalid-option", `claudeCode.spawn ${what}. Give ${remedy}.`);
}
