import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import type { EmulatorScript } from "#emulator";
import { startRun } from "#runtime";
import { type SchemaInput, tool } from "#tools";
import { fuzzRuns } from "../effort.ts";
import { schemaCase } from "./json-schemas.ts";
import { add, createTestWorld, runToEnd } from "./model-backends.ts";

/** Every backend with the way it is asked for a form: alone, and beside tools. */
const ASKED = [
  ["anthropic/claude-sonnet-4-5", "native", "native"],
  ["anthropic/claude-3-7-sonnet-20250219", "tool", "tool"],
  ["openai/gpt-5", "native", "native"],
  ["openai/gpt-4-turbo", "tool", "tool"],
  ["google/gemini-2.5-pro", "native", "tool"],
  ["google/gemini-3-pro-preview", "native", "native"],
  ["openrouter/some/model", "tool", "tool"],
] as const;

const CONSTRAINED = /"(minLength|maxLength|minimum|exclusiveMinimum|multipleOf|format|minItems)":/;

const SUM = { answer: "number" } as const;

const doneOf = (log: readonly AgentEvent[]) => {
  const last = log.at(-1);
  if (last?.type !== "done") throw new Error("no done");
  return last.result;
};

/** Which way a request asked for the form. */
const wayOf = (body: unknown): string => {
  const text = JSON.stringify(body);
  if (/"(output_config|response_format|responseJsonSchema)":/.test(text)) return "native";
  return text.includes('"final_answer"') ? "tool" : "none";
};

/** A reply that gives this value, whichever way it is asked for. */
const reply = (way: string, json: string) =>
  way === "native" ? { text: json } : { toolCalls: [{ name: "final_answer", json }] };

describe.each(ASKED)("%s", (backend, alone, besideTools) => {
  it("S2-5: the answer has the form that was asked for, and every request asks for it", async () => {
    const place = createTestWorld();
    const result = doneOf(await runToEnd(backend, "What is 25 + 17?", { output: SUM }, place));
    expect(result).toMatchObject({ status: "success", subtype: "success", structured: { answer: 42 } });
    expect(place.emulator.requests.map(({ body }) => wayOf(body))).toEqual([alone]);
  });

  it("next to tools: they are called first, then the answer is given", async () => {
    const place = createTestWorld();
    const result = doneOf(await runToEnd(backend, "What is 25 + 17?", { tools: [add], output: SUM }, place));
    expect(result).toMatchObject({ status: "success", structured: { answer: 42 } });
    expect(result.toolCalls).toContainEqual(expect.objectContaining({ name: "add", output: 42 }));
    expect(new Set(place.emulator.requests.map(({ body }) => wayOf(body)))).toEqual(new Set([besideTools]));
  });

  it("values that are no objects are given as they are", async () => {
    const place = createTestWorld();
    const run = startRun(
      backend,
      "What is 6 * 7?",
      { output: { type: "integer", description: "The number" } },
      place.world,
    );
    expect(await run.output()).toBe(42);
  });

  it("an answer that does not fit is sent back with the reason, and the next one is taken", async () => {
    const script: EmulatorScript = {
      rules: [
        { match: { times: 1 }, reply: reply(alone, '{"answer":"many"}') },
        { match: { times: 1 }, reply: reply(alone, "{}") },
      ],
    };
    const place = createTestWorld(script);
    const result = doneOf(await runToEnd(backend, "What is 25 + 17?", { output: SUM }, place));
    expect(result).toMatchObject({ status: "success", structured: { answer: 42 } });
    const bodies = place.emulator.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies).toHaveLength(3);
    expect(bodies[1]).toMatch(/does not fit the schema it has to have: answer: /);
  });

  it("a model that never gives it is asked three times in all, and the run says so", async () => {
    for (const json of ['{"answer":"many"}', '{"answer":']) {
      const place = createTestWorld({ rules: [{ reply: reply(alone, json) }] });
      const result = doneOf(await runToEnd(backend, "What is 25 + 17?", { output: SUM }, place));
      expect(result).toMatchObject({ status: "error", subtype: "error_max_structured_output_retries" });
      expect(result.structured).toBeUndefined();
      expect(place.emulator.requests).toHaveLength(3);
    }
  });

  it("prose instead of the answer is no answer", async () => {
    const script: EmulatorScript = { rules: [{ match: { times: 1 }, reply: { text: "It is 42, I think." } }] };
    const place = createTestWorld(script);
    const result = doneOf(await runToEnd(backend, "What is 25 + 17?", { output: SUM }, place));
    expect(result).toMatchObject({ status: "success", structured: { answer: 42 } });
    expect(place.emulator.requests).toHaveLength(2);
  });

  it("AT-67: whatever the schema, the strict server takes the request, and the value fits", async () => {
    const numRuns = Math.min(fuzzRuns(60), 300);
    await fc.assert(
      fc.asyncProperty(schemaCase, fc.boolean(), async (schema, hasTools) => {
        const place = createTestWorld();
        const other = tool("weather_of", "Weather", { city: "string" }, () => "sunny");
        const options = { output: schema as SchemaInput, tools: hasTools ? [other] : [] };
        const result = doneOf(await runToEnd(backend, "Tell me something", options, place));
        // The offline model reads no descriptions, where constraints are told that a vendor does not enforce.
        if (CONSTRAINED.test(JSON.stringify(schema)) && result.status === "error") {
          expect(result.subtype).toBe("error_max_structured_output_retries");
          return;
        }
        expect(result.error?.message).toBeUndefined();
        expect(result.structured).toBeDefined();
      }),
      { numRuns },
    );
  });
});

describe("fallback", () => {
  it("a form that only a tool can give on one of the backends is given by the tool on all", async () => {
    const place = createTestWorld({ rules: [{ match: { model: "gpt-5" }, fault: { status: 503 } }] });
    const fallback = ["openrouter/some/model"];
    const result = doneOf(await runToEnd("openai/gpt-5", "What is 25 + 17?", { output: SUM, fallback }, place));
    expect(result).toMatchObject({ status: "success", structured: { answer: 42 } });
    expect(new Set(place.emulator.requests.map(({ body }) => wayOf(body)))).toEqual(new Set(["tool"]));
  });
});
