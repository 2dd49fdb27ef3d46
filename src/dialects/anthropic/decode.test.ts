import type { Chunk } from "#domain";
import { closeRunLog, findViolation } from "#testing";
import type { DataFrame } from "#wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import type { AdapterOptions } from "../shared/format.ts";
import { anthropicMessages } from "./decode.ts";

const RUNS = fuzzRuns(5000);

function frame(value: unknown, text = JSON.stringify(value) ?? ""): DataFrame {
  return { kind: "data", name: "", id: "", text, value };
}

function decode(events: readonly unknown[], options: AdapterOptions & { flush?: boolean } = {}): Chunk[] {
  const adapter = anthropicMessages.createAdapter(options);
  const chunks = adapter.feed(events.map((event) => frame(event)));
  return options.flush === false ? chunks : [...chunks, ...adapter.flush()];
}

/** A chunk without its envelope. */
function bare(chunk: Chunk): Record<string, unknown> {
  const { raw: _, ...rest } = chunk;
  return rest;
}

const start = (id = "msg_1", usage: unknown = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 4 }) => ({
  type: "message_start",
  message: { id, model: "model-1", role: "assistant", content: [], usage },
});
const open = (index: number, block: unknown) => ({ type: "content_block_start", index, content_block: block });
const text = (index: number, piece: string) => delta(index, { type: "text_delta", text: piece });
const json = (index: number, piece: string) => delta(index, { type: "input_json_delta", partial_json: piece });
const delta = (index: number, change: unknown) => ({ type: "content_block_delta", index, delta: change });
const close = (index: number) => ({ type: "content_block_stop", index });
const end = (stop_reason: unknown) => ({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 7 } });
const stop = { type: "message_stop" };
const TEXT = { type: "text", text: "" };
const ADD = { type: "tool_use", id: "call_1", name: "add", input: {} };

const started = { type: "start", backend: "anthropic", mode: "http", model: "model-1" };
const usage = { inputTokens: 10, outputTokens: 7, cacheReadTokens: 4 };

