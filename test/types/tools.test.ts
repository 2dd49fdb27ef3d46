import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { createSeededRandom, createVirtualClock } from "#testing";
import { runTool, type Tool, type ToolContext, tool } from "#tools";

// The types are checked by `npm run types`; what is run here shows that the values are what the types say.

const run = (made: Tool, input: unknown) =>
  runTool(made, input, {
    callId: "c1",
    runId: createSeededRandom(1).id(),
    agent: undefined,
    context: undefined,
    signal: new AbortController().signal,
    clock: createVirtualClock(),
    onProgress: () => undefined,
  });

describe("the type of a tool's input, from the short notation", () => {
  it("simple types, lists and choices", async () => {
    const made = tool(
      "order",
      "Order",
      {
        name: "string",
        count: "integer",
        price: "number",
        gift: "boolean",
        tags: "string[]",
        size: ["S", "M", 3],
        any: "any",
      },
      (input, context) => {
        expectTypeOf(input.name).toEqualTypeOf<string>();
        expectTypeOf(input.count).toEqualTypeOf<number>();
        expectTypeOf(input.price).toEqualTypeOf<number>();
        expectTypeOf(input.gift).toEqualTypeOf<boolean>();
        expectTypeOf(input.tags).toEqualTypeOf<string[]>();
        expectTypeOf(input.size).toEqualTypeOf<"S" | "M" | 3>();
        expectTypeOf(input.any).toEqualTypeOf<unknown>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
        return input;
      },
    );
    expectTypeOf(made).toEqualTypeOf<Tool>();
    const input = { name: "a", count: 1, price: 1.5, gift: true, tags: ["x"], size: "M", any: null };
    expect(await run(made, input)).toEqual({ kind: "returned", output: input });
    expect(await run(made, { ...input, size: "XL" })).toMatchObject({ kind: "failed", why: "invalid-input" });
  });

  it("a ? after the type or the name makes a field optional", async () => {
    const made = tool("find", "Find", { text: "string", limit: "integer?", "page?": "integer" }, (input) => {
      expectTypeOf(input.text).toEqualTypeOf<string>();
      expectTypeOf(input.limit).toEqualTypeOf<number | undefined>();
      expectTypeOf(input.page).toEqualTypeOf<number | undefined>();
      // @ts-expect-error there is no such field
      void input.missing;
      return Object.keys(input);
    });
    expect(await run(made, { text: "a", page: 2 })).toEqual({ kind: "returned", output: ["text", "page"] });
    expect(made.inputSchema).toMatchObject({ required: ["text"] });
  });

  it("objects in objects", async () => {
    const made = tool("move", "Move", { to: { x: "number", y: "number" } }, ({ to }) => {
      expectTypeOf(to.x).toEqualTypeOf<number>();
      return to.x + to.y;
    });
    expect(await run(made, { to: { x: 1, y: 2 } })).toEqual({ kind: "returned", output: 3 });
  });

  it("nothing at all", async () => {
    const made = tool({ name: "ping", description: "Ping", input: {}, run: () => "pong" });
    expect(await run(made, {})).toEqual({ kind: "returned", output: "pong" });
  });
});

describe("from JSON Schema", () => {
  it("the input is an object whose fields the tool reads itself", async () => {
    const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const;
    const made = tool("double", "Double", schema, (input) => {
      expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>();
      return Number(input["a"]) * 2;
    });
    expect(made.inputSchema).toBe(schema);
    expect(await run(made, { a: 4 })).toEqual({ kind: "returned", output: 8 });
    expect(await run(made, { a: "4" })).toMatchObject({ kind: "failed", why: "invalid-input" });
  });
});

describe("from zod 4, a Standard Schema", () => {
  const made = tool(
    "book",
    "Book a room",
    z.object({
      day: z
        .string()
        .regex(/^\d{4}-\d{2}-\d{2}$/)
        .describe("as 2026-10-21"),
      guests: z.number().int().min(1).default(2),
      code: z.string().transform((text) => text.length),
      kind: z.enum(["single", "double"]).optional(),
    }),
    (input) => {
      expectTypeOf(input.day).toEqualTypeOf<string>();
      expectTypeOf(input.guests).toEqualTypeOf<number>();
      expectTypeOf(input.code).toEqualTypeOf<number>();
      expectTypeOf(input.kind).toEqualTypeOf<"single" | "double" | undefined>();
      return input;
    },
  );

  it("models are shown its JSON Schema, of what goes in", () => {
    expect(made.inputSchema).toMatchObject({
      type: "object",
      properties: {
        day: { type: "string", description: "as 2026-10-21" },
        guests: { type: "integer", default: 2 },
        code: { type: "string" },
        kind: { enum: ["single", "double"] },
      },
      required: ["day", "code"],
    });
  });

  it("defaults and transformed values reach the function", async () => {
    const outcome = await run(made, { day: "2026-10-21", code: "four" });
    expect(outcome).toEqual({ kind: "returned", output: { day: "2026-10-21", guests: 2, code: 4 } });
  });

  it("what does not fit is reported to the model, field by field, and the function is not run", async () => {
    const outcome = await run(made, { day: "tomorrow", guests: 0, code: "x" });
    expect(outcome).toMatchObject({ kind: "failed", why: "invalid-input" });
    expect(outcome.output).toMatch(/day: .*; guests: /);
  });

  it("an asynchronous check is waited for", async () => {
    const input = z.object({ id: z.string().refine((id) => Promise.resolve(id === "a"), "no such id") });
    const find = tool("find", "Find", input, ({ id }) => id);
    expect(await run(find, { id: "a" })).toEqual({ kind: "returned", output: "a" });
    expect(await run(find, { id: "b" })).toMatchObject({
      kind: "failed",
      output: expect.stringContaining("no such id"),
    });
  });

  it("a schema that cannot be shown to a model is refused when the tool is defined", () => {
    expect(() => tool("bad", "Bad", z.object({ when: z.date() }), () => 1)).toThrow(
      /input\.when: Date cannot be represented in JSON Schema/,
    );
  });
});

describe("wrong definitions are compile errors", () => {
  it("and throw, for those without a compiler", () => {
    // @ts-expect-error there is no such type
    expect(() => tool("t", "T", { a: "nubmer" }, () => 1)).toThrow(/nubmer/);
    // @ts-expect-error the function is missing
    expect(() => tool("t", "T", {})).toThrow(/Give a function/);
    // @ts-expect-error a name is missing
    expect(() => tool({ description: "T", input: {}, run: () => 1 })).toThrow(/tool: name is undefined/);
    tool("t", "T", { a: "number" }, ({ a }) => {
      // @ts-expect-error a number is no text
      const text: string = a;
      return text;
    });
  });
});
