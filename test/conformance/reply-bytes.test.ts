import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AgentEvent, type Fetch, isDelta, type Spawn } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { type RunOptions, startRun, startSession, systemWorld, type World } from "#runtime";
import { assertRunLog, createScriptedBackend } from "#testing";
import { tool } from "#tools";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import { commandIn } from "../../src/runtime/command.ts";
import { replay } from "../../src/runtime/replay.ts";
import { answers, calls, INIT, line, openScripted, result } from "../claude-code/scripted.ts";
import { describeRealCli, realCliOptions } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { BACKENDS, createTestWorld } from "./model-backends.ts";

const LIMIT = 4000;
const LONG = "A sentence of a model that does not stop. ".repeat(1000);
const script: EmulatorScript = { rules: [{ reply: { text: LONG } }] };

type Run = ReturnType<typeof startRun>;
interface Place {
  readonly target: string;
  readonly options: RunOptions;
  readonly world: World;
}

/** The two ways to ask: a run by itself, and a run of a session. */
const WAYS: readonly [string, (place: Place) => Run][] = [
  ["a run", ({ target, options, world }) => startRun(target, "Go on", options, world)],
  [
    "a session",
    ({ target, options, world }) => {
      const session = startSession(target, options, world);
      onTestFinished(() => session.close());
      return session.send("Go on");
    },
  ],
];

async function eventsOf(run: Run, whileWaiting: () => Promise<void> = async () => undefined): Promise<AgentEvent[]> {
  const log: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of run) log.push(event);
  })();
  while (!run.isComplete()) {
    await new Promise((resolve) => setImmediate(resolve));
    await whileWaiting();
  }
  await reading;
  assertRunLog(log);
  return log;
}

/** The run ended at the limit, says so, and has kept everything that was shown. */
function expectCut(log: readonly AgentEvent[], limitBytes = LIMIT): void {
  const done = log.at(-1);
  if (done?.type !== "done") throw new Error("no done");
  expect(done.result).toMatchObject({
    status: "error",
    subtype: "reply-too-large",
    error: { code: "reply-too-large", terminal: true, diagnostic: { limitBytes } },
  });
  expect(done.result.error?.message).toContain(String(limitBytes));
  expect(done.result.error?.message).toMatch(/limits\.replyBytes.*Raise it, or ask for a shorter answer\./);
  const shown = log.flatMap((event) => (event.type === "text-delta" ? event.text : [])).join("");
  if (shown !== "") expect(done.result.text).toBe(shown);
  expect(LONG.startsWith(done.result.text)).toBe(true);
  expect(done.result.text.length).toBeGreaterThan(Math.min(limitBytes, LONG.length) / 2);
  expect(log.filter(({ type }) => type === "error")).toHaveLength(1);
}

describe.each(BACKENDS)("F-B1: a reply longer than limits.replyBytes, from %s", (target) => {
  it.each(WAYS)("%s ends with reply-too-large, and keeps what was written", async (_, ask) => {
    const { world, clock } = createTestWorld(script);
    const run = ask({ target, options: { limits: { replyBytes: LIMIT } }, world });
    expectCut(await eventsOf(run, async () => void (clock.pending() > 0 && (await clock.advance(500)))));
  });

  it("one of exactly the limit passes", async () => {
    const { world, clock } = createTestWorld(script);
    const run = startRun(target, "Go on", { limits: { replyBytes: LONG.length } }, world);
    const log = await eventsOf(run, async () => void (clock.pending() > 0 && (await clock.advance(500))));
    expect(log.at(-1)).toMatchObject({ type: "done", result: { status: "success", text: LONG } });
  });
});

describe("F-B1: a run that sets no limit", () => {
  it.each([
    [0, "success"],
    [1, "reply-too-large"],
  ] as const)("with a reply of 16 MiB and %i bytes more ends with %s", async (more, subtype) => {
    const text = "x".repeat(16 * 1024 * 1024 + more);
    const result = await startRun(createScriptedBackend([{ text }]), "Go on", {}, createTestWorld().world).result();
    expect(result.subtype).toBe(subtype);
  });
});

