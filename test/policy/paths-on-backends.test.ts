import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { type RunOptions, startRun, systemWorld } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { createSystemFiles } from "#transports";
import { beforeAll, describe, expect, it } from "vitest";
import { BACKENDS, createTestWorld, runToEnd } from "../conformance/model-backends.ts";
import { describeRealCli, realCliOptions } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";

// The same rules about the same files, with our tool on every backend and with the CLI's own.

const top = temporaryFolder("rules");
const cwd = join(top, "work");

beforeAll(() => {
  for (const folder of ["work/private", "work/src", "outside"]) mkdirSync(join(top, folder), { recursive: true });
  for (const file of ["work/private/key", "work/src/a.txt", "outside/key"]) writeFileSync(join(top, file), "the words");
  symlinkSync("private", join(cwd, "alias"));
  symlinkSync(join(top, "outside"), join(cwd, "out"));
});

type Play = (path: string, options: RunOptions) => Promise<readonly AgentEvent[]>;

const scriptOf = (name: string, input: unknown): EmulatorScript =>
  ({
    rules: [
      { match: { tool: name, turn: 0 }, reply: { text: "before", toolCalls: [{ name, input }] } },
      { match: { tool: name }, reply: { text: "after" } },
    ],
    otherwise: { text: "something else" },
  }) as EmulatorScript;

const note = (ran: string[]) =>
  tool("Note", "Reads a note", { file_path: "string" }, ({ file_path }) => {
    ran.push(file_path);
    return "the words";
  });

function playModel(backend: string): Play {
  return async (path, options) => {
    const scene = createTestWorld(scriptOf("Note", { file_path: path }));
    const world = { ...scene.world, files: createSystemFiles() };
    return runToEnd(backend, "go", { ...options, cwd, tools: [note([])] }, { world, clock: scene.clock });
  };
}

function playCli(name: string): Play {
  const tools = name === "Read" ? {} : { tools: [note([])] };
  const vendorName = name === "Read" ? name : `mcp__millrace__${name}`;
  return (path, options) => playScript(scriptOf(vendorName, { file_path: path }), { ...options, ...tools });
}

async function playScript(script: EmulatorScript, options: RunOptions): Promise<readonly AgentEvent[]> {
  const emulator = createEmulator({ script });
  try {
    const { url } = await emulator.listen();
    const env = {
      PATH: process.env["PATH"],
      HOME: top,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-ant-offline",
    };
    const run = startRun(
      "claude-code",
      "go",
      { ...options, cwd, claudeCode: realCliOptions() },
      { ...systemWorld(), env },
    );
    await run.done();
    const log: AgentEvent[] = [];
    for await (const event of run) log.push(event);
    assertRunLog(log);
    await run.closed;
    return log;
  } finally {
    await emulator.close();
  }
}

type DescribeStage = (title: string, define: () => void) => void;
const STAGES: readonly (readonly [title: string, name: string, play: Play, describeStage: DescribeStage])[] = [
  ...BACKENDS.map((backend) => [backend, "Note", playModel(backend), describe] as const),
  ["the CLI and our tool", "Note", playCli("Note"), describeRealCli],
  ["the CLI and its own tool", "Read", playCli("Read"), describeRealCli],
];

for (const [title, name, play, describeStage] of STAGES) {
  describeStage(`rules about paths on ${title}`, () => {
    const outcome = async (pattern: string, path: string, list: "allow" | "deny" = "deny"): Promise<string> => {
      const rule = `${name}(${pattern.replace("@", top)})`;
      const rules = list === "deny" ? { deny: [rule] } : { allow: [rule], otherwise: "deny" as const };
      const log = await play(path.replace("@", top), { permissions: rules });
      const result = log.find((event) => event.type === "tool-result");
      return result?.isError === false ? "ran" : "denied";
    };

    it.each([
      ["private/*", "@/work/private/key"],
      ["private/*", "@/work/alias/key"],
      ["@/outside/*", "@/work/out/key"],
    ])("F-A11: a rule that denies %s is not passed by %s", async (pattern, path) => {
      expect(await outcome(pattern, path)).toBe("denied");
    });

    it("F-A11: other files may be read", async () => {
      expect(await outcome("private/*", "@/work/src/a.txt")).toBe("ran");
    });

    it("F-A11: a rule that allows a folder does not allow what a link in it leads to", async () => {
      expect(await outcome("*", "@/work/src/a.txt", "allow")).toBe("ran");
      expect(await outcome("@/work/*", "@/work/src/a.txt", "allow")).toBe("ran");
      expect(await outcome("@/work/*", "@/work/out/key", "allow")).toBe("denied");
    });
  });
}

describeRealCli("rules about tools of the CLI that were renamed", () => {
  const input = { description: "d", prompt: "p", subagent_type: "general-purpose" };

  it.each(["Task", "Agent"])(
    "F-A11: the name %s is a rule, and a hook, about the tool of today and of before",
    async (name) => {
      for (const called of ["Task", "Agent"]) {
        const rules = [{ match: { tool: "Bash", turn: 0, times: 1 }, reply: { toolCalls: [{ name: called, input }] } }];
        const script = { rules, otherwise: { text: "after" } } as EmulatorScript;
        const denied = await playScript(script, { permissions: { deny: [name], otherwise: "allow" } });
        expect(denied.filter(({ type }) => type === "permission")).toMatchObject([{ state: "denied", by: "rule" }]);
        let seen = 0;
        const hook = { tool: name, run: () => void (seen += 1) };
        const hooks = { "before-tool": [hook], "after-tool": [hook] };
        await playScript(script, { hooks, permissions: { allow: [name], otherwise: "deny" } });
        expect([called, seen]).toEqual([called, 2]);
      }
    },
  );
});
