import type { Run } from "#run";
import type { AgentEvent, RunResult } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { type RunOptions, startRun, systemWorld, type World } from "#runtime";
import { assertRunLog } from "#testing";
import { isQuick } from "../effort.ts";
import { locateRealCli, realCliOptions } from "../real-cli.ts";
import { makeFolder, removeFolder } from "../temporary-folder.ts";

/** One way to carry out a run: a backend, and for Claude Code how it is spoken to. */
export interface TestTarget {
  readonly name: string;
  readonly backend: string;
  readonly isCli: boolean;
  readonly options: RunOptions;
  /** The name under which the model knows a tool of ours. */
  toolName(name: string): string;
}

const model = (backend: string): TestTarget => ({
  name: backend,
  backend,
  isCli: false,
  options: {},
  toolName: (name) => name,
});

const cli = (mode: "plain" | "control"): TestTarget => ({
  name: `claude-code, ${mode} mode`,
  backend: "claude-code",
  isCli: true,
  options: { claudeCode: { ...realCliOptions(), mode } },
  toolName: (name) => `mcp__millrace__${name}`,
});

/** The APIs, each in its own protocol. */
export const MODEL_TARGETS: readonly TestTarget[] = ["anthropic/test", "openai/test", "google/test"].map(model);

/** The quick set plays the APIs only. */
const hasCli = !isQuick && locateRealCli() !== undefined;

/** Claude Code in control mode, where tools of ours can be offered. */
export const CONTROL_TARGETS: readonly TestTarget[] = hasCli ? [cli("control")] : [];

/** Every target that can be offered tools of ours. */
export const TOOL_TARGETS: readonly TestTarget[] = [...MODEL_TARGETS, ...CONTROL_TARGETS];

/** Every target there is. */
export const ALL_TARGETS: readonly TestTarget[] = [...TOOL_TARGETS, ...(hasCli ? [cli("plain")] : [])];

/** An offline model server on loopback, and an empty home. */
export interface Stage {
  readonly world: World;
  readonly home: string;
  readonly emulator: ReturnType<typeof createEmulator>;
  start(target: TestTarget, input: Parameters<typeof startRun>[1], options?: RunOptions, world?: World): Run<unknown>;
  /** Runs to the end; the log keeps every promise. */
  play(
    target: TestTarget,
    input: Parameters<typeof startRun>[1],
    options?: RunOptions,
  ): Promise<{ readonly log: readonly AgentEvent[]; readonly result: RunResult }>;
  close(): Promise<void>;
}

export async function openStage(script?: EmulatorScript): Promise<Stage> {
  const emulator = createEmulator(script === undefined ? {} : { script });
  const { url } = await emulator.listen();
  const home = makeFolder("stage");
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-offline",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "offline",
    GEMINI_API_KEY: "offline",
    GOOGLE_GEMINI_BASE_URL: url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
  };
  const world: World = { ...systemWorld(), env };
  const started: Run<unknown>[] = [];
  const start: Stage["start"] = (target, input, options = {}, given = world) => {
    const claudeCode = { ...target.options.claudeCode, ...options.claudeCode };
    const place = target.isCli ? { cwd: home, claudeCode } : {};
    const run = startRun(target.backend, input, { ...options, ...place }, given);
    started.push(run);
    return run;
  };
  return {
    world,
    home,
    emulator,
    start,
    async play(target, input, options) {
      const run = start(target, input, options);
      const log: AgentEvent[] = [];
      for await (const event of run) log.push(event);
      assertRunLog(log);
      return { log, result: await run.result() };
    },
    async close() {
      // A CLI may still write to its home after `done`; it is gone when the run is closed.
      await Promise.all(started.map((run) => run.abort("The stage is closed.")));
      await emulator.close();
      await removeFolder(home);
    },
  };
}
