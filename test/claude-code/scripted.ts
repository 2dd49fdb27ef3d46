import {
  createMemoryFiles,
  createScriptedSpawn,
  createSeededRandom,
  createVirtualClock,
  type ScriptedSpawn,
  type SpawnScript,
  type SpawnStep,
  type VirtualClock,
} from "#testing";
import {
  type ClaudeCodeBackend,
  type ClaudeCodeBackendOptions,
  createClaudeCodeBackend,
} from "../../src/backends/claude-code/backend.ts";
import type { ClaudeCodeWorld } from "../../src/backends/claude-code/world.ts";

/** A world in which the CLI follows a script and no time passes by itself. */
export interface ScriptedPlace {
  readonly world: ClaudeCodeWorld;
  readonly clock: VirtualClock;
  readonly spawn: ScriptedSpawn;
  backend(options?: ClaudeCodeBackendOptions): ClaudeCodeBackend;
}

/** `versionCheck`: the first process is then the one that is asked for its version. */
export function openScripted(script: SpawnScript): ScriptedPlace {
  const clock = createVirtualClock();
  const spawn = createScriptedSpawn(script, { clock });
  const world: ClaudeCodeWorld = {
    clock,
    random: createSeededRandom(1),
    spawn,
    files: createMemoryFiles(),
    probe: async () => "executable",
    env: { PATH: "/usr/bin" },
    cwd: "/work",
    temporaryFolder: "/tmp",
    processes: undefined,
  };
  return {
    world,
    clock,
    spawn,
    backend: (options = {}) => createClaudeCodeBackend({ skipVersionCheck: true, ...options }, world),
  };
}

export const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

export const INIT = {
  type: "system",
  subtype: "init",
  session_id: "session-1",
  model: "m",
  tools: ["Bash", "mcp__millrace__add"],
};

/** A whole assistant message of one block. */
export const says = (id: string, text: string) => ({
  type: "assistant",
  message: { id, role: "assistant", model: "m", content: [{ type: "text", text }], usage: {} },
  parent_tool_use_id: null,
  session_id: "session-1",
});

export const calls = (id: string, callId: string, name: string, input: unknown) => ({
  type: "assistant",
  message: { id, role: "assistant", model: "m", content: [{ type: "tool_use", id: callId, name, input }], usage: {} },
  parent_tool_use_id: null,
});

export const answers = (callId: string, content: unknown, isError = false) => ({
  type: "user",
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: callId, content, is_error: isError }] },
  parent_tool_use_id: null,
});

export const result = (text = "done", more: object = {}) => ({
  type: "result",
  subtype: "success",
  is_error: false,
  result: text,
  session_id: "session-1",
  num_turns: 1,
  ...more,
});

export const writes = (...values: readonly unknown[]): SpawnStep => ({ write: values.map(line).join("") });

/** Answers whatever request stands in a line with success. */
export const greet: SpawnStep = {
  reply: (text) => {
    const { request_id } = JSON.parse(text) as { request_id: string };
    return line({ type: "control_response", response: { subtype: "success", request_id, response: {} } });
  },
};

/** The lines a process was given, as values. */
export function inputs(stdin: string): Record<string, unknown>[] {
  return stdin
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => JSON.parse(text) as Record<string, unknown>);
}
