import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "#domain";
import type { RunInput } from "#agents";
import type { Run } from "#run";
import { startRun, type RunOptions, type Target, type World } from "#runtime";
import {
  createMemoryFiles,
  createScriptedFetch,
  createScriptedSpawn,
  createSeededRandom,
  createVirtualClock,
  type FetchScript,
} from "#testing";
import { makeFolder, removeFolderNow } from "../temporary-folder.ts";

/** A world of scripts, for recordings that need no machine. */
export function scriptedWorld(script: FetchScript, more: Partial<World> = {}): World {
  return {
    clock: createVirtualClock(1_700_000_000_000),
    random: createSeededRandom(7),
    fetch: createScriptedFetch(script),
    spawn: createScriptedSpawn([]),
    files: createMemoryFiles(),
    env: { OPENAI_API_KEY: "sk-canary-0123456789abcdef", ANTHROPIC_API_KEY: "sk-ant-canary-0123456789" },
    onListenerError: () => undefined,
    ...more,
  };
}

/** All events of a run, as plain data. */
export async function eventsOf(run: Run<unknown>): Promise<readonly AgentEvent[]> {
  const log: AgentEvent[] = [];
  for await (const event of run) log.push(JSON.parse(JSON.stringify(event)) as AgentEvent);
  return log;
}

/** The same events, but for the one thing a replay says of itself. */
export function withoutMode(events: readonly AgentEvent[]): readonly unknown[] {
  return events.map((event) => (event.type === "start" ? { ...event, mode: "" } : event));
}

/** The same without the times. */
export function withoutTimes(events: readonly unknown[]): unknown {
  return JSON.parse(
    JSON.stringify(events, (name, value: unknown) =>
      name === "ts" || name === "ms" || name === "silentMs" ? 0 : value,
    ),
  );
}

// Files that share a process share this module: the folder stays until the process ends.
const folder = makeFolder("tapes");
process.once("exit", () => removeFolderNow(folder));
let tapes = 0;

/** A path where there is no file yet. */
export function newTapePath(): string {
  tapes += 1;
  return join(folder, `${tapes}.tape`);
}

export interface Recorded {
  readonly path: string;
  readonly events: readonly AgentEvent[];
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** Runs and records; `use` may do something with the handle meanwhile. */
export async function record(
  target: Target,
  options: RunOptions,
  world: World,
  { input = "What is 25 + 17?", use }: { input?: RunInput; use?: (run: Run<unknown>) => void } = {},
): Promise<Recorded> {
  const path = newTapePath();
  const run = startRun(target, input, { ...options, record: path }, world);
  use?.(run);
  const events = await eventsOf(run);
  // A plain array: slices of a Buffer are the Buffer.
  const bytes = new Uint8Array(readFileSync(path));
  return { path, events, bytes, text: new TextDecoder().decode(bytes) };
}
