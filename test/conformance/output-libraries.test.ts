import { type } from "arktype";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import type { Backend } from "#backends";
import type { AgentEvent, RunResult } from "#domain";
import type { EmulatorScript } from "#emulator";
import { type RunOptions, startRun } from "#runtime";
import { assertRunLog } from "#testing";
import type { SchemaInput } from "#tools";
import { systemClock, systemRandom } from "#transports";
import { openPlace, type Place } from "../claude-code/place.ts";
import { describeRealCli } from "../real-cli.ts";
import { createTestWorld, runToEnd } from "./model-backends.ts";

const even = (value: number): boolean => value % 2 === 0;

/** Schemas of one meaning in every notation: what the model gives that fits, the value it becomes, and what does not fit. */
interface Notation {
  readonly name: string;
  readonly schema: SchemaInput;
  readonly good: unknown;
  readonly value: unknown;
  readonly bad: unknown;
}

const TRANSFORMED = { good: { n: "4" }, value: { n: 4 }, bad: { n: "3" } } as const;
const PLAIN = { good: { n: 4 }, value: { n: 4 }, bad: { n: "many" } } as const;

const NOTATIONS: readonly Notation[] = [
  { name: "zod", schema: z.object({ n: z.string().transform(Number).refine(even, "odd") }), ...TRANSFORMED },
  {
    name: "zod 3",
    schema: z3.object({ n: z3.string().transform(Number).refine(even, "odd") }) as never,
    ...TRANSFORMED,
  },
  { name: "a raw shape of zod", schema: { n: z.string().transform(Number).refine(even, "odd") }, ...TRANSFORMED },
  {
    name: "valibot",
    schema: v.object({ n: v.pipe(v.string(), v.transform(Number), v.check(even, "odd")) }),
    ...TRANSFORMED,
  },
  {
    name: "arktype",
    schema: type({
      n: type("string")
        .pipe(Number)
        .narrow((value, ctx) => even(value) || ctx.reject("odd")),
    }),
    ...TRANSFORMED,
  },
  {
    name: "JSON Schema",
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
    },
    ...PLAIN,
  },
  { name: "the short notation", schema: { n: "integer" }, ...PLAIN },
  {
    name: "a list",
    schema: z.array(z.number().refine(even, "odd")),
    good: { value: [2, 4] },
    value: [2, 4],
    bad: { value: [3] },
  },
  {
    name: "a union",
    schema: v.union([v.pipe(v.string(), v.minLength(2)), v.number()]),
    good: { value: "ab" },
    value: "ab",
    bad: { value: "a" },
  },
  { name: "a text", schema: type("string > 2"), good: { value: "abc" }, value: "abc", bad: { value: "a" } },
];

/** Runs one prompt whose model gives these answers, the last one again and again. */
type Ask = (
  answers: readonly unknown[],
  options: RunOptions,
) => Promise<{ log: readonly AgentEvent[]; result: RunResult }>;

function scriptOf(answers: readonly unknown[], reply: (json: string) => object): EmulatorScript {
  return {
    rules: answers.map((answer, index) => ({
      match: index === answers.length - 1 ? {} : { times: 1 },
      reply: reply(JSON.stringify(answer)),
    })),
  };
}

const CASES = {
  async fits({ schema, good, value }: Notation, ask: Ask) {
    const { result } = await ask([good], { output: schema });
    expect(result).toMatchObject({ status: "success", structured: value });
  },
  async repaired({ schema, good, value, bad }: Notation, ask: Ask) {
    const { result } = await ask([bad, good], { output: schema });
    expect(result).toMatchObject({ status: "success", structured: value });
  },
  async never({ schema, bad }: Notation, ask: Ask) {
    const { result } = await ask([bad], { output: { schema, repairs: 1 } });
    expect(result).toMatchObject({ status: "error", subtype: "error_max_structured_output_retries" });
    expect(result.structured).toBeUndefined();
  },
} as const;

