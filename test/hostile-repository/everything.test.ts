import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createEmulator } from "#emulator";
import { type RunOptions, startRun, startSession, systemWorld, type World } from "#runtime";
import { main } from "../../src/cli/main.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { closedResult, locateRealCli, realCliOptions } from "../real-cli.ts";
import { startServer } from "../server/support.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { createHostileRepository, type HostileRepository } from "./repository.ts";

// A cloned repository that tries everything, and everything we have in it, with the real CLI. The model is ours; its
// first answer to the word "look" is a `git status` and a `git diff`, which the CLI runs without a question.

const executable = locateRealCli();
const top = temporaryFolder("everything");
const look = {
  name: "Bash",
  input: {
    command: "git status; git diff; git log -p -1; git st; cd vendor/nested; git status; git diff; git st",
    description: "look",
  },
};
const act = { name: "Bash", input: { command: "touch acted", description: "act" } };
const emulator = createEmulator({
  script: {
    rules: [
      { match: { user: "please act", tool: "Bash", turn: 0 }, reply: { toolCalls: [act] } },
      { match: { tool: "Bash", turn: 0 }, reply: { toolCalls: [look] } },
    ],
    otherwise: { text: "the model's answer" },
  },
});
let repository: HostileRepository;
let env: Record<string, string>;
let world: World;
let seen = 0;

beforeAll(async () => {
  const { url } = await emulator.listen();
  repository = await createHostileRepository(top);
  mkdirSync(join(top, "home"));
  env = {
    // As npx would set it in there; and a folder that depends on where we stand.
    PATH: [join(repository.folder, "node_modules/.bin"), ".", process.env["PATH"]].join(":"),
    HOME: join(top, "home"),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-canary",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "sk-canary",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
  };
  world = { ...systemWorld(), env };
});
afterAll(async () => {
  repository.close();
  await emulator.close();
});
beforeEach(() => {
  repository.forget();
  seen = emulator.requests.length;
});

/** Everything that models were sent in this test, as one text. */
const sent = (): string => JSON.stringify(emulator.requests.slice(seen).map(({ body }) => body));

const optionsFor = (mode: "plain" | "control"): RunOptions => ({
  cwd: repository.folder,
  // What the model looks with is allowed, so that nothing but the isolation stands between git and the repository.
  claudeCode: { ...realCliOptions(), mode, allowedTools: ["Bash"] },
});

const cli = async (args: readonly string[]) => {
  const io = createMemoryIo({ cwd: repository.folder, env });
  const code = await main(args, io);
  return { code, stdout: io.stdout(), stderr: io.stderr() };
};
const claude = ["--claude-executable", executable ?? "claude"];

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  "a run in plain mode": () => closedResult(startRun("claude-code", "look", optionsFor("plain"), world)),
  "a run in control mode": () => closedResult(startRun("claude-code", "look", optionsFor("control"), world)),
  "a session": async () => {
    const session = startSession("claude-code", optionsFor("control"), world);
    try {
      await session.send("look").result();
      await session.send("look again").result();
    } finally {
      await session.close();
    }
  },
  "a server": async () => {
    const run = { ...optionsFor("control"), permissions: { allow: ["Bash"] } };
    const { ask, server } = startServer({ world, target: "claude-code", run });
    const { id } = (await (await ask("POST", "/api/threads", {})).json()) as { readonly id: string };
    await (await ask("POST", `/api/threads/${id}/chat`, { input: "look" })).text();
    await server.close();
  },
  "the command line with Claude Code": () => cli(["run", "-b", "claude-code", ...claude, "--allow", "Bash", "look"]),
  "the command line with a model": () => cli(["run", "-b", "openai/x", "look"]),
  "the command line with nobody named": () => cli(["look"]),
  "a chat": () => cli(["chat", "-b", "offline"]),
  explain: () => cli(["explain", "-b", "claude-code"]),
  doctor: () => cli(["doctor", ...claude]),
};

describe.runIf(executable !== undefined)("F-A1 F-A4 SEC4: in a hostile repository", () => {
  it.each(Object.entries(WAYS))("%s runs nothing of it, and sends it nothing", async (_, go) => {
    await go();
    expect({ effects: repository.effects(), heard: repository.heard }).toEqual({ effects: [], heard: [] });
    expect(sent().includes("hostile-memory"), "not a word of it reached the model").toBe(false);
  });

  it("git was really asked: its answer has reached the model", async () => {
    await closedResult(startRun("claude-code", "look", optionsFor("plain"), world));
    expect(/a\.txt[^]*\+two/.test(sent())).toBe(true);
  });

  it("the repository is hostile: whoever trusts it is had", async () => {
    const claudeCode = {
      ...realCliOptions(),
      repositoryGit: true,
      settingSources: ["user" as const, "project" as const, "local" as const],
    };
    await closedResult(startRun("claude-code", "look", { cwd: repository.folder, claudeCode }, world));
    expect(repository.effects()).toEqual(expect.arrayContaining(["fsmonitor", "project SessionStart", "server"]));
    expect(repository.heard.join()).toContain("canary");
  });
});

describe.runIf(executable !== undefined)("F-A2: Claude Code used through a server, by default", () => {
  it("asks before it runs a command; a denial is heard, and nothing was run", async () => {
    const { ask, server } = startServer({
      world,
      target: "claude-code",
      run: { cwd: top, claudeCode: realCliOptions() },
    });
    try {
      const { id } = (await (await ask("POST", "/api/threads", {})).json()) as { readonly id: string };
      const stream = await ask("POST", `/api/threads/${id}/chat`, { input: "please act" });
      const runId = stream.headers.get("x-run-id") ?? "";
      const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      const readUntil = async (pattern: RegExp): Promise<RegExpExecArray> => {
        for (;;) {
          const found = pattern.exec(text);
          if (found !== null) return found;
          const { done, value = "" } = await reader.read();
          if (done) throw new Error(`The stream ended without ${pattern}: ${text}`);
          text += value;
        }
      };
      const [data = "{}"] = await readUntil(/{"type":"permission".*"state":"asked".*}/);
      const { callId, name } = JSON.parse(data) as { readonly callId: string; readonly name: string };
      expect(name).toBe("Bash");
      await ask("POST", `/api/runs/${runId}/permissions/${callId}`, { allow: false, reason: "not on my machine" });
      await readUntil(/"type":"tool-result".*not on my machine/);
      await readUntil(/"type":"done"/);
      expect(existsSync(join(top, "acted"))).toBe(false);
    } finally {
      await server.close();
    }
  });
});
