import { describe, expect, it } from "vitest";
import { command, run } from "../../src/index.ts";
import type { RunResult } from "#domain";
import { tool } from "#tools";
import { BACKENDS, createTestWorld, runToEnd } from "./model-backends.ts";
import { ALL_TARGETS, openStage } from "./targets.ts";

const sse = (...frames: readonly object[]): string =>
  frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
const chat = (reason: string): string => sse({ choices: [{ delta: { content: "Half" }, finish_reason: reason }] });
const gemini = (reason: string): string =>
  sse({ candidates: [{ content: { parts: [{ text: "Half" }] }, finishReason: reason }] });
const anthropic = (reason: string): string =>
  sse(
    { type: "message_start", message: { id: "m", role: "assistant", model: "x", content: [], usage: {} } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "Half" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: reason }, usage: {} },
    { type: "message_stop" },
  );
const print = (format: string, output: string): Promise<RunResult> =>
  run(command([process.execPath, "-e", `process.stdout.write(${JSON.stringify(output)})`], { format }), "go").result();

describe("F-B2 F-C3: a command that prints a vendor's stream succeeds only if the reply did", () => {
  it.each([
    ["openai-chat", chat("content_filter"), "content-filtered"],
    ["openai-chat", chat("length"), "error_max_tokens"],
    ["gemini", gemini("SAFETY"), "content-filtered"],
    ["gemini", gemini("MALFORMED_FUNCTION_CALL"), "malformed-tool-call"],
    ["gemini", gemini("CONTINUATION"), "error_max_tokens"],
    ["anthropic-messages", anthropic("refusal"), "refused"],
    ["anthropic-messages", anthropic("max_tokens"), "error_max_tokens"],
    ["ndjson", "plain text without a line end", "json-decode"],
    ["ndjson", '{"text":"whole"}\n{"text":"ha', "json-decode"],
  ])("%s, row %#", async (format, output, subtype) => {
    const result = await print(format, output);
    expect(result).toMatchObject({ status: "error", subtype });
    if (subtype === "error_max_tokens") expect(result.error?.message).toMatch(/^The answer was cut: [^()]*$/);
    else expect(result.error?.message).toBeTruthy();
  });

  it.each([
    ["openai-chat", chat("never_heard_of")],
    ["openai-chat", chat("tool_calls")],
    ["anthropic-messages", anthropic("pause_turn")],
    ["anthropic-messages", anthropic("tool_use")],
  ])("%s, row %#: a success with a warning", async (format, output) => {
    const { status, warnings } = await print(format, output);
    expect(status).toBe("success");
    expect(warnings.map(({ code }) => code)).toEqual(["unknown-stop-reason"]);
  });

  it.each([
    ["openai-chat", chat("stop")],
    ["gemini", gemini("STOP")],
    ["anthropic-messages", anthropic("end_turn")],
  ])("%s, row %#: a plain success", async (format, output) => {
    expect(await print(format, output)).toMatchObject({ status: "success", text: "Half", warnings: [] });
  });
});

describe("F-B2: a reply with only half a call", () => {
  it.each(BACKENDS.filter((name) => !name.startsWith("google")))(
    "%s: with an unknown stop reason the model is informed once, and then the run continues",
    async (backend) => {
      let runs = 0;
      const count = tool("count", "Counts", {}, () => ++runs);
      const half = {
        text: "I count.",
        vendorStopReason: "never_heard_of",
        toolCalls: [{ name: "count", json: '{"a":' }],
      };
      const place = createTestWorld({
        rules: [
          { match: { times: 1 }, reply: half },
          { match: { user: "could not be read" }, reply: { text: "Done." } },
        ],
      });
      const log = await runToEnd(backend, "go", { tools: [count] }, place);
      const done = log.at(-1);
      expect(done?.type === "done" && done.result).toMatchObject({ status: "success", text: "Done." });
      expect(runs).toBe(0);
      expect(place.emulator.requests).toHaveLength(2);
    },
  );
});

describe("F-B2: Gemini", () => {
  it("a block of the prompt counts even next to a candidate", async () => {
    const frame = {
      promptFeedback: { blockReason: "OTHER" },
      candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: "STOP" }],
    };
    expect(await print("gemini", sse(frame))).toMatchObject({ status: "error", subtype: "content-filtered" });
  });
});

describe("F-D6: an answer that was cut by the model's own limit", () => {
  it("is reported as such, without the advice to raise maxTokens", async () => {
    const place = createTestWorld({
      rules: [{ reply: { text: "Half", vendorStopReason: "model_context_window_exceeded" } }],
    });
    const done = (await runToEnd("anthropic/test", "go", { retry: false }, place)).at(-1);
    const message = done?.type === "done" ? done.result.error?.message : undefined;
    expect(message).toMatch(/limit of the model itself \(model_context_window_exceeded\).*Shorten the conversation/);
    expect(message).not.toMatch(/Raise|Set maxTokens/);
  });
});

describe.each(ALL_TARGETS.filter(({ isCli }) => isCli))("F-B2: $name", (target) => {
  it("a last message that was only paused causes a warning", async () => {
    const stage = await openStage({ rules: [{ reply: { text: "Half", vendorStopReason: "pause_turn" } }] });
    try {
      const { result } = await stage.play(target, "go");
      expect(result.warnings.map(({ code }) => code)).toContain("unknown-stop-reason");
    } finally {
      await stage.close();
    }
  });
});