describe("F-B1: a reply that is written on one line of more than 10 MiB", () => {
  const MEGABYTE = 1_048_576;
  const call = (megabytes: number) => ({ callId: "c1", name: "keep", text: "x".repeat(megabytes * MEGABYTE) });
  const keep = tool("keep", "Keeps it.", { text: "string" }, () => "kept");
  async function* inReads(text: string): AsyncGenerator<Uint8Array> {
    const bytes = new TextEncoder().encode(text);
    for (let from = 0; from < bytes.length; from += 1_000_000) yield bytes.subarray(from, from + 1_000_000);
  }
  const printing =
    (text: string): Spawn =>
    async () => ({
      pid: 1,
      stdout: inReads(text),
      stderr: inReads(""),
      write: async () => undefined,
      endInput: () => undefined,
      kill: () => undefined,
      exit: Promise.resolve({ code: 0, signal: null }),
    });
  /** By target: a run of which one line has a call with a text of so many megabytes. */
  const TARGETS: Readonly<Record<string, (megabytes: number, options: RunOptions) => Run>> = {
    google: (megabytes, options) => {
      const { callId: id, name, text } = call(megabytes);
      const frame = (parts: readonly object[], more = {}) =>
        `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, index: 0, ...more }] })}\n\n`;
      const end = { finishReason: "STOP" };
      const replies = [
        frame([{ functionCall: { id, name, args: { text } } }]) + frame([], end),
        frame([{ text: "Kept." }], end),
      ];
      const fetch: Fetch = async () => ({
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: inReads(replies.shift() ?? ""),
      });
      return startRun("google/test", "Go on", { ...options, tools: [keep] }, { ...createTestWorld().world, fetch });
    },
    command: (megabytes, options) => {
      const { callId: id, name, text } = call(megabytes);
      const lines = [
        { type: "tool_call", id, name, input: { text } },
        { type: "tool_result", id, output: "kept" },
      ];
      const spawn = printing(lines.map(line).join(""));
      const { world } = createTestWorld();
      return startRun(commandIn(["agent"], {}, { ...world, spawn }), "Go on", options, { ...world, spawn });
    },
    "claude-code": (megabytes, options) => {
      const { callId: id, name, text } = call(megabytes);
      const lines = [INIT, calls("m1", id, name, { text }), answers(id, "kept"), result("Kept.")];
      const { world } = openScripted([]);
      const spawn = printing(lines.map(line).join(""));
      const backend = createClaudeCodeBackend({ skipVersionCheck: true, mode: "plain" }, { ...world, spawn });
      return startRun(backend, "Go on", options, { ...createTestWorld().world, spawn });
    },
  };

  it.each(["google", "command"])("%s: is read if the limit allows it", async (target) => {
    const log = await eventsOf((TARGETS[target] as (typeof TARGETS)[string])(11, {}));
    expect(log.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    const [made] = log.filter(({ type }) => type === "tool-call");
    expect(JSON.stringify(made).length).toBeGreaterThan(11 * MEGABYTE);
  });

  it("claude-code: is read if the limit was raised; otherwise the error names claudeCode.maxLineBytes", async () => {
    const start = TARGETS["claude-code"] as (typeof TARGETS)[string];
    const log = await eventsOf(start(11, { limits: { replyBytes: 17 * MEGABYTE } }));
    expect(log.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    const failed = (await eventsOf(start(11, {}))).at(-1);
    expect(failed).toMatchObject({ result: { status: "error", subtype: "buffer-overflow" } });
    expect(failed).toMatchObject({ result: { error: { message: expect.stringContaining("maxLineBytes") } } });
  });

  it.each([
    ["google", 11],
    ["google", 21],
    ["command", 11],
    ["command", 21],
  ] as const)("%s, %i MB: ends at limits.replyBytes", async (target, megabytes) => {
    // A line of 21 MB is too long to be read under this limit, one of 11 MB is read.
    const options = { limits: { replyBytes: 10 * MEGABYTE } };
    const log = await eventsOf((TARGETS[target] as (typeof TARGETS)[string])(megabytes, options));
    expect(log.at(-1)).toMatchObject({ result: { status: "error", subtype: "reply-too-large" } });
    const done = log.at(-1);
    if (done?.type === "done")
      expect(done.result.error?.message).toMatch(/limits\.replyBytes: one (line of the reply|reply) has/);
  });
});

describe("F-B1: a recorded run", () => {
  it("replays to the same end", async () => {
    const folder = temporaryFolder("reply-bytes");
    const record = join(folder, "run.tape");
    const { world, clock } = createTestWorld(script);
    const files = systemWorld().files;
    const run = startRun("openai/test", "Go on", { limits: { replyBytes: LIMIT }, record }, { ...world, files });
    const log = await eventsOf(run, async () => void (clock.pending() > 0 && (await clock.advance(500))));
    expectCut(log);
    const again = await eventsOf(replay(record) as Run);
    expectCut(again);
    const textOf = (events: readonly AgentEvent[]) =>
      events.flatMap((event) => (isDelta(event) && event.type === "text-delta" ? event.text : [])).join("");
    expect(textOf(again)).toBe(textOf(log));
  });
});

describeRealCli("F-B1: a reply longer than limits.replyBytes, from the real Claude Code CLI", () => {
  const home = temporaryFolder("reply-bytes");

  const MODES = (["plain", "control"] as const).flatMap((mode) => WAYS.map(([way, ask]) => [mode, way, ask] as const));
  it.each(MODES)("%s mode, %s", async (mode, _, ask) => {
    const emulator = createEmulator({ script });
    const { url } = await emulator.listen();
    const env = {
      PATH: process.env["PATH"],
      HOME: home,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-ant-offline",
    };
    try {
      const options: RunOptions = {
        cwd: home,
        limits: { replyBytes: LIMIT },
        claudeCode: { ...realCliOptions(), mode },
      };
      const run = ask({ target: "claude-code", options, world: { ...systemWorld(), env } });
      expectCut(await eventsOf(run));
      await run.closed;
    } finally {
      await emulator.close();
    }
  });
});