describe("a message of the Messages API", () => {
  test("S0-47 S0-49 S0-53 S0-54 S3-8: text comes as deltas, then the message once, with its usage and stop reason", () => {
    const events = [start(), { type: "ping" }, open(0, TEXT), text(0, "Hel"), text(0, ""), text(0, "lo"), close(0)];
    expect(decode([...events, end("end_turn"), stop]).map(bare)).toEqual([
      started,
      { type: "text-delta", messageId: "msg_1", index: 0, text: "Hel" },
      { type: "text-delta", messageId: "msg_1", index: 0, text: "lo" },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        blocks: [{ type: "text", text: "Hello" }],
        stopReason: "end-turn",
        usage,
        model: "model-1",
      },
    ]);
  });

  test("S0-48 S0-50 S0-51 S0-59 S3-9: blocks keep their order; calls follow the message that made them", () => {
    const events = [
      start(),
      open(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Sum" }),
      delta(0, { type: "signature_delta", signature: "sig" }),
      delta(0, { type: "signature_delta", signature: "ned" }),
      close(0),
      open(1, { type: "redacted_thinking", data: "xyz" }),
      close(1),
      open(2, ADD),
      json(2, '{"a":'),
      json(2, "1}"),
      close(2),
      open(3, { type: "tool_use", id: "call_2", name: "now", input: {} }),
      json(3, ""),
      close(3),
      end("tool_use"),
      stop,
    ];
    const chunks = decode(events).map(bare);
    expect(chunks.map(({ type, index }) => [type, index])).toEqual([
      ["start", undefined],
      ["thinking-delta", 0],
      ["tool-input-delta", 2],
      ["tool-input-delta", 2],
      ["message", undefined],
      ["tool-call", undefined],
      ["tool-call", undefined],
    ]);
    expect(chunks[2]).toMatchObject({ callId: "call_1", name: "add", json: '{"a":' });
    expect(chunks[4]).toMatchObject({
      stopReason: "tool-use",
      blocks: [
        { type: "thinking", text: "Sum", signature: "signed" },
        { type: "unknown", raw: { type: "redacted_thinking", data: "xyz" } },
        { type: "tool-call", callId: "call_1", name: "add", input: { a: 1 } },
        { type: "tool-call", callId: "call_2", name: "now", input: {} },
      ],
    });
    expect(chunks.slice(5)).toEqual([
      { type: "tool-call", callId: "call_1", name: "add", input: { a: 1 }, executedBy: "millrace" },
      { type: "tool-call", callId: "call_2", name: "now", input: {}, executedBy: "millrace" },
    ]);
  });

  test("the index of a delta is the position in `blocks`, whatever the vendor counts", () => {
    const events = [start(), open(3, TEXT), text(3, "a"), close(3), open(7, TEXT), text(7, "b"), close(7)];
    const chunks = decode([...events, end("end_turn"), stop]);
    expect(chunks.flatMap((chunk) => (chunk.type === "text-delta" ? [[chunk.index, chunk.text]] : []))).toEqual([
      [0, "a"],
      [1, "b"],
    ]);
    expect(chunks.at(-1)).toMatchObject({ blocks: [{ text: "a" }, { text: "b" }] });
  });

  test("the input of a server-side tool is kept in its block, and not emitted as a call of ours", () => {
    const block = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
    const chunks = decode([start(), open(0, block), json(0, '{"query":"x"}'), close(0), end("end_turn"), stop]);
    expect(chunks.map(({ type }) => type)).toEqual(["start", "message"]);
    expect(chunks[1]).toMatchObject({ blocks: [{ type: "unknown", raw: { ...block, input: { query: "x" } } }] });
  });

  test("S0-58: unknown input is tolerated and kept", () => {
    const surprise = { type: "surprise", x: 1 };
    const odd = delta(0, { type: "odd_delta", x: 1 });
    const cite = delta(0, { type: "citations_delta", citation: { title: "T" } });
    const chunks = decode([start(), surprise, open(0, TEXT), odd, cite, text(0, "a"), end("end_turn"), stop, [1]]);
    const notices = chunks.filter((chunk) => chunk.type === "notice");
    expect(notices.map(({ kind, data, raw }) => [kind, data, raw?.json])).toEqual([
      ["unknown:surprise", surprise, JSON.stringify(surprise)],
      ["unknown:odd_delta", odd, JSON.stringify(odd)],
      ["citation", { messageId: "msg_1", ...cite }, undefined],
      ["unknown:array", [1], "[1]"],
    ]);
    expect(chunks.find(({ type }) => type === "message")).toMatchObject({ blocks: [{ type: "text", text: "a" }] });
  });

  test("F-B2: a stop reason for tool use without a call is unknown, with a warning", () => {
    const called = decode([start(), open(0, ADD), json(0, "{}"), close(0), end("tool_use"), stop]);
    expect(called.find(({ type }) => type === "message")).toMatchObject({ stopReason: "tool-use" });
    expect(decode([start(), end("tool_use"), stop]).slice(-2)).toMatchObject([
      { type: "message", stopReason: "unknown", vendorStopReason: "tool_use" },
      { type: "warning", code: "unknown-stop-reason" },
    ]);
  });

  test.each([
    ["end_turn", "end-turn"],
    ["max_tokens", "max-tokens"],
    ["model_context_window_exceeded", "max-tokens"],
    ["stop_sequence", "stop-sequence"],
    ["refusal", "refusal"],
    ["pause_turn", "pause"],
  ])("stop reason %s is %s", (vendor, ours) => {
    expect(decode([start(), end(vendor), stop]).at(-1)).toMatchObject({
      type: "message",
      stopReason: ours,
      blocks: [],
    });
  });

  test("F-B2: an unknown stop reason is reported as unknown, with the vendor's name for it and a warning", () => {
    expect(decode([start(), end("something_new"), stop]).slice(-2)).toMatchObject([
      { type: "message", stopReason: "unknown", vendorStopReason: "something_new" },
      { type: "warning", code: "unknown-stop-reason", context: { vendorStopReason: "something_new" } },
    ]);
  });

  test("of two calls with the same id only one is made, because both could not be answered", () => {
    const events = [start(), open(0, ADD), json(0, "{}"), close(0), open(1, ADD), json(1, '{"b":2}'), close(1)];
    const chunks = decode([...events, end("tool_use"), stop]);
    expect(chunks.filter(({ type }) => type === "tool-call")).toMatchObject([{ callId: "call_1", input: {} }]);
  });

  test("the tool names and the mode come from the options", () => {
    const options: AdapterOptions = { mode: "tape", ownTool: (name) => (name === "add" ? "plus" : undefined) };
    const chunks = decode([start(), open(0, ADD), json(0, "{}"), end("tool_use"), stop], options);
    expect(chunks[0]).toMatchObject({ type: "start", mode: "tape" });
    expect(chunks.slice(1).map((chunk) => "name" in chunk && chunk.name)).toEqual(["plus", false, "plus"]);
  });
});

