import { describe, expect, it } from "vitest";
import type { ModelBackend } from "#backends";
import { OUTPUT_TOOL_NAME } from "#run";
import { readSchema, type Schema } from "#tools";
import { planOutput, readOutput, repairMessage } from "./structured.ts";

const backend = (nativeOutput?: ModelBackend["nativeOutput"]): ModelBackend => ({
  kind: "model",
  name: "test",
  model: "m",
  ...(nativeOutput !== undefined && { nativeOutput }),
  stream: async function* () {},
});
const answer = readSchema({ answer: "number", note: "string?" }, "output");
const list = readSchema({ type: "array", items: { type: "integer" } }, "output");
const native = planOutput(
  answer,
  backend(() => true),
  false,
);
const byTool = planOutput(
  answer,
  backend(() => "it cannot"),
  false,
);

describe("choosing how to ask for structured output", () => {
  it("uses the vendor's own feature if there is one, with the schema unchanged", () => {
    expect(native).toMatchObject({ way: "native", isWrapped: false, spec: { schema: answer.jsonSchema } });
    expect(native.tool).toBeUndefined();
  });

  it("offers a tool if the vendor has no such feature, and gives the reason", () => {
    expect(byTool).toMatchObject({ way: "tool", why: "it cannot", tool: { name: OUTPUT_TOOL_NAME } });
    expect(byTool.tool?.inputSchema).toBe(answer.jsonSchema);
    expect(planOutput(answer, backend(), false)).toMatchObject({ way: "tool", why: expect.stringContaining("test") });
  });

  it("passes on to the backend whether there are other tools", () => {
    const asked: boolean[] = [];
    const told = backend((_, hasTools) => {
      asked.push(hasTools);
      return true;
    });
    planOutput(answer, told, true);
    planOutput(answer, told, false);
    expect(asked).toEqual([true, false]);
  });

  it("a value that is not an object is wrapped in an object with the field value, in both ways", () => {
    for (const way of [true, "no"] as const) {
      const plan = planOutput(
        list,
        backend(() => way),
        false,
      );
      expect(plan.isWrapped).toBe(true);
      expect(plan.spec?.schema ?? plan.tool?.inputSchema).toEqual({
        type: "object",
        properties: { value: { type: "array", items: { type: "integer" } } },
        required: ["value"],
        additionalProperties: false,
      });
    }
  });

  it("a schema with properties but without a type is an object schema", () => {
    const loose: Schema = readSchema({ properties: { a: { type: "number" } } }, "output");
    expect(planOutput(loose, backend(), false)).toMatchObject({
      isWrapped: false,
      tool: { inputSchema: { type: "object", properties: { a: { type: "number" } } } },
    });
  });

  it("references in a schema still resolve after wrapping", async () => {
    const tree = readSchema(
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        anyOf: [{ $ref: "#/$defs/leaf" }, { type: "array", items: { $ref: "#" } }],
        $defs: { leaf: { type: "object", properties: { $ref: { const: { $ref: "#" } } } } },
      },
      "output",
    );
    const plan = planOutput(tree, backend(), false);
    expect(plan.tool?.inputSchema).toEqual({
      type: "object",
      properties: {
        value: { anyOf: [{ $ref: "#/$defs/leaf" }, { type: "array", items: { $ref: "#/properties/value" } }] },
      },
      required: ["value"],
      additionalProperties: false,
      $defs: { leaf: { type: "object", properties: { $ref: { const: { $ref: "#" } } } } },
    });
    const shown = readSchema(plan.tool?.inputSchema ?? {}, "shown");
    expect(await shown.parse({ value: [[], [{}]] })).toMatchObject({ fits: true });
    expect(await shown.parse({ value: [[], [7]] })).toMatchObject({ fits: false });
  });
});

