import { describe } from "vitest";
import type { AgentEvent } from "#domain";
import { createEmulator, type Emulator, type EmulatorScript } from "#emulator";
import { startRun, systemWorld } from "#runtime";
import { assertRunLog } from "#testing";
import { locateRealCli, realCliOptions } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { describePolicy, type Scene, type Stage } from "./suite.ts";

// The same promises as on the model backends, kept by the real CLI in control mode: its model is our offline server.

const executable = locateRealCli();
const home = temporaryFolder("policy");

/** Only requests that offer our tool are the agent's own; the CLI also asks for titles and the like. */
function scriptOf({ calls = [], text = "after" }: Scene): EmulatorScript {
  const tool = "mcp__millrace__probe";
  const toolCalls = calls.map(({ name, input }) => ({ name: `mcp__millrace__${name}`, input }));
  const rules =
    calls.length === 0
      ? [{ match: { tool }, reply: { text } }]
      : [
          { match: { tool, turn: 0 }, reply: { text: "before", toolCalls } },
          { match: { tool }, reply: { text: "after" } },
        ];
  return { rules, otherwise: { text: "something else" } } as EmulatorScript;
}

async function playOn(emulator: Emulator, scene: Scene): Promise<readonly AgentEvent[]> {
  const { url } = await emulator.listen();
  const world = systemWorld();
  const run = startRun(
    "claude-code",
    "go",
    { ...scene.options, cwd: home, claudeCode: realCliOptions() },
    {
      ...world,
      env: { PATH: process.env["PATH"], HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-offline" },
    },
  );
  scene.onRun?.(run);
  const log: AgentEvent[] = [];
  if (scene.isAlone === true) await run.done();
  for await (const event of run) log.push(event);
  assertRunLog(log);
  await run.closed;
  return log;
}

const stage: Stage = {
  name: "the real Claude Code CLI",
  async play(scene) {
    const emulator = createEmulator({ script: scriptOf(scene) });
    try {
      return await playOn(emulator, scene);
    } finally {
      await emulator.close();
    }
  },
};

describe.runIf(executable !== undefined)("Claude Code", () => describePolicy(stage));
