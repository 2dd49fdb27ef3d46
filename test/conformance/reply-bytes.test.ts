import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AgentEvent, isDelta } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { type RunOptions, startRun, startSession, systemWorld, type World } from "#runtime";
import { assertRunLog, createScriptedBackend } from "#testing";
import { replay } from "../../src/runtime/replay.ts";
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
  expect(done.result.error?.diagnostic?.troubleshooting).toContain("limits.replyBytes");
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
