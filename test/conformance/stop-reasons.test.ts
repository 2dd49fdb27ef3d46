import { describe, expect, it } from "vitest";
import type { AgentEvent, RunResult } from "#domain";
import type { EmulatorScript } from "#emulator";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { BACKENDS, createTestWorld, runToEnd } from "./model-backends.ts";

function resultOf(log: readonly AgentEvent[]): RunResult {
  const last = log.at(-1);
  if (last?.type !== "done") throw new Error("The log has no done.");
  return last.result;
}

const always = (vendorStopReason: string, toolCalls: readonly { name: string; input: unknown }[] = []) =>
  ({ rules: [{ reply: { text: "Half of it", vendorStopReason, toolCalls } }] }) satisfies EmulatorScript;

interface Row {
  readonly backend: string;
  readonly word: string;
  /** `warned`: a success with a warning that names the word. */
  readonly outcome: "warned" | "failed" | "cut off";
  readonly code?: string;
}

/** How a vendor may say that a reply is no plain success. */
const ROWS: readonly Row[] = [
  ...BACKENDS.map((backend) => ({ backend, word: "never_heard_of", outcome: "warned" }) as const),
  ...["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"].map(
    (word) => ({ backend: "google/test", word, outcome: "failed", code: "content-filtered" }) as const,
  ),
  ...["OTHER", "TOO_MANY_TOOL_CALLS", "IMAGE_OTHER", "NO_IMAGE"].map(
    (word) => ({ backend: "google/test", word, outcome: "failed", code: "provider-error" }) as const,
  ),
  { backend: "google/test", word: "CONTINUATION", outcome: "cut off" },
  { backend: "google/test", word: "MALFORMED_FUNCTION_CALL", outcome: "failed", code: "malformed-tool-call" },
  { backend: "google/test", word: "UNEXPECTED_TOOL_CALL", outcome: "failed", code: "malformed-tool-call" },
  { backend: "openai/test", word: "content_filter", outcome: "failed", code: "content-filtered" },
  { backend: "openai/test", word: "error", outcome: "failed", code: "provider-error" },
  { backend: "openai/test", word: "length", outcome: "cut off" },
  { backend: "anthropic/test", word: "refusal", outcome: "failed", code: "refused" },
  { backend: "anthropic/test", word: "model_context_window_exceeded", outcome: "cut off" },
];

describe("F-B2: a reply that stopped for another reason than its end is never a plain success", () => {
  it.each(ROWS)("$backend sends $word: $outcome", async ({ backend, word, outcome, code }) => {
    const place = createTestWorld(always(word));
    const result = resultOf(await runToEnd(backend, "go", { retry: false }, place));
    if (outcome === "warned") {
      expect(result.status).toBe("success");
      expect(result.warnings).toMatchObject([{ code: "unknown-stop-reason", context: { vendorStopReason: word } }]);
      return;
    }
    expect(result.status).toBe("error");
    if (outcome === "cut off") expect(result.subtype).toBe("error_max_tokens");
    else {
      expect(result.error?.code).toBe(code);
      if (word !== "refusal") expect(result.error?.message).toContain(word);
    }
  });

  it.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])(
    "Gemini's %s next to a complete call runs no tool, and the model is informed once",
    async (word) => {
      let runs = 0;
      const count = tool("count", "Counts", {}, () => {
        runs += 1;
        return runs;
      });
      const place = createTestWorld({
        rules: [
          { match: { times: 1 }, reply: { vendorStopReason: word, toolCalls: [{ name: "count", input: {} }] } },
          { match: { user: "could not be read", times: 1 }, reply: { toolCalls: [{ name: "count", input: {} }] } },
          { reply: { text: "Done." } },
        ],
      });
      const log = await runToEnd("google/test", "go", { tools: [count] }, place);
      expect(resultOf(log)).toMatchObject({ status: "success", text: "Done." });
      expect(runs).toBe(1);
      expect(log.filter(({ type }) => type === "tool-call")).toHaveLength(1);
    },
  );

  it("a second malformed call in a row ends the run; one after a good reply is repaired again", async () => {
    const bad = { vendorStopReason: "MALFORMED_FUNCTION_CALL", text: "x" };
    const good = { toolCalls: [{ name: "count", input: {} }] };
    const count = tool("count", "Counts", {}, () => 1);
    const play = async (replies: readonly object[]) => {
      const rules = replies.map((reply) => ({ match: { times: 1 }, reply }));
      return resultOf(await runToEnd("google/test", "go", { tools: [count] }, createTestWorld({ rules })));
    };
    expect(await play([bad, bad])).toMatchObject({ status: "error", error: { code: "malformed-tool-call" } });
    expect(await play([bad, good, bad, { text: "Done." }])).toMatchObject({ status: "success" });
  });
});

