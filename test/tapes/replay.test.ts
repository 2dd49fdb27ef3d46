import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentEvent } from "#domain";
import { createEmulator, type Emulator, type ListeningServer } from "#emulator";
import { agent, type RunOptions, swarm, systemWorld, type Target, type World } from "#runtime";
import { assertRunLog, createScriptedBackend, createVirtualClock, type FetchScript, type VirtualClock } from "#testing";
import { tool, type Tool } from "#tools";
import { ToolFailure } from "#domain";
import { replay, replayIn } from "../../src/runtime/replay.ts";
import { eventsOf, record, type Recorded, scriptedWorld, withoutMode } from "./tape-world.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

/** The events of a replay are those of the recording, times included; and they keep every promise of the event model. */
async function expectSame({ path, events }: Recorded): Promise<readonly AgentEvent[]> {
  const again = await eventsOf(replay(path));
  assertRunLog([...again]);
  expect(withoutMode(again)).toEqual(withoutMode(events));
  for (const event of again) if (event.type === "start") expect(event.mode).toBe("tape");
  return again;
}

const typesOf = (events: readonly AgentEvent[]): readonly string[] => events.map(({ type }) => type);

describe("AT-66 R19: a run on the built-in model replays to the same events", () => {
  it("with tools", async () => {
    await expectSame(await record("offline", { tools: [add] }, systemWorld()));
  });

  it("with a conversation before it, instructions and limits", async () => {
    const clerk = agent({ name: "clerk", backend: "offline", instructions: "Be brief.", tools: [add] });
    const input = [
      { role: "user", text: "My name is Ada." },
      { role: "assistant", text: "Good day, Ada." },
      { role: "user", text: "What is my name?" },
    ] as const;
    const recorded = await record(clerk, { limits: { turns: 1 }, maxTokens: 500 }, systemWorld(), { input });
    expect(recorded.events.at(-1)).toMatchObject({ result: { messages: [{}, {}, {}, { role: "assistant" }] } });
    await expectSame(recorded);
  });

  it("twice at once, from one tape", async () => {
    const { path, events } = await record("offline", { tools: [add] }, systemWorld());
    const [one, two] = await Promise.all([eventsOf(replay(path)), eventsOf(replay(path))]);
    expect(withoutMode(one)).toEqual(withoutMode(events));
    expect(two).toEqual(one);
  });
});

