import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { createEmulator, type ScriptRule } from "#emulator";
import { assertRunLog } from "#testing";
import { ROOT } from "../../scripts/set-up.mjs";
import { openStore } from "../../src/runtime/stores/sqlite.ts";
import { describeRealCli, realCliOptions } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { runCli } from "./cli.ts";
import { hasTerminal, openTerminal, type Terminal } from "./terminal.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const folder = temporaryFolder("kept-chat");
const MILLRACE = JSON.stringify(pathToFileURL(join(ROOT, "dist", "index.js")).href);

/** A chat in a folder of its own, whose tools write down that they ran, and in which process the chat is. */
function place(name: string, more: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const home = join(folder, name);
  mkdirSync(home);
  const effects = join(home, "effects");
  const pid = join(home, "pid");
  const tools = join(home, "tools.mjs");
  writeFileSync(
    tools,
    `import { appendFileSync, writeFileSync } from "node:fs";
     import { park, tool } from ${MILLRACE};
     writeFileSync(${JSON.stringify(pid)}, String(process.pid));
     const done = (what) => (appendFileSync(${JSON.stringify(effects)}, what + "\\n"), what);
     export const refund = tool("refund", "Refund an order", { order: "string" }, ({ order }) => done("refunded " + order));
     export const review = tool("review", "Review a change", { change: "string" }, () => (done("sent"), park()));`,
  );
  const data = join(home, "data");
  const args = ["chat", "--data", data, "--tools", tools, "--ask", "refund", ...more];
  return {
    args,
    data,
    open: (): Terminal => openTerminal(args, { env: { HOME: home, ...env }, cwd: home }),
    effects: () => (existsSync(effects) ? readFileSync(effects, "utf8").trim().split("\n") : []),
    kill: () => execFileSync("kill", ["-9", readFileSync(pid, "utf8")]),
    async logs() {
      const store = await openStore(data);
      const runs = await store.listRuns();
      const logs = await Promise.all(runs.map(({ id }) => store.read(id)));
      await store.close();
      return { runs, logs };
    },
  };
}

describe.skipIf(!hasTerminal)("Runs that survive: a chat", () => {
  it("asks again what was open after kill -9, Ctrl-C and the end of its input; the answer ends the run, and the tool runs once", async () => {
    const { open, effects, kill, logs } = place("question");
    const first = open();
    await first.seen("> ");
    first.type('Refund order "17".\r');
    await first.seen("Allow?");
    kill();
    await first.exit;
    for (const keys of [CTRL_C, CTRL_D]) {
      const next = open();
      await next.seen('> Refund order "17".');
      await next.seen("Allow?");
      next.type(keys);
      expect(await next.exit).toBe(130);
      expect(next.screen()).toContain("This is not over. millrace chat --data");
    }
    expect(effects()).toEqual([]);
    const last = open();
    await last.seen("Allow?");
    last.type("y\r");
    await last.seen("refund answered: refunded 17");
    await last.seen("> ");
    last.type("What is 2 + 3?\r");
    await last.seen("done");
    await last.seen("> ");
    last.type(CTRL_D);
    expect(await last.exit).toBe(0);
    expect(effects()).toEqual(["refunded 17"]);
    const { runs, logs: kept } = await logs();
    expect(runs.map(({ status }) => status)).toEqual(["success", "success"]);
    expect(new Set(runs.map(({ threadId }) => threadId)).size).toBe(1);
    for (const log of kept) assertRunLog(log);
    expect(kept.flat().filter(({ type }) => type === "tool-call")).toHaveLength(1);
  });

  it("a denial counts too, and the conversation is shown to the next chat; /new begins another one", async () => {
    const { open, effects, logs } = place("denial");
    const first = open();
    await first.seen("> ");
    first.type('Refund order "18".\r');
    await first.seen("Allow?");
    first.type(CTRL_C);
    await first.exit;
    const second = open();
    await second.seen("Allow?");
    second.type("n\r");
    await second.seen("done");
    await second.seen("> ");
    second.type(CTRL_D);
    expect(await second.exit).toBe(0);
    const third = open();
    await third.seen('> Refund order "18".');
    third.type("/new\r");
    third.type("Is there anything else?\r");
    await third.seen("done");
    third.type(CTRL_D);
    await third.exit;
    expect(effects()).toEqual([]);
    const { runs } = await logs();
    expect(new Set(runs.map(({ threadId }) => threadId)).size).toBe(2);
  });

  it("work that goes on elsewhere is not begun again", async () => {
    const { open, effects, data } = place("parked");
    const first = open();
    await first.seen("> ");
    first.type('Review change "9".\r');
    await first.seen("→ review");
    first.type(CTRL_D);
    expect(await first.exit).toBe(130);
    const store = await openStore(data);
    const [run] = await store.listRuns({ isWaiting: true });
    const log = await store.read(run?.id ?? "");
    const call = log.find((event) => event.type === "tool-call");
    await store.addAnswer(run?.id ?? "", {
      callId: call?.callId ?? "",
      at: 1,
      result: { output: "looks good", isError: false },
    });
    await store.close();
    const second = open();
    await second.seen("review answered: looks good");
    await second.seen("> ");
    second.type(CTRL_D);
    expect(await second.exit).toBe(0);
    expect(effects()).toEqual(["sent"]);
  });

  it("a question waits for a person: a chat from a pipe leaves it alone", async () => {
    const { open, args, logs } = place("pipe");
    const first = open();
    await first.seen("> ");
    first.type('Refund order "19".\r');
    await first.seen("Allow?");
    first.type(CTRL_C);
    await first.exit;
    const piped = await runCli(args, { input: "hello\n" });
    expect(piped.code).toBe(2);
    expect(piped.stderr).toContain("waits for your answer to a question");
    expect((await logs()).runs).toMatchObject([{ isOver: false, isWaiting: true }]);
  });
});

