import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type Agent,
  type AgentEvent,
  agent,
  type Backend,
  type ModelBackend,
  type Swarm,
  type Block,
  isStartError,
  type Message,
  type Run,
  type RunOptions,
  type RunResult,
  type RunStatus,
  run,
  type StartError,
  type Target,
  type Tool,
  tool,
  type Usage,
} from "../../src/index.ts";
import { anthropic } from "../../src/runtime/anthropic.ts";
import { google } from "../../src/runtime/google.ts";
import { openai } from "../../src/runtime/openai.ts";

describe("the types of run", () => {
  it("a run is events, text and a result", async () => {
    const started = run("offline", "Hello");
    expectTypeOf(started).toEqualTypeOf<Run>();
    expectTypeOf(started.id).toEqualTypeOf<string>();
    expectTypeOf(started.result).returns.toEqualTypeOf<Promise<RunResult>>();
    expectTypeOf(started.output).returns.toEqualTypeOf<Promise<string>>();
    expectTypeOf(started.text()).toExtend<AsyncIterable<string>>();
    expectTypeOf(started).toExtend<AsyncIterable<AgentEvent>>();
    const { status, usage, costUsd, messages } = await started.result();
    expectTypeOf(status).toEqualTypeOf<RunStatus>();
    expectTypeOf(usage).toEqualTypeOf<Usage>();
    expectTypeOf(costUsd).toEqualTypeOf<number | undefined>();
    expectTypeOf(messages).toEqualTypeOf<readonly Message[]>();
    expect(status).toBe("success");
  });

  it("an event is known by its type", async () => {
    for await (const event of run("offline", "Hello")) {
      if (event.type === "text-delta") expectTypeOf(event.text).toEqualTypeOf<string>();
      if (event.type === "tool-call") expectTypeOf(event.input).toEqualTypeOf<unknown>();
      if (event.type === "message") expectTypeOf(event.blocks).toEqualTypeOf<readonly Block[]>();
      if (event.type === "done") expectTypeOf(event.result).toEqualTypeOf<RunResult>();
      // @ts-expect-error there is no such event
      expect(event.type === "text").toBe(false);
    }
  });

  it("a listener hears the event of its topic", async () => {
    const started = run("offline", "Hello")
      .on("text-delta", (event) => expectTypeOf(event.text).toEqualTypeOf<string>())
      .once("done", (event) => expectTypeOf(event.result.status).toEqualTypeOf<RunStatus>())
      .on("*", (event) => expectTypeOf(event).toEqualTypeOf<AgentEvent>());
    await started.result();
  });

  it("a target is a name, a backend or an agent; the input a text or messages", () => {
    expectTypeOf<Target>().toEqualTypeOf<string | Backend | Agent | Swarm>();
    expectTypeOf(run).parameter(0).toEqualTypeOf<Target>();
    expectTypeOf<"hi">().toExtend<Parameters<typeof run>[1]>();
    expectTypeOf<{ role: "user"; text: string }[]>().toExtend<Parameters<typeof run>[1]>();
    expectTypeOf<readonly Message[]>().toExtend<Parameters<typeof run>[1]>();
    expectTypeOf<{ role: "system"; text: string }[]>().not.toExtend<Parameters<typeof run>[1]>();
  });

  it("options are a closed set", () => {
    expectTypeOf<{ tools: Tool[]; limits: { turns: number } }>().toExtend<RunOptions>();
    expectTypeOf<keyof RunOptions>().not.toExtend<"tool">();
    // @ts-expect-error there is no such option
    expect(() => run("offline", "hi", { toolz: [] })).toThrow(/Did you mean tools/);
    // @ts-expect-error there is no such limit
    expect(() => run("offline", "hi", { limits: { turn: 1 } })).toThrow(/Did you mean turns/);
    // @ts-expect-error a prompt is missing
    expect(() => run("offline")).toThrow(/The input is/);
  });

  it("agents and backends made by hand are targets", () => {
    const add = tool("add", "Add", { a: "number" }, ({ a }) => a);
    expectTypeOf(agent({ name: "clerk", backend: "offline", tools: [add] })).toEqualTypeOf<Agent<undefined>>();
    for (const make of [anthropic, google, openai]) {
      expectTypeOf(make).returns.toEqualTypeOf<ModelBackend>();
      // @ts-expect-error a model is missing
      expect(() => make({ apiKey: "k" })).toThrow(/Give the model's name/);
    }
    // @ts-expect-error an address is missing
    expect(() => openai.compatible({ model: "m" })).toThrow(/baseUrl is not given/);
  });

  it("a guard tells what was thrown", () => {
    const thrown: unknown = new Error("x");
    if (isStartError(thrown)) expectTypeOf(thrown).toEqualTypeOf<StartError>();
    expect(isStartError(thrown)).toBe(false);
  });
});
