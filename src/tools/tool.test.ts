import { describe, expect, expectTypeOf, it } from "vitest";
import { isStartError, ToolFailure } from "#domain";
import { createVirtualClock } from "#testing";
import { toOutcome } from "./outcome.ts";
import { runTool, type ToolRun } from "./run-tool.ts";
import { type Tool, tool } from "./tool.ts";

const numbers = { a: "number", b: "number" } as const;
const add = tool("add", "Add two numbers", numbers, ({ a, b }) => a + b);

function world(more: Partial<ToolRun> = {}) {
  const clock = createVirtualClock();
  const progress: unknown[] = [];
  const controller = new AbortController();
  const run: ToolRun = {
    callId: "c",
    runId: "r",
    agent: undefined,
    context: { tenant: 1 },
    signal: controller.signal,
    clock,
    onProgress: (state) => progress.push(state),
    ...more,
  };
  return { run, clock, progress, controller };
}

const outcomeOf = (defined: Tool, input: unknown, more: Partial<ToolRun> = {}) =>
  runTool(defined, input, world(more).run);

describe("tool()", () => {
  it("F-C7: an unknown option is rejected by name, in both notations", () => {
    // @ts-expect-error there is no such option
    expect(() => tool("t", "T", numbers, () => 1, { timeoutms: 5 })).toThrow(
      /no option of the tool "t" called timeoutms. Did you mean timeoutMs\?/,
    );
    // @ts-expect-error there is no such field
    expect(() => tool({ name: "t", description: "T", input: numbers, run: () => 1, schema: {} })).toThrow(
      /no option of the tool "t" called schema/,
    );
  });

  it("turns the short notation into JSON Schema and into types", () => {
    const given = tool(
      "t",
      "d",
      {
        name: "string",
        "age?": "integer",
        tags: "string[]?",
        unit: ["cm", "in"],
        where: { street: "string" },
        more: { type: "number", description: "x" },
      },
      (input) => {
        expectTypeOf(input.name).toEqualTypeOf<string>();
        expectTypeOf(input.age).toEqualTypeOf<number | undefined>();
        expectTypeOf(input.tags).toEqualTypeOf<string[] | undefined>();
        expectTypeOf(input.unit).toEqualTypeOf<"cm" | "in">();
        expectTypeOf(input.where.street).toEqualTypeOf<string>();
      },
    );
    expect(given.inputSchema).toEqual({
      type: "object",
      properties: {
        name: { type: "string" },
        age: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
        unit: { enum: ["cm", "in"] },
        where: {
          type: "object",
          properties: { street: { type: "string" } },
          required: ["street"],
          additionalProperties: false,
        },
        more: { type: "number", description: "x" },
      },
      required: ["name", "unit", "where", "more"],
      additionalProperties: false,
    });
  });

  it("accepts JSON Schema and Standard Schema", async () => {
    const plain = tool({ name: "p", description: "d", input: { type: "object", required: ["x"] }, run: () => "ok" });
    expect(await plain.parse({})).toMatchObject({ fits: false });
    expect(await plain.parse({ x: 1 })).toEqual({ fits: true, value: { x: 1 } });
    const standard = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) =>
          typeof value === "object" && value !== null && "n" in value
            ? { value: { n: Number(value.n) } }
            : { issues: [{ message: "Required", path: ["n"] }] },
        jsonSchema: { input: () => ({ type: "object" }) },
      },
    };
    const typed = tool("s", "d", standard, ({ n }) => n + 1);
    expect(await typed.parse({ n: "4" })).toEqual({ fits: true, value: { n: 4 } });
    expect(await typed.parse({})).toEqual({ fits: false, problem: "n: Required" });
  });

  it.each([
    ["an empty name", () => tool("", "d", numbers, () => 1), /name is ""/],
    ["a name with a space", () => tool("a b", "d", numbers, () => 1), /letters, digits/],
    ["no description", () => tool("t", " ", numbers, () => 1), /description/],
    ["no function", () => tool("t", "d", numbers, undefined as never), /Give a function/],
    ["an unknown type", () => tool("t", "d", { a: "nummer" as "number" }, () => 1), /input\.a is "nummer"/],
    ["an empty list of values", () => tool("t", "d", { a: [] }, () => 1), /input\.a/],
    ["no schema", () => tool("t", "d", null as never, () => 1), /input is null/],
    ["a time of 0", () => tool("t", "d", numbers, () => 1, { timeoutMs: 0 }), /timeoutMs is 0/],
    [
      "a Standard Schema that cannot be shown",
      () =>
        tool(
          "t",
          "d",
          { "~standard": { version: 1, vendor: "old", validate: (value: unknown) => ({ value }) } },
          () => 1,
        ),
      /Standard JSON Schema/,
    ],
  ])("rejects %s with a remedy", (_, define, message) => {
    expect(define).toThrowError(message);
    try {
      define();
    } catch (error) {
      expect(isStartError(error)).toBe(true);
    }
  });

  it("a field called __proto__ stays a field and pollutes nothing", () => {
    const given = tool("t", "d", JSON.parse('{"__proto__":"string"}'), () => 1);
    expect(Object.keys(given.inputSchema.properties as object)).toEqual(["__proto__"]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("running a tool", () => {
  it("S2-35: sync and async tools return any JSON value", async () => {
    expect(await outcomeOf(add, { a: 25, b: 17 })).toEqual({ kind: "returned", output: 42 });
    const slow = tool("t", "d", {}, async () => ({ deep: [1, null] }));
    expect(await outcomeOf(slow, {})).toEqual({ kind: "returned", output: { deep: [1, null] } });
    expect(
      await outcomeOf(
        tool("t", "d", {}, () => undefined),
        {},
      ),
    ).toEqual({ kind: "returned", output: "" });
    expect(
      await outcomeOf(
        tool("t", "d", {}, () => null),
        {},
      ),
    ).toEqual({ kind: "returned", output: null });
  });

  it("S2-34: invalid arguments are sent back to the model with the reason", async () => {
    expect(await outcomeOf(add, { a: "x" })).toMatchObject({
      kind: "failed",
      why: "invalid-input",
      output: expect.stringMatching(/"add".*a: .*number/),
    });
    expect(await outcomeOf(add, "no object")).toMatchObject({ why: "invalid-input" });
    expect(await outcomeOf(add, { a: 1, b: "x" })).toMatchObject({ output: expect.not.stringContaining("..") });
  });

  it("S2-10 S2-34: what a tool throws becomes a result; the message of a ToolFailure is sent to the model unchanged", async () => {
    const thrower = (error: unknown) =>
      tool("t", "d", {}, () => {
        throw error;
      });
    expect(await outcomeOf(thrower(new Error("boom")), {})).toEqual({
      kind: "failed",
      why: "thrown",
      output: 'The tool "t" failed: boom',
    });
    expect(await outcomeOf(thrower(new ToolFailure("Ask for the number.")), {})).toMatchObject({
      output: "Ask for the number.",
    });
    expect(await outcomeOf(thrower(undefined), {})).toMatchObject({
      kind: "failed",
      output: 'The tool "t" failed: undefined',
    });
  });

  it("a tool that hangs is abandoned at its deadline, and its signal fires", async () => {
    let signal: AbortSignal | undefined;
    const hanging = tool(
      "t",
      "d",
      {},
      (_, context) => {
        signal = context.signal;
        return new Promise(() => undefined);
      },
      { timeoutMs: 1000 },
    );
    const { run, clock } = world();
    const outcome = runTool(hanging, {}, run);
    await clock.advance(999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ why: "timeout", output: expect.stringContaining("1000 ms") });
    expect(signal?.aborted).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  it("a tool and a run without a time limit have two minutes", async () => {
    const hanging = tool("t", "d", {}, () => new Promise(() => undefined));
    const { run, clock } = world();
    let isOver = false;
    const outcome = runTool(hanging, {}, run).finally(() => (isOver = true));
    await clock.advance(119_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ why: "timeout", output: expect.stringContaining("120000 ms") });
  });

  it("an abort ends the wait at once", async () => {
    const { run, controller, clock } = world();
    const outcome = runTool(
      tool("t", "d", {}, () => new Promise(() => undefined)),
      {},
      run,
    );
    await Promise.resolve();
    controller.abort();
    expect(await outcome).toMatchObject({ why: "aborted" });
    expect(clock.pending()).toBe(0);
  });

  it("a result that is not JSON is a failure, a huge one is cut with a mark", async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(toOutcome(cycle)).toMatchObject({ kind: "failed", why: "unprintable" });
    expect(toOutcome(() => 1)).toMatchObject({ why: "unprintable" });
    const cut = toOutcome("x".repeat(50_000_000));
    expect(cut.output).toHaveLength(256 * 1024 + "\n[cut: 49737856 of 50000000 characters left out]".length);
    expect(toOutcome({ list: "y".repeat(300_000) }, 100).output).toContain("[cut: ");
  });

  it("S3-21: the context is the run's own, and progress reaches its readers until the tool has answered", async () => {
    const { run, progress } = world();
    let later: (() => void) | undefined;
    const reporting = tool("t", "d", {}, (_, context) => {
      context.progress(50);
      later = () => context.progress(100);
      return context.context;
    });
    expect(await runTool(reporting, {}, run)).toEqual({ kind: "returned", output: { tenant: 1 } });
    later?.();
    expect(progress).toEqual([50]);
  });
});