describe("AT-66: a run over real HTTP replays without the network", () => {
  let emulator: Emulator;
  let server: ListeningServer;
  beforeAll(async () => {
    emulator = createEmulator();
    server = await emulator.listen();
  });
  afterAll(() => emulator.close());

  it.each([
    ["anthropic/claude-test", (url: string) => ({ ANTHROPIC_API_KEY: "sk-ant-x1234567", ANTHROPIC_BASE_URL: url })],
    ["openai/gpt-test", (url: string) => ({ OPENAI_API_KEY: "sk-x1234567", OPENAI_BASE_URL: `${url}/v1` })],
    ["google/gemini-test", (url: string) => ({ GEMINI_API_KEY: "AIza-x1234567", GOOGLE_GEMINI_BASE_URL: url })],
  ])("%s", async (target, env) => {
    const recorded = await record(target, { tools: [add] }, { ...systemWorld(), env: env(server.url) });
    expect(recorded.events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    const before = emulator.requests.length;
    await expectSame(recorded);
    expect(emulator.requests).toHaveLength(before);
  });

  it("nothing answers at the address: the same error, without dialling", async () => {
    const env = { OPENAI_API_KEY: "sk-x1234567", OPENAI_BASE_URL: "http://127.0.0.1:9" };
    const recorded = await record("openai/x", { retry: false }, { ...systemWorld(), env });
    expect(recorded.events.at(-2)).toMatchObject({ type: "error", code: "provider-unreachable" });
    await expectSame(recorded);
  });
});

const said = (text: string): string =>
  `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`;
const ending =
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\ndata: [DONE]\n\n';

/** Moves a virtual clock on until a run is over. */
async function recordWithClock(
  script: FetchScript,
  options: RunOptions,
  more: Partial<World> = {},
): Promise<Recorded & { readonly clock: VirtualClock }> {
  const clock = createVirtualClock(1_700_000_000_000);
  let isOver = false;
  const recording = record("openai/gpt-test", options, scriptedWorld(script, { clock, ...more }), {
    use: (run) => run.once("done", () => (isOver = true)),
  });
  while (!isOver) await clock.advance(500);
  return { ...(await recording), clock };
}

describe("R19: what goes wrong goes wrong again", () => {
  it("a host that is busy twice: the waits are those of the tape and take no time", async () => {
    const busy = { status: 529, headers: { "retry-after": "7" }, body: ['{"error":{"message":"busy"}}'] };
    const recorded = await recordWithClock([busy, busy, { body: [said("Hi"), ending] }], {});
    expect(typesOf(recorded.events).filter((type) => type === "notice").length).toBeGreaterThanOrEqual(2);
    const again = await expectSame(recorded);
    const { ts: first } = again[0] as AgentEvent;
    expect((again.at(-1) as AgentEvent).ts - first).toBeGreaterThanOrEqual(14_000);
  });

  it("a connection that breaks in the middle", async () => {
    const recorded = await recordWithClock([{ body: [said("Hel"), { break: new Error("reset by peer") }] }], {
      retry: false,
    });
    expect(recorded.events.at(-2)).toMatchObject({ type: "error", message: expect.stringContaining("reset by peer") });
    await expectSame(recorded);
  });

  it("a stream that ends too early, pieces that cut characters in two", async () => {
    const bytes = new TextEncoder().encode(said("Grüße 🙂"));
    const pieces = Array.from({ length: bytes.length }, (_, index) => bytes.slice(index, index + 1));
    await expectSame(await recordWithClock([{ body: pieces }], { retry: false }));
  });

  it("a host that says nothing: the notice and the end of patience come again", async () => {
    const recorded = await recordWithClock([{ body: [said("Hel"), { stall: true }] }], {
      retry: false,
      limits: { idleMs: 120_000 },
    });
    expect(recorded.events.find((event) => event.type === "notice")).toMatchObject({ kind: "stall" });
    expect(recorded.events.at(-2)).toMatchObject({ type: "error", code: "stalled" });
    await expectSame(recorded);
  });

  it.each<[string, (controller: AbortController) => Parameters<typeof record>[3]]>([
    ["by the handle", () => ({ use: (run) => run.on("text-delta", () => void run.abort("enough")) })],
    ["by a signal", (controller) => ({ use: (run) => run.on("text-delta", () => controller.abort("enough")) })],
  ])("an abort %s, at the same event", async (_, use) => {
    const controller = new AbortController();
    const world = scriptedWorld([{ body: [said("Hel"), said("lo"), { stall: true }] }]);
    const recorded = await record("openai/x", { signal: controller.signal }, world, use(controller));
    expect(recorded.events.at(-1)).toMatchObject({ result: { status: "aborted" } });
    await expectSame(recorded);
  });
});

const call = (name: string, input: unknown): string =>
  `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call-1","type":"function","function":{"name":${JSON.stringify(name)},"arguments":${JSON.stringify(JSON.stringify(input))}}}]},"finish_reason":null}]}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n`;

const oneCall = (name: string, input: unknown): FetchScript => [
  { body: [call(name, input)] },
  { body: [said("Done."), ending] },
];

describe("R19: callbacks answer from the tape, and are not called", () => {
  let calls = 0;
  const counted = (name: string, run: Tool["run"], more = {}): Tool => {
    const made = tool(name, "A tool", { n: "number" }, () => 0, more);
    return {
      ...made,
      run: (...given: Parameters<Tool["run"]>) => {
        calls += 1;
        return run(...given);
      },
    };
  };

  it.each<[string, Tool["run"], unknown]>([
    ["a value", () => ({ a: [1, "two", null] }), { a: [1, "two", null] }],
    ["a value later", () => Promise.resolve("later"), "later"],
    ["nothing", () => undefined, ""],
    ["a failure for the model", () => Promise.reject(new ToolFailure("Ask for the number.")), "Ask for the number."],
    [
      "a failure of its own",
      () => {
        throw new TypeError("broken");
      },
      'The tool "work" failed: broken',
    ],
    ["a map", () => new Map([["a", 1]]), expect.anything()],
    ["an error as its value", () => new Error("No luck."), expect.stringContaining("No luck.")],
    ["a number that JSON has no word for", () => Number.NaN, expect.anything()],
    ["a function", () => () => 1, "The tool returned a function, which is not JSON."],
    [
      "a circle",
      () => {
        const circle: Record<string, unknown> = {};
        circle["self"] = circle;
        return circle;
      },
      expect.stringContaining("not JSON"),
    ],
  ])("a tool that gives %s", async (_, run, output) => {
    const recorded = await recordWithClock(oneCall("work", { n: 1 }), { tools: [counted("work", run)] });
    expect(recorded.events.find((event) => event.type === "tool-result")).toMatchObject({ output });
    calls = 0;
    await expectSame(recorded);
    expect(calls).toBe(0);
  });

  it("a tool that says how far it is, at once and later", async () => {
    const quick = counted("work", (_, { progress }) => {
      progress("half");
      return 1;
    });
    const slow = counted("work", async (_, { progress }) => {
      progress("one");
      await Promise.resolve();
      progress({ step: 2 });
      await Promise.resolve();
      return 2;
    });
    for (const work of [quick, slow]) {
      const recorded = await recordWithClock(oneCall("work", { n: 1 }), { tools: [work] });
      expect(recorded.events.some((event) => event.type === "notice" && event.kind === "tool-progress")).toBe(true);
      await expectSame(recorded);
    }
  });

  it("a tool that is late, and arguments that do not fit", async () => {
    const late = counted("work", () => new Promise(() => undefined), { timeoutMs: 3000 });
    const recorded = await recordWithClock(oneCall("work", { n: 1 }), { tools: [late] });
    expect(recorded.events.find((event) => event.type === "tool-result")).toMatchObject({ isError: true });
    await expectSame(recorded);
    await expectSame(await recordWithClock(oneCall("work", { n: "x" }), { tools: [late] }));
  });

  it("permission, hooks and guards", async () => {
    const options: RunOptions = {
      tools: [counted("work", () => "secret plan")],
      permission: ({ name }) => ({ allow: true, input: { n: name.length } }),
      hooks: {
        "before-tool": [{ tool: "work", run: () => Promise.resolve({ context: "careful" }) }],
        "after-tool": [() => ({ output: "a plan" })],
        "before-stop": [({ sentBack }) => (sentBack === 0 ? { block: "Say more." } : undefined)],
      },
      guards: [
        { name: "polite", place: "input", check: ({ text }) => ({ replace: `${text} Please.` }) },
        { name: "short", place: "output", check: () => undefined },
      ],
      outputMode: "buffer",
    };
    const script: FetchScript = [...(oneCall("work", { n: 1 }) as []), { body: [said("More."), ending] }];
    const recorded = await recordWithClock(script, options);
    expect(typesOf(recorded.events)).toContain("permission");
    expect(recorded.events.at(-1)).toMatchObject({
      result: { status: "success", text: expect.stringContaining("More.") },
    });
    await expectSame(recorded);
  });

  it.each([{ allow: true } as const, { allow: false, reason: "Not today." } as const])(
    "a person's decision %j",
    async (decision) => {
      const world = scriptedWorld(oneCall("work", { n: 1 }));
      const options: RunOptions = { tools: [counted("work", () => 5)], permissions: { ask: ["work"] } };
      const recorded = await record("openai/x", options, world, {
        use: (run) =>
          run.on("permission", ({ state, callId }) => {
            if (state === "asked") queueMicrotask(() => void run.answer(callId, decision));
          }),
      });
      expect(typesOf(recorded.events)).toContain("permission");
      expect(recorded.events.at(-1)).toMatchObject({ result: { status: "success" } });
      await expectSame(recorded);
    },
  );

  it("a structured answer that a library checks and changes", async () => {
    const output = z.object({ when: z.string().transform((text) => text.toUpperCase()) });
    const backend = createScriptedBackend([{ text: '{"when":"noon"}' }]);
    const recorded = await record(backend, { output }, scriptedWorld([]));
    await expectSame(recorded);
    expect(await replay(recorded.path).result()).toMatchObject(
      (recorded.events.at(-1) as { readonly result: object }).result,
    );
  });
});

describe("R19: other targets", () => {
  it("a backend made by hand: what it yields is on the tape", async () => {
    const backend = createScriptedBackend([{ calls: [{ name: "add", input: { a: 1, b: 2 } }] }, { text: "3" }]);
    const recorded = await record(backend, { tools: [add] }, scriptedWorld([]));
    expect(backend.requests).toHaveLength(2);
    await expectSame(recorded);
    expect(backend.requests).toHaveLength(2);
  });

  it("several agents that hand over, calls that run at the same time", async () => {
    let running = 0;
    let most = 0;
    const wait = tool("wait", "Wait", { ms: "number" }, async ({ ms }) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return ms;
    });
    const desk = swarm([
      agent({ name: "triage", backend: "offline", handoffs: ["billing"] }),
      agent({ name: "billing", backend: "offline", tools: [wait] }),
    ]);
    const recorded = await record(desk, { toolConcurrency: 3 }, systemWorld(), { input: "Hand me over to billing." });
    expect(recorded.events).toContainEqual(expect.objectContaining({ type: "handoff", to: "billing" }));
    await expectSame(recorded);
    const calls = [1, 2, 3].map((ms) => ({ name: "wait", input: { ms } }));
    const backend = createScriptedBackend([{ calls }, { text: "ok" }]);
    const atOnce = await record(backend, { tools: [wait], toolConcurrency: 3 }, scriptedWorld([]));
    expect(most).toBe(3);
    await expectSame(atOnce);
  });

  it("a fallback", async () => {
    const refused = { status: 401, body: ['{"error":{"message":"no"}}'] };
    const script: FetchScript = [refused, { body: [said("Hi"), ending] }];
    const recorded = await recordWithClock(script, { fallback: "deepseek/x", deepseek: { apiKey: "key-12345678" } });
    expect(recorded.events.at(-1)).toMatchObject({ result: { status: "success" } });
    await expectSame(recorded);
  });

  it("an agent backend made by hand is refused before anything starts", async () => {
    const other = { kind: "agent", name: "claude-code", model: undefined, open: () => undefined } as unknown as Target;
    await expect(record(other, {}, scriptedWorld([]))).rejects.toMatchObject({ code: "feature-unavailable" });
  });
});

