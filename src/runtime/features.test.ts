import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { createEmulator } from "#emulator";
import { assertRunLog, createMemoryFiles, createScriptedSpawn, createSeededRandom, createVirtualClock } from "#testing";
import { tool } from "#tools";
import { agent } from "./agent.ts";
import { explainIn } from "./explain.ts";
import { startSession } from "./open-session.ts";
import type { RunOptions } from "./options.ts";
import { startRun } from "./run.ts";
import { swarm } from "./swarm.ts";
import type { World } from "./world.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

function createWorld(): World {
  const clock = createVirtualClock();
  const random = createSeededRandom(3);
  const emulator = createEmulator({ clock, random, strict: true });
  return {
    clock,
    random,
    fetch: emulator.fetch,
    env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://offline.test/v1" },
    spawn: createScriptedSpawn([]),
    files: createMemoryFiles(),
    onListenerError: () => undefined,
  };
}

async function logOf(options: RunOptions, prompt = "What is 25 + 17?"): Promise<AgentEvent[]> {
  const log: AgentEvent[] = [];
  for await (const event of startRun("offline", prompt, options, createWorld())) log.push(event);
  assertRunLog(log);
  return log;
}

const warnings = (log: readonly AgentEvent[]) => log.filter((event) => event.type === "warning");