describe("F-B15: a wait that is too long", () => {
  it.each(BACKENDS)(
    "%s: a Retry-After beyond every limit ends the run at once, and the error states it",
    async (backend) => {
      for (const retryAfter of ["999999999999999999999999", 61]) {
        const place = createTestWorld({ rules: [{ fault: { status: 429, retryAfter } }] });
        const log = await runToEnd(backend, "go", {}, place);
        const { error } = resultOf(log);
        expect(error?.code).toBe("provider-rate-limited");
        expect(error?.message).toMatch(/asks for a wait of \d+ ms.*retry\.totalMs/);
        expect(log.filter((event) => event.type === "notice" && event.kind === "retry")).toEqual([]);
        expect(place.emulator.requests).toHaveLength(1);
      }
    },
  );

  it("Gemini says it in the body of its error", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3600.5s" }];
    const body = { error: { code: 429, message: "slow", status: "RESOURCE_EXHAUSTED", details } };
    const place = createTestWorld({ rules: [{ fault: { status: 429, body } }] });
    const { error } = resultOf(await runToEnd("google/test", "go", {}, place));
    expect(error?.message).toMatch(/asks for a wait of 3600500 ms/);
    expect(place.emulator.requests).toHaveLength(1);
  });
});

describe("F-B2: a reply whose content could not be read", () => {
  const frame = (text: string, name?: string): string =>
    `${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`;
  const deep = '{"a":'.repeat(2000) + "1" + "}".repeat(2000);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const opening = { id: "m", type: "message", role: "assistant", model: "test", content: [], stop_reason: null, usage };
  /** By backend: the frames around the content, and a frame with content. */
  const HOSTS: Readonly<Record<string, (content: string) => string>> = {
    "anthropic/test": (content) =>
      [
        frame(JSON.stringify({ type: "message_start", message: opening }), "message_start"),
        frame(content, "content_block_start"),
        frame(JSON.stringify({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }), "message_delta"),
        frame(JSON.stringify({ type: "message_stop" }), "message_stop"),
      ].join(""),
    "openai/test": (content) =>
      frame(content) +
      frame(JSON.stringify({ id: "c", model: "test", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })) +
      frame("[DONE]"),
    "google/test": (content) =>
      frame(content) +
      frame(JSON.stringify({ candidates: [{ content: { role: "model", parts: [] }, finishReason: "STOP" }] })),
  };
  const CONTENTS = {
    "cut JSON": '{"candidates":[{"content":{"parts":[{"text":"The ans',
    "a call nested too deeply": `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"count","args":${deep}}}]}}]}`,
  };
  const cases = Object.keys(HOSTS).flatMap((backend) =>
    Object.entries(CONTENTS).map((entry) => [backend, ...entry] as const),
  );

  it.each(cases)("%s, %s: is an error, and no empty success", async (backend, _, content) => {
    const place = createTestWorld();
    const body = new TextEncoder().encode(HOSTS[backend]?.(content));
    const fetch: typeof place.world.fetch = async () => ({
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: (async function* () {
        yield body;
      })(),
    });
    const log = await runToEnd(backend, "go", {}, { ...place, world: { ...place.world, fetch } });
    assertRunLog(log);
    expect(resultOf(log)).toMatchObject({ status: "error", error: { code: "json-decode", terminal: true } });
  });
});
