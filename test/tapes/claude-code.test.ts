import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmulator } from "#emulator";
import { type RunOptions, systemWorld, type World } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { replay } from "../../src/runtime/replay.ts";
import { locateRealCli, realCliOptions } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { eventsOf, record, withoutMode, withoutTimes } from "./tape-world.ts";

const executable = locateRealCli();
const emulator = createEmulator();
let world: World;
const home = temporaryFolder("tape-claude");

beforeAll(async () => {
  const { url } = await emulator.listen();
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-canary-0123456789",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  world = { ...systemWorld(), env };
});
afterAll(() => emulator.close());

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

describe.skipIf(executable === undefined || !existsSync(executable))(
  "AT-66: the real Claude Code CLI on a tape",
  () => {
    it.each<[string, RunOptions]>([
      ["plain", {}],
      [
        "with a tool of ours and a permission callback, over the control channel",
        {
          tools: [add],
          permission: () => ({ allow: true }),
          hooks: { "before-tool": [() => undefined] },
        },
      ],
    ])("%s: the same events without a process, and no key", async (_, options) => {
      const claudeCode = { ...realCliOptions(), cwd: home };
      const recorded = await record("claude-code/offline", { ...options, claudeCode }, world);
      expect(recorded.events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
      expect(recorded.text).not.toContain("canary");
      const asked = emulator.requests.length;
      const again = await eventsOf(replay(recorded.path));
      assertRunLog([...again]);
      // Several things go on at once here, so a reading of the clock may fall to a neighbour.
      expect(withoutTimes(withoutMode(again))).toEqual(withoutTimes(withoutMode(recorded.events)));
      expect(emulator.requests).toHaveLength(asked);
    });
  },
);