describe("how a tape is played", () => {
  it("at the speed it was recorded, or faster", async () => {
    const busy = { status: 529, headers: { "retry-after": "8" }, body: ["{}"] };
    const recorded = await recordWithClock([busy, { body: [said("Hi"), ending] }], {});
    const clock = createVirtualClock();
    let isOver = false;
    const run = replayIn(recorded.path, { speed: 4 }, scriptedWorld([], { clock }));
    const reading = eventsOf(run.once("done", () => (isOver = true)));
    let ms = 0;
    for (; !isOver; ms += 100) await clock.advance(100);
    expect(withoutMode(await reading)).toEqual(withoutMode(recorded.events));
    expect(ms).toBeGreaterThanOrEqual(2000);
    expect(ms).toBeLessThan(2700);
  });

  it("with times of its own, equally far apart", async () => {
    const { path, events } = await record("offline", { tools: [add] }, systemWorld());
    const clock = createVirtualClock(5_000_000);
    const again = await eventsOf(replayIn(path, { sameTimes: false }, scriptedWorld([], { clock })));
    const shift = (again[0] as AgentEvent).ts - (events[0] as AgentEvent).ts;
    expect(again.map(({ ts }) => ts - shift)).toEqual(events.map(({ ts }) => ts));
    expect((again[0] as AgentEvent).ts).toBeGreaterThanOrEqual(5_000_000);
    expect((again[0] as AgentEvent).ts).toBeLessThan(5_060_000);
  });

  it("for a slow reader, with all events", async () => {
    const text = Array.from({ length: 3000 }, (_, index) => said(`${index} `));
    const recorded = await recordWithClock([{ body: [...text, ending] }], {});
    const again: AgentEvent[] = [];
    for await (const event of replay(recorded.path)) {
      again.push(event);
      if (again.length % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assertRunLog(again);
    expect(again.at(-1)).toMatchObject({ result: { status: "success" } });
  });

  it("and can be aborted", async () => {
    const { path } = await record("offline", { tools: [add] }, systemWorld());
    const run = replay(path);
    run.on("text-delta", () => void run.abort("seen enough"));
    expect(await run.result()).toMatchObject({ status: "aborted" });
  });
});