describe("the options of a policy", () => {
  it.each([
    ["a bare rule", ["add"], 1],
    ["a rule for all arguments", ["add(*)"], 1],
    ["a rule for some arguments", ["add(25*)"], 0],
    ["a rule for another tool", ["other(x)"], 0],
  ])("AT-10: a callback that %s has nothing to decide, which causes a warning", async (_, allow, count) => {
    const log = await logOf({ tools: [add], permission: () => ({ allow: true }), permissions: { allow } });
    expect(warnings(log).filter((event) => event.code === "callback-shadowed")).toHaveLength(count);
  });

  it("AT-61 S4-28: an output guard without a mode is rejected before anything starts, with both remedies", () => {
    const guards = [{ name: "words", place: "output" as const, check: () => undefined }];
    const start = () => startRun("offline", "hi", { guards }, createWorld());
    expect(start).toThrow(/outputMode/);
    expect(start).toThrow(/buffer/);
    expect(start).toThrow(/windowCharacters/);
    const clerk = agent({ name: "clerk", backend: "offline", outputMode: "buffer" });
    expect(() => startRun(clerk, "hi", { guards }, createWorld())).not.toThrow();
  });

  it.each([
    ["a point nobody knows", { hooks: { "before-tools": [() => undefined] } }, /before-tool/],
    ["a rule that cannot be read", { permissions: { deny: ["add(("] } }, /add\(\(/],
    ["a permission that is no function", { permission: true }, /permission/],
    ["a guard without a check", { guards: [{ name: "x", place: "input" }] }, /guards\[0\]/],
  ])("%s is refused by name", (_, options, message) => {
    expect(() => startRun("offline", "hi", options as never, createWorld())).toThrow(message);
  });
});

describe("agents and swarms", () => {
  const a = agent({ name: "a", backend: "offline", handoffs: ["b"] });
  const b = agent({ name: "b", backend: "offline" });

  it.each([
    ["no agents", () => swarm([]), /at least one/],
    ["two of one name", () => swarm([b, b]), /two agents called "b"/],
    ["a handoff to nobody", () => swarm([a]), /"a" hands over to "b"/],
    ["a start that is none", () => swarm([a, b], { start: "c" }), /starts with "c"/],
    ["a handoff to itself", () => agent({ ...a, handoffs: ["a"] }), /itself/],
    [
      "a tool with the name of the handoff",
      () => agent({ ...a, tools: [tool("handoff", "d", {}, () => 1)] }),
      /called "handoff"/,
    ],
    [
      "a tool with the name of the answer",
      () =>
        startRun(
          "offline",
          "hi",
          { output: { a: "number" }, tools: [tool("final_answer", "d", {}, () => 1)] },
          createWorld(),
        ),
      /final_answer/,
    ],
  ])("%s is refused where it is written", (_, make, message) => {
    expect(make).toThrow(message);
  });

  it("an agent is data: its schema, limits and tools apply to its runs, and the run's take precedence", async () => {
    const clerk = agent({ name: "clerk", backend: "offline", tools: [add], output: { answer: "number" } });
    const run = startRun(clerk, "What is 25 + 17?", {}, createWorld());
    expect(await run.output()).toEqual({ answer: 42 });
    expect((await run.result()).agent).toBe("clerk");
  });

  it("S2-5: an answer is shown while it is written, and ends as the whole value", async () => {
    const run = startRun("offline", "What is 25 + 17?", { output: { answer: "number", why: "string" } }, createWorld());
    const steps: unknown[] = [];
    for await (const step of run.partialOutput()) steps.push(step);
    expect(steps.at(-1)).toEqual(await run.output());
  });
});

describe("sessions of models", () => {
  it("AT-14 S2-32: each run has the conversation so far, one at a time, in order", async () => {
    const session = startSession("openai/test", { tools: [add] }, createWorld());
    const first = session.send("What is 25 + 17?");
    const second = session.send("And what is 6 * 7?");
    const results = await Promise.all([first.result(), second.result()]);
    expect(results.map((result) => result.status)).toEqual(["success", "success"]);
    expect(results[1]?.messages.length).toBeGreaterThan(results[0]?.messages.length ?? 0);
    expect(session.messages()).toEqual(results[1]?.messages);
    await session.close();
    expect(() => session.send("hi")).toThrow(/closed/);
  });

  it("S0-79: the model can be changed between runs, and an unavailable one is rejected", async () => {
    const world = createWorld();
    const session = startSession("openai/test", {}, world);
    await session.send("hi").result();
    await session.setModel("other");
    expect((await session.send("hi").result()).model).toBe("other");
    await session.setModel("offline");
    expect((await session.send("hi").result()).model).toBe("offline");
    await expect(session.setModel("anthropic/claude-x")).rejects.toThrow(/ANTHROPIC_API_KEY/);
    await expect(session.setAgent("nobody")).rejects.toThrow(/no named agents/);
    await session.close();
  });

  it("continues from the messages of an earlier conversation", async () => {
    const before = startSession("openai/test", {}, createWorld());
    await before.send("My name is Ada.").result();
    const after = startSession("openai/test", { messages: before.messages() }, createWorld());
    const { messages } = await after.send("hi").result();
    expect(JSON.stringify(messages)).toContain("Ada");
  });
});

describe("explain", () => {
  it("AT-6: needs no key and starts nothing", () => {
    const world = { ...createWorld(), env: {} };
    expect(explainIn("anthropic/claude-x", { tools: [add] }, world)).toMatchObject({
      backend: "anthropic",
      mode: "http",
      features: ["tools"],
      requiresControl: false,
    });
    expect(() => explainIn("nowhere", {}, world)).toThrow(/no backend "nowhere"/);
  });

  it("AT-6: names transport, features, reason and override for Claude Code", () => {
    const explained = explainIn(
      "claude-code",
      { tools: [add], hooks: { "before-tool": [() => undefined] }, claudeCode: { permissionMode: "plan" } },
      createWorld(),
    );
    expect(explained).toMatchObject({ mode: "control", requiresControl: true, override: undefined });
    expect(explained.features.join(" ")).toMatch(/hooks/);
    expect(explained.features.join(" ")).toMatch(/tools/);
    expect(explained.features.join(" ")).toMatch(/plan/);
    const forced = explainIn("claude-code", { tools: [add], claudeCode: { mode: "plain" } }, createWorld());
    expect(forced).toMatchObject({ mode: "plain", override: "plain" });
    expect(forced.ignored.length).toBeGreaterThan(0);
  });
});