describe.each([
  ["anthropic/claude-sonnet-4-5", "native"],
  ["openai/gpt-5", "native"],
  ["google/gemini-2.5-pro", "native"],
  ["openrouter/some/model", "tool"],
] as const)("%s", (backend, way) => {
  const ask: Ask = async (answers, options) => {
    const reply = (json: string): object =>
      way === "native" ? { text: json } : { toolCalls: [{ name: "final_answer", json }] };
    const log = await runToEnd(backend, "How many?", options, createTestWorld(scriptOf(answers, reply)));
    return { log, result: resultOf(log) };
  };
  describe.each(NOTATIONS)("$name", (notation) => {
    it("F-C1, F-C14: the answer is checked, transformed and given as the value", () => CASES.fits(notation, ask));
    it("F-C1: an answer that does not match is sent back, and the next one is accepted", () =>
      CASES.repaired(notation, ask));
    it("F-C1, F-D8: an answer that never matches fails the run, and gives no value", () => CASES.never(notation, ask));
  });

  it.each([0, 1, 3])("F-D8: with repairs %i the model is called once more than that", async (repairs) => {
    const place = createTestWorld(scriptOf([{}], (json) => ({ text: json, toolCalls: [] })));
    await runToEnd(backend, "How many?", { output: { schema: { n: "integer" }, repairs } }, place);
    expect(place.emulator.requests).toHaveLength(repairs + 1);
  });

  it("F-D8: a fenced answer costs no turn", async () => {
    const place = createTestWorld({ rules: [{ reply: { text: 'Here it is:\n```json\n{"n": 4}\n```\n' } }] });
    const log = await runToEnd(backend, "How many?", { output: { n: "integer" } }, place);
    expect(resultOf(log)).toMatchObject({ status: "success", structured: { n: 4 } });
    expect(place.emulator.requests).toHaveLength(1);
  });
});

describeRealCli("the real Claude Code CLI", () => {
  describe.each(["plain", "control"] as const)("in %s mode", (mode) => {
    let place: Place;
    let script: EmulatorScript["rules"] = [];
    beforeAll(async () => {
      // The rules of the case at hand; one place serves them all.
      place = await openPlace({
        get rules() {
          return script;
        },
      });
    });
    afterAll(() => place.close());

    const ask: Ask = async (answers, options) => {
      const { rules } = scriptOf(answers, (json) => ({ toolCalls: [{ name: "StructuredOutput", json }] }));
      script = rules.map((rule) => ({ ...rule, match: { ...rule.match, tool: "StructuredOutput" } }));
      return runReal(place.backend({ mode }), options);
    };
    // Each start of the CLI takes a second, so one run shows that an answer is sent back, checked and transformed.
    it.each(NOTATIONS.filter(({ name }) => mode === "plain" || IN_CONTROL.includes(name)))(
      "F-C1, F-C14: $name: an answer that does not match is sent back, and the next one is transformed and returned",
      (notation) => CASES.repaired(notation, ask),
    );
    it.each(NOTATIONS.filter(({ name }) => ["zod", "the short notation"].includes(name)))(
      "F-C1, F-D8: $name: an answer that never matches fails the run, and gives no value",
      (notation) => CASES.never(notation, ask),
    );

    it("F-C1: a CLI that gives text instead is reminded of the schema, and fails with a reason", async () => {
      script = [{ reply: { text: "It is 42, I think." } }];
      const { result } = await runReal(place.backend({ mode }), { output: { n: "integer" } });
      expect(result.status).toBe("error");
      expect(result.structured).toBeUndefined();
    });

    it("F-C1: a schema with keywords that the CLI does not know is not dropped by it", async () => {
      const output = {
        type: "object",
        properties: {
          mail: { type: "string", format: "email", "x-note": "ours" },
          pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false, minItems: 2 },
          ab: { type: "string" },
        },
        required: ["mail", "pair"],
        patternProperties: { "^a": { type: "string" } },
        dependentRequired: { ab: ["mail"] },
        unevaluatedProperties: false,
      };
      const answer = { mail: "someone@example.com", pair: ["a", 1] };
      script = [
        { match: { tool: "StructuredOutput" }, reply: { toolCalls: [{ name: "StructuredOutput", input: answer }] } },
      ];
      const { result } = await runReal(place.backend({ mode }), { output: { schema: output, repairs: 0 } });
      expect(result).toMatchObject({ status: "success", structured: answer });
    });

    it("F-D8: a fenced answer of a CLI that does not enforce the schema is read", async () => {
      script = [{ reply: { text: 'Sure:\n```json\n{"n": 4}\n```' } }];
      const { result } = await runReal(place.backend({ mode }), { output: { n: "integer" } });
      expect(result).toMatchObject({ status: "success", structured: { n: 4 } });
    });
  });
});

/** The mode decides how the CLI is started and asked again, not how a schema is read. */
const IN_CONTROL = ["zod", "valibot", "JSON Schema", "a list"];

async function runReal(backend: Backend, options: RunOptions): ReturnType<Ask> {
  const world = { ...createTestWorld().world, clock: systemClock, random: systemRandom };
  const log: AgentEvent[] = [];
  for await (const event of startRun(backend, "How many?", options, world)) log.push(event);
  assertRunLog(log);
  return { log, result: resultOf(log) };
}

function resultOf(log: readonly AgentEvent[]): RunResult {
  const last = log.at(-1);
  if (last?.type !== "done") throw new Error("no done");
  return last.result;
}
