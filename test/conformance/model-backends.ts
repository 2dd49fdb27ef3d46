import type { AgentEvent } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { type RunOptions, startRun, type World } from "#runtime";
import {
  assertRunLog,
  createSeededRandom,
  createVirtualClock,
  type VirtualClock,
  createMemoryFiles,
  createScriptedSpawn,
} from "#testing";
import { tool } from "#tools";

/** The model backends by name, as callers write them. */
export const BACKENDS = ["anthropic/test", "openai/test", "google/test", "openrouter/test"] as const;

export const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const KEYS = {
  ANTHROPIC_API_KEY: "test-key",
  ANTHROPIC_BASE_URL: "http://offline.test",
  OPENAI_API_KEY: "test-key",
  OPENAI_BASE_URL: "http://offline.test/v1",
  OPENROUTER_API_KEY: "test-key",
  OPENROUTER_BASE_URL: "http://offline.test/v1",
  GEMINI_API_KEY: "test-key",
  GOOGLE_GEMINI_BASE_URL: "http://offline.test",
};

/** A world whose only host is a strict offline model server. */
export function createTestWorld(script?: EmulatorScript) {
  const clock = createVirtualClock();
  const random = createSeededRandom(1);
  const emulator = createEmulator({ clock, random, strict: true, ...(script !== undefined && { script }) });
  const world: World = {
    clock,
    random,
    fetch: emulator.fetch,
    env: KEYS,
    spawn: createScriptedSpawn([]),
    files: createMemoryFiles(),
    onListenerError: () => undefined,
  };
  return { world, clock, emulator };
}

/** Runs to the end, moving time on while the run waits for it. */
export async function runToEnd(
  backend: string,
  prompt: Parameters<typeof startRun>[1],
  options: RunOptions,
  { world, clock }: { readonly world: World; readonly clock: VirtualClock },
): Promise<AgentEvent[]> {
  const run = startRun(backend, prompt, options, world);
  const log: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of run) log.push(event);
  })();
  while (!run.isComplete()) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!run.isComplete() && clock.pending() > 0) await clock.advance(30_000);
  }
  await reading;
  assertRunLog(log);
  return log;
}

/** What a run is about, without ids, times and the number of pieces. */
export function outline(log: readonly AgentEvent[]): string[] {
  const lines: string[] = [];
  for (const event of log) {
    const line = describeEvent(event);
    if (line !== lines.at(-1)) lines.push(line);
  }
  return lines;
}

function describeEvent(event: AgentEvent): string {
  switch (event.type) {
    case "tool-call":
      return `tool-call ${event.name} ${JSON.stringify(event.input)}`;
    case "tool-result":
      return `tool-result ${event.name} ${JSON.stringify(event.output)}`;
    case "message":
      return `message ${event.role} ${event.stopReason ?? ""}`.trim();
    case "result":
      return `result ${event.subtype}`;
    case "done":
      return `done ${event.result.status}`;
    default:
      return event.type;
  }
}