describe("F-B2: tool calls of replies that may be incomplete", () => {
  const cases: { stopReason: string; pieces: string[]; more?: unknown[]; outcome: "call" | "cut" | "garbage" }[] = [
    { stopReason: "tool_use", pieces: [""], outcome: "call" },
    { stopReason: "tool_use", pieces: ['{"a":1}'], outcome: "call" },
    { stopReason: "tool_use", pieces: ['{"a":'], outcome: "garbage" },
    { stopReason: "end_turn", pieces: ["{]"], outcome: "garbage" },
    { stopReason: "stop_sequence", pieces: ['{"a":1}'], outcome: "call" },
    { stopReason: "max_tokens", pieces: ['{"a":1}'], outcome: "cut" },
    { stopReason: "max_tokens", pieces: ['{"a":'], outcome: "cut" },
    { stopReason: "max_tokens", pieces: ["12"], outcome: "cut" },
    { stopReason: "max_tokens", pieces: [], outcome: "cut" },
    { stopReason: "max_tokens", pieces: [], more: [open(1, TEXT), text(1, "and")], outcome: "cut" },
    { stopReason: "pause_turn", pieces: ['{"a":1}'], outcome: "cut" },
    { stopReason: "never_heard_of", pieces: ['{"a":1}'], outcome: "cut" },
    { stopReason: "refusal", pieces: ['{"a"'], outcome: "cut" },
    { stopReason: "pause_turn", pieces: ['{"a"'], outcome: "cut" },
    { stopReason: "never_heard_of", pieces: ['{"a"'], outcome: "cut" },
  ];

  test.each(cases)("$stopReason after $pieces: $outcome", ({ stopReason, pieces, more = [], outcome }) => {
    const chunks = decode([
      ...[start(), open(0, ADD), ...pieces.map((piece) => json(0, piece)), close(0), ...more],
      ...[end(stopReason), stop],
    ]);
    const written = pieces.join("");
    const tail = chunks.slice(chunks.findIndex(({ type }) => type === "message")).map(bare);
    const [message] = tail as { blocks: unknown[] }[];
    switch (outcome) {
      case "call":
        expect(tail.map(({ type }) => type)).toEqual(["message", "tool-call"]);
        return;
      case "cut":
        expect(message?.blocks[0]).toEqual({
          type: "unknown",
          raw: { type: "tool_use", id: "call_1", name: "add", json: written },
        });
        expect(tail[1]).toMatchObject({
          type: "warning",
          code: "tool-call-incomplete",
          context: { callId: "call_1", name: "add" },
        });
        expect(tail.slice(2).map(({ code }) => code)).toEqual(
          stopReason === "never_heard_of" ? ["unknown-stop-reason"] : [],
        );
        return;
      case "garbage":
        expect(message?.blocks[0]).toMatchObject({ type: "tool-call", input: written });
        expect(tail.slice(1)).toMatchObject([
          { type: "tool-call", callId: "call_1", input: written },
          { type: "tool-result", callId: "call_1", name: "add", isError: true, skipped: "incomplete" },
        ]);
    }
  });
});