describeRealCli("Runs that survive: a chat with Claude Code", () => {
  it.skipIf(!hasTerminal)(
    "its session asks again after kill -9, the tool runs once, and it remembers what was said",
    async () => {
      const call = { name: "mcp__millrace__refund", input: { order: "17" } };
      const rules: readonly ScriptRule[] = [
        { match: { user: "Refund order", turn: 0, times: 1 }, reply: { text: "I ask.", toolCalls: [call] } },
        { match: { user: "Your process ended", times: 1 }, reply: { text: "Again.", toolCalls: [call] } },
        { match: { user: "my name" }, reply: { text: "You are Ada." } },
      ];
      const emulator = createEmulator({ script: { rules, otherwise: { text: "All done." } } });
      const { url } = await emulator.listen();
      const cli = ["-b", "claude-code", "--claude-executable", realCliOptions().executable];
      const { open, kill, effects } = place("claude-code", cli, {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "sk-ant-offline",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        CLAUDE_CODE_MAX_RETRIES: "0",
      });
      const first = open();
      await first.seen("> ");
      first.type("I am Ada. Refund order 17.\r");
      await first.seen("Allow?");
      kill();
      await first.exit;
      const second = open();
      await second.seen("Again.");
      await second.seen("Allow?");
      second.type("y\r");
      await second.seen("All done.");
      await second.seen("> ");
      second.type("What is my name?\r");
      await second.seen("You are Ada.");
      await second.seen("> ");
      second.type(CTRL_D);
      expect(await second.exit).toBe(0);
      expect(effects()).toEqual(["refunded 17"]);
      expect(JSON.stringify(emulator.requests.at(-1)?.body)).toContain("I am Ada.");
      await emulator.close();
    },
  );
});

describe("Runs that survive: a chat from a pipe", () => {
  it("goes on with the conversation", async () => {
    const { args, logs } = place("lines");
    for (const line of ["What is 2 + 3?", "And 4 + 5?"]) {
      expect(await runCli(args, { input: `${line}\n` })).toMatchObject({ code: 0 });
    }
    const { runs } = await logs();
    expect(runs).toHaveLength(2);
    expect(new Set(runs.map(({ threadId }) => threadId)).size).toBe(1);
  });
});