describe("reading an answer", () => {
  it.each([
    ["JSON", '{"answer":42}'],
    ["blanks round it", '\n {"answer": 42}\r\n'],
    ["one fence", '```json\n{"answer":42}\n```'],
    ["one fence without a word", '```\n{"answer":42}\n```\n'],
    ["F-D8: a fence in prose", 'Sure:\n```json\n{"answer":42}\n```\nI hope this helps.'],
    ["F-D8: a fence that begins in the middle of the answer", 'Here:\n\n  ```json\n{"answer":\n42}```'],
  ])("native: accepts %s", async (_, text) => {
    expect(await readOutput(native, text)).toEqual({ fits: true, value: { answer: 42 } });
  });

  it.each([
    ["nothing", "", /empty/],
    ["prose before", 'Here it is: {"answer":42}', /not JSON/],
    ["prose after", '{"answer":42} I hope this helps.', /not JSON/],
    ["two fences", '```\n{"answer":42}\n```\n```\n{"answer":43}\n```', /not JSON/],
    ["a fence that does not end", '```json\n{"answer":42}', /not JSON/],
    ["a fence that something else ends", '```json\n{"answer":42}~~~', /not JSON/],
    ["only a fence", "```\n```", /empty/],
    ["half an object", '{"answer":4', /not JSON/],
    ["the wrong type", '{"answer":"42"}', /answer: .*number/],
    ["a field too many", '{"answer":42,"extra":1}', /extra/],
    ["another kind of value", "[42]", /object/],
    ["a field called __proto__", '{"answer":42,"__proto__":{"x":1}}', /__proto__/],
  ])("native: rejects %s, with the reason", async (_, text, problem) => {
    const read = await readOutput(native, text);
    expect(read).toMatchObject({ fits: false, problem: expect.stringMatching(problem) });
  });

  it("tool: takes the input of the call; input that is not JSON is reported as such", async () => {
    expect(await readOutput(byTool, { answer: 42 })).toEqual({ fits: true, value: { answer: 42 } });
    expect(await readOutput(byTool, {})).toMatchObject({ fits: false, problem: expect.stringContaining("answer") });
    expect(await readOutput(byTool, '{"answer":')).toMatchObject({ problem: expect.stringContaining("not JSON") });
    expect(await readOutput(byTool, undefined)).toMatchObject({ fits: false });
  });

  it("a wrapped value is unwrapped, in both ways", async () => {
    const asked = planOutput(
      list,
      backend(() => true),
      false,
    );
    const offered = planOutput(list, backend(), false);
    expect(await readOutput(asked, '{"value":[1,2]}')).toEqual({ fits: true, value: [1, 2] });
    expect(await readOutput(offered, { value: [1, 2] })).toEqual({ fits: true, value: [1, 2] });
    expect(await readOutput(asked, "[1,2]")).toMatchObject({ problem: expect.stringContaining('"value"') });
    expect(await readOutput(offered, { value: ["x"] })).toMatchObject({ fits: false });
  });

  it("the value is the output of the schema", async () => {
    const doubled: Schema = { jsonSchema: { type: "object" }, parse: async () => ({ fits: true, value: "made" }) };
    expect(await readOutput(planOutput(doubled, backend(), false), {})).toEqual({ fits: true, value: "made" });
  });

  it("a schema that throws is reported as a problem, not as a rejection", async () => {
    const broken: Schema = {
      jsonSchema: { type: "object" },
      parse: () => {
        throw new Error("boom");
      },
    };
    expect(await readOutput(planOutput(broken, backend(), false), {})).toEqual({ fits: false, problem: "boom" });
  });
});

describe("the repair prompt", () => {
  it("states the problem and what to do, at a limited length", () => {
    expect(repairMessage("answer: too small")).toMatch(/answer: too small\. Give the whole answer again, as JSON/);
    expect(repairMessage("answer: too small", "tool")).toContain(`Call ${OUTPUT_TOOL_NAME} again`);
    expect(repairMessage("x".repeat(1_000_000)).length).toBeLessThan(3000);
  });
});