describe("how a stream ends", () => {
  const whole = [start(), open(0, TEXT), text(0, "a"), close(0), end("end_turn"), stop];

  test.each(whole.map((_, length) => ({ length })))(
    "cut after $length events it is an error, not a message",
    ({ length }) => {
      const chunks = decode(whole.slice(0, length));
      expect(chunks.at(-1)).toMatchObject({ type: "error", code: "stream-cut", terminal: true });
      expect(chunks.some(({ type }) => type === "message" || type === "tool-call")).toBe(false);
    },
  );

  test("a message_stop without a stop reason is not an end", () => {
    expect(decode([start(), open(0, TEXT), text(0, "a"), close(0), stop]).at(-1)).toMatchObject({ code: "stream-cut" });
  });

  test("a complete stream ends without an error, and a second flush adds nothing", () => {
    const adapter = anthropicMessages.createAdapter();
    adapter.feed(whole.map((event) => frame(event)));
    expect([adapter.flush(), adapter.flush()]).toEqual([[], []]);
  });

  test.each([
    ["overloaded_error", "provider-overloaded"],
    ["rate_limit_error", "provider-rate-limited"],
    ["authentication_error", "provider-auth"],
    ["permission_error", "provider-auth"],
    ["billing_error", "provider-auth"],
    ["invalid_request_error", "provider-invalid-request"],
    ["not_found_error", "provider-invalid-request"],
    ["request_too_large", "provider-invalid-request"],
    ["api_error", "provider-error"],
    ["error_of_tomorrow", "provider-error"],
  ])("S0-57 S3-12: an error event %s is the terminal error %s, and nothing follows it", (vendorCode, code) => {
    const chunks = decode([start(), { type: "error", error: { type: vendorCode, message: "No." } }, ...whole]);
    // The usage up to that point is reported first: it is billed all the same.
    expect(chunks.slice(1)).toMatchObject([
      { type: "notice", kind: "usage", data: { usage: { inputTokens: expect.any(Number) } } },
      { type: "error", code, message: "No.", terminal: true, diagnostic: { vendorCode } },
    ]);
  });

  test("an error event without details is still an error", () => {
    expect(decode([{ type: "error" }])).toMatchObject([{ code: "provider-error", terminal: true }]);
  });

  test("I4: a call with a lost frame is not made, even if the rest is valid JSON", () => {
    const events = [
      start(),
      open(0, { type: "tool_use", id: "c", name: "pay", input: {} }),
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"euros":1' } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "}" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ].map((event) => frame(event));
    const refused = [
      { type: "tool-call", callId: "c", input: '{"euros":1}' },
      {
        type: "tool-result",
        callId: "c",
        isError: true,
        skipped: "incomplete",
        output: expect.stringContaining("lost"),
      },
    ];
    const garbage = frame(undefined, '{"type":');
    const spoilt = anthropicMessages.createAdapter().feed([...events.slice(0, 3), garbage, ...events.slice(3)]);
    expect(spoilt.slice(-2)).toMatchObject(refused);
    const adapter = anthropicMessages.createAdapter();
    adapter.feed(events.slice(0, 3));
    adapter.noteGap?.();
    expect(adapter.feed(events.slice(3)).slice(-2)).toMatchObject(refused);
  });

  test("a frame that is not JSON is a non-terminal error", () => {
    const adapter = anthropicMessages.createAdapter();
    const frames = whole.map((event) => frame(event));
    frames.splice(3, 0, frame(undefined, '{"type":'), frame(undefined, "[DONE]"));
    const chunks = [...adapter.feed(frames), ...adapter.flush()];
    expect(chunks.filter(({ type }) => type === "error")).toMatchObject([
      { code: "json-decode", terminal: false, raw: { json: '{"type":' }, diagnostic: { seen: '{"type":' } },
    ]);
    expect(chunks.at(-1)).toMatchObject({ type: "message" });
  });

  test("a message that begins again retracts what was shown of the first", () => {
    const chunks = decode([start("msg_1"), open(0, TEXT), text(0, "a"), start("msg_2"), ...whole.slice(1)]);
    expect(chunks.map(bare).slice(1, 4)).toEqual([
      { type: "text-delta", messageId: "msg_1", index: 0, text: "a" },
      { type: "notice", kind: "retract", data: { messageId: "msg_1" } },
      { type: "text-delta", messageId: "msg_2", index: 0, text: "a" },
    ]);
    expect(chunks.filter(({ type }) => type === "start")).toHaveLength(1);
  });

  test("a second whole message with the same id gets its own", () => {
    const ids = decode([...whole, ...whole]).flatMap((chunk) => (chunk.type === "message" ? [chunk.id] : []));
    expect(ids).toEqual(["msg_1", "msg_1#2"]);
  });

  test("a reset clears all state", () => {
    const adapter = anthropicMessages.createAdapter();
    const frames = whole.map((event) => frame(event));
    const first = adapter.feed(frames);
    adapter.reset();
    expect(adapter.feed(frames)).toEqual(first);
  });
});

describe("anthropic-messages with unlikely streams", () => {
  const word = fc.constantFrom(
    ...["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"],
    ...["message_stop", "error", "ping", "text", "thinking", "tool_use", "text_delta", "input_json_delta", "end_turn"],
    ...["tool_use", "max_tokens", "call_1", "", "__proto__", "thinking_delta", "signature_delta", "{}", '{"a":1}'],
  );
  const leaf = fc.oneof(word, fc.constantFrom(null, 0, 1, 2, -1, 0.5, true), fc.string());
  const key = fc.constantFrom(
    ...[
      "type",
      "index",
      "message",
      "content_block",
      "delta",
      "usage",
      "id",
      "name",
      "text",
      "thinking",
      "partial_json",
    ],
    ...["stop_reason", "signature", "input", "error", "__proto__", "input_tokens", "model"],
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc
        .array(fc.tuple(key, tie("value")), { maxLength: 6 })
        .map((fields) => JSON.parse(`{${fields.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join()}}`)),
    ),
  }));
  const sensible = fc.oneof(
    fc.constantFrom(start("msg_1"), start("msg_2"), stop, open(0, TEXT), open(1, ADD), close(0), close(1)),
    fc.tuple(fc.nat(2), fc.string()).map(([index, piece]) => text(index, piece)),
    fc.tuple(fc.nat(2), fc.constantFrom('{"a"', ":1}", "{}", "")).map(([index, piece]) => json(index, piece)),
    fc.constantFrom("end_turn", "tool_use", "max_tokens", null).map(end),
  );

  test("S0-57 S0-58: any events in any order throw nothing and keep every guarantee of a run log", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 4, arbitrary: sensible }, value), { maxLength: 25 }), (events) => {
        expect(findViolation(closeRunLog(decode(events)))).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });
});
