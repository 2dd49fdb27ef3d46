import type { Chunk, EventOf, EventType } from "#domain";
import { closeRunLog, findViolation } from "#testing";
import type { DataFrame } from "#wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { openAiChat } from "./decode.ts";

const RUNS = fuzzRuns(5000);

const frameOf = (text: string, name = ""): DataFrame => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  return { kind: "data", name, id: "", text, value };
};
const frame = (value: unknown, name = ""): DataFrame => frameOf(JSON.stringify(value), name);
const DONE = frameOf("[DONE]");

const chunkOf = (choices: unknown, more: object = {}): DataFrame =>
  frame({ id: "chatcmpl-1", object: "chat.completion.chunk", model: "gpt-x", choices, ...more });
const delta = (given: object, finish: string | null = null, more: object = {}): DataFrame =>
  chunkOf([{ index: 0, delta: given, finish_reason: finish }], more);
const finish = (reason: string, more: object = {}): DataFrame => delta({}, reason, more);
const text = (content: string): DataFrame => delta({ content });
const call = (fragment: object): DataFrame => delta({ tool_calls: [fragment] });
const head = (index: number, id: string, name: string, args = ""): DataFrame =>
  call({ index, id, type: "function", function: { name, arguments: args } });
const args = (index: number, piece: string): DataFrame => call({ index, function: { arguments: piece } });
const USAGE = { prompt_tokens: 5, completion_tokens: 7 };
const usage = (more: object = {}): DataFrame => chunkOf([], { usage: { ...USAGE, ...more } });

function decode(frames: readonly DataFrame[], mode?: "tape"): Chunk[] {
  const adapter = openAiChat.createAdapter(mode === undefined ? {} : { mode });
  return [...adapter.feed(frames), ...adapter.flush()];
}

function only<Type extends EventType>(chunks: readonly Chunk[], type: Type): EventOf<Type>[] {
  return chunks.filter((chunk): chunk is Chunk & EventOf<Type> => chunk.type === type);
}

const types = (chunks: readonly Chunk[]): string[] => chunks.map((chunk) => chunk.type);
const messageOf = (chunks: readonly Chunk[]) => only(chunks, "message")[0];

describe("text", () => {
  it("S2-12 S2-29 S2-30: one start, deltas, one typed message with usage and stop reason", () => {
    const chunks = decode([
      delta({ role: "assistant", content: "", refusal: null }),
      text("Hel"),
      text("lo"),
      finish("stop"),
      usage(),
      DONE,
    ]);
    expect(types(chunks)).toEqual(["start", "text-delta", "text-delta", "message"]);
    expect(chunks[0]).toMatchObject({ backend: "openai", mode: "http", model: "gpt-x" });
    expect(only(chunks, "text-delta").map((chunk) => [chunk.messageId, chunk.index, chunk.text])).toEqual([
      ["chatcmpl-1", 0, "Hel"],
      ["chatcmpl-1", 0, "lo"],
    ]);
    expect(messageOf(chunks)).toMatchObject({
      id: "chatcmpl-1",
      role: "assistant",
      model: "gpt-x",
      stopReason: "end-turn",
      usage: { inputTokens: 5, outputTokens: 7 },
      blocks: [{ type: "text", text: "Hello" }],
    });
  });

  it("the mode of the start is the caller's", () => {
    expect(decode([text("a"), finish("stop")], "tape")[0]).toMatchObject({ type: "start", mode: "tape" });
  });

  it("an empty reply is an empty message", () => {
    expect(messageOf(decode([finish("stop")]))).toMatchObject({ blocks: [], stopReason: "end-turn" });
  });

  it.each(["reasoning_content", "reasoning"])("%s is thinking, a separate block in order of appearance", (field) => {
    const chunks = decode([delta({ [field]: "hm" }), text("a"), delta({ [field]: "m" }), text("b"), finish("stop")]);
    expect(types(chunks)).toEqual(["start", "thinking-delta", "text-delta", "thinking-delta", "text-delta", "message"]);
    expect(messageOf(chunks)?.blocks).toEqual([
      { type: "thinking", text: "hmm" },
      { type: "text", text: "ab" },
    ]);
    expect(chunks.slice(1, -1).map((chunk) => "index" in chunk && chunk.index)).toEqual([0, 1, 0, 1]);
  });

  it("reasoning that a host sends under both names is not duplicated", () => {
    const chunks = decode([delta({ reasoning_content: "hm", reasoning: "hm" }), finish("stop")]);
    expect(messageOf(chunks)?.blocks).toEqual([{ type: "thinking", text: "hm" }]);
  });

  it("a refusal is shown as text and is the stop reason", () => {
    const chunks = decode([delta({ refusal: "I can" }), delta({ refusal: "not." }), finish("stop")]);
    expect(messageOf(chunks)).toMatchObject({ blocks: [{ type: "text", text: "I cannot." }], stopReason: "refusal" });
  });

  it("content as a list of parts: text, thinking, and unknown parts as blocks", () => {
    const reference = { type: "reference", reference_ids: [1] };
    const chunks = decode([
      delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }),
      delta({ content: [{ type: "text", text: "a" }, reference, { type: "text", text: "b" }, "c"] }),
      finish("stop"),
    ]);
    expect(messageOf(chunks)?.blocks).toEqual([
      { type: "thinking", text: "hm" },
      { type: "text", text: "abc" },
      { type: "unknown", raw: reference },
    ]);
  });

  it("the first id is used, even if every chunk has another; without one an id is generated", () => {
    const changing = [0, 1].map((at) => chunkOf([{ index: 0, delta: { content: "x" } }], { id: `id-${at}` }));
    expect(messageOf(decode([...changing, finish("stop")]))?.id).toBe("id-0");
    const bare = frame({ choices: [{ delta: { content: "x" }, finish_reason: "stop" }] });
    expect(messageOf(decode([bare]))).toMatchObject({ id: "message-1", blocks: [{ type: "text", text: "x" }] });
  });
});

describe("tool calls", () => {
  it("S2-9 S2-28: message first, then its calls, ours to run, with parsed input", () => {
    const chunks = decode([
      delta({ role: "assistant", content: null }),
      head(0, "c0", "add"),
      args(0, '{"a":'),
      head(1, "c1", "mul", '{"b":2}'),
      args(0, "1}"),
      finish("tool_calls"),
      usage(),
    ]);
    expect(types(chunks)).toEqual([
      "start",
      "tool-input-delta",
      "tool-input-delta",
      "tool-input-delta",
      "message",
      "tool-call",
      "tool-call",
    ]);
    expect(
      only(chunks, "tool-input-delta").map(({ index, callId, name, json }) => [index, callId, name, json]),
    ).toEqual([
      [0, "c0", "add", '{"a":'],
      [1, "c1", "mul", '{"b":2}'],
      [0, "c0", "add", "1}"],
    ]);
    expect(messageOf(chunks)).toMatchObject({
      stopReason: "tool-use",
      blocks: [
        { type: "tool-call", callId: "c0", name: "add", input: { a: 1 } },
        { type: "tool-call", callId: "c1", name: "mul", input: { b: 2 } },
      ],
    });
    expect(only(chunks, "tool-call")).toMatchObject([
      { callId: "c0", name: "add", input: { a: 1 }, executedBy: "millrace" },
      { callId: "c1", name: "mul", input: { b: 2 }, executedBy: "millrace" },
    ]);
  });

  it("text before a call keeps its own index", () => {
    const chunks = decode([text("Let me see."), head(0, "c0", "add", "{}"), text(" Now."), finish("stop")]);
    expect(messageOf(chunks)?.blocks.map((block) => block.type)).toEqual(["text", "tool-call"]);
    expect(only(chunks, "tool-input-delta")[0]?.index).toBe(1);
    expect(messageOf(chunks)?.blocks[0]).toEqual({ type: "text", text: "Let me see. Now." });
  });

  it("calls with finish_reason stop are tool use", () => {
    expect(messageOf(decode([head(0, "c0", "add", "{}"), finish("stop")]))?.stopReason).toBe("tool-use");
  });

  it.each(["", "  "])("arguments %j of a complete reply are an empty object", (none) => {
    expect(only(decode([head(0, "c0", "now", none), finish("tool_calls")]), "tool-call")[0]?.input).toEqual({});
  });

  it("arguments sent as an object are used as they are", () => {
    const chunks = decode([call({ id: "c0", function: { name: "add", arguments: { a: 1 } } }), finish("stop")]);
    expect(only(chunks, "tool-call")[0]?.input).toEqual({ a: 1 });
  });

  it("a __proto__ key in arguments is an ordinary key and pollutes nothing", () => {
    const chunks = decode([head(0, "c0", "add", '{"__proto__":{"polluted":1}}'), finish("stop")]);
    const input = only(chunks, "tool-call")[0]?.input;
    expect(Object.keys(input as object)).toEqual(["__proto__"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("RELIABILITY 0.1: every call numbered 0 with its own id gives separate calls", () => {
    const chunks = decode([head(0, "a", "del", '{"x":1}'), head(0, "b", "del", '{"x":2}'), finish("tool_calls")]);
    expect(only(chunks, "tool-call").map(({ callId, name, input }) => [callId, name, input])).toEqual([
      ["a", "del", { x: 1 }],
      ["b", "del", { x: 2 }],
    ]);
    expect(messageOf(chunks)?.blocks).toHaveLength(2);
  });

  it("a call without an id gets one based on the id of the reply; its deltas wait for it", () => {
    const chunks = decode([call({ index: 0, function: { name: "add", arguments: "{}" } }), finish("stop")]);
    expect(types(chunks)).toEqual(["start", "tool-input-delta", "message", "tool-call"]);
    expect(only(chunks, "tool-input-delta")[0]).toMatchObject({ callId: "call_chatcmpl-1_0", json: "{}" });
    expect(only(chunks, "tool-call")[0]?.callId).toBe("call_chatcmpl-1_0");
  });

  it("a late id is on every delta nevertheless", () => {
    const chunks = decode([
      call({ index: 0, function: { name: "add", arguments: '{"a"' } }),
      call({ index: 0, function: { arguments: ":1" } }),
      call({ index: 0, id: "late", function: { arguments: "}" } }),
      finish("tool_calls"),
    ]);
    expect(only(chunks, "tool-input-delta")).toMatchObject([{ callId: "late", json: '{"a":1}' }]);
    expect(only(chunks, "tool-call")).toMatchObject([{ callId: "late", input: { a: 1 } }]);
  });

  it("the older function_call form is one call", () => {
    const chunks = decode([
      delta({ function_call: { name: "add", arguments: "" } }),
      delta({ function_call: { arguments: '{"a"' } }),
      delta({ function_call: { arguments: ":1}" } }),
      finish("function_call"),
    ]);
    expect(only(chunks, "tool-input-delta").map((chunk) => chunk.json)).toEqual(['{"a"', ":1}"]);
    expect(only(chunks, "tool-call")).toMatchObject([{ callId: "call_chatcmpl-1_0", name: "add", input: { a: 1 } }]);
    expect(messageOf(chunks)?.stopReason).toBe("tool-use");
  });

  it("a reason of tool_calls without any call is not tool use", () => {
    expect(messageOf(decode([text("hm"), finish("tool_calls")]))?.stopReason).toBe("unknown");
  });
});

describe("I4: incomplete calls", () => {
  it("F-B2: cut by length: each of them is a warning and an unknown block, and none is a call", () => {
    const chunks = decode([head(0, "c0", "add", '{"a":1}'), head(1, "c1", "mul", '{"b":'), finish("length"), DONE]);
    expect(types(chunks).slice(3)).toEqual(["message", "warning", "warning"]);
    expect(only(chunks, "warning")).toMatchObject([
      { code: "tool-call-incomplete", context: { callId: "c0", name: "add", arguments: '{"a":1}' } },
      { code: "tool-call-incomplete", context: { callId: "c1", name: "mul", arguments: '{"b":' } },
    ]);
    expect(messageOf(chunks)).toMatchObject({
      stopReason: "max-tokens",
      blocks: [
        { type: "unknown", raw: { type: "tool_call", id: "c0", name: "add", arguments: '{"a":1}' } },
        { type: "unknown", raw: { type: "tool_call", id: "c1", name: "mul", arguments: '{"b":' } },
      ],
    });
  });

  it.each([
    ["length", ""],
    ["length", "12"],
    ["length", '"a"'],
    ["length", '{"a":1}'],
    ["content_filter", '{"a":1'],
    ["content_filter", '{"a":1}'],
    ["some_new_reason", '{"a":1}'],
    ["some_new_reason", "{"],
  ])("reason %s with arguments %j is not a call", (reason, piece) => {
    const chunks = decode([head(0, "c0", "add", piece), finish(reason)]);
    expect(only(chunks, "tool-call")).toEqual([]);
    expect(only(chunks, "warning").map(({ code }) => code)).toEqual([
      "tool-call-incomplete",
      ...(reason === "some_new_reason" ? ["unknown-stop-reason"] : []),
    ]);
  });

  it.each(["tool_calls", "stop"])("%s with invalid JSON: the call, and at once an error as its answer", (reason) => {
    const chunks = decode([head(0, "c0", "add", '{"a":'), head(1, "c1", "mul", "{}"), finish(reason)]);
    expect(types(chunks).slice(3)).toEqual(["message", "tool-call", "tool-result", "tool-call"]);
    expect(only(chunks, "tool-call")[0]).toMatchObject({ callId: "c0", input: '{"a":' });
    expect(only(chunks, "tool-result")[0]).toMatchObject({
      callId: "c0",
      name: "add",
      isError: true,
      skipped: "incomplete",
    });
    expect(messageOf(chunks)?.blocks[0]).toMatchObject({ type: "tool-call", input: '{"a":' });
  });

  it("arguments nested too deep are not run", () => {
    const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
    const chunks = decode([head(0, "c0", "add", `{"a":${deep}}`), finish("tool_calls")]);
    expect(only(chunks, "tool-result")).toMatchObject([{ callId: "c0", skipped: "incomplete" }]);
  });

  it("a call without a name is never a call", () => {
    const chunks = decode([args(0, "{}"), finish("tool_calls")]);
    expect(only(chunks, "tool-call")).toEqual([]);
    expect(only(chunks, "tool-input-delta")).toEqual([]);
    expect(messageOf(chunks)?.blocks).toMatchObject([{ type: "unknown", raw: { arguments: "{}" } }]);
  });

  it("a frame lost inside the arguments makes the call unsafe, even if the rest is JSON", () => {
    const chunks = decode([head(0, "c0", "rm", '{"path":"/tmp"'), frameOf("<garbage>"), args(0, "}"), finish("stop")]);
    expect(only(chunks, "tool-result")).toMatchObject([{ callId: "c0", isError: true, skipped: "incomplete" }]);
  });

  it("a frame lost outside the arguments does not affect a call", () => {
    const chunks = decode([head(0, "c0", "rm", "{}"), frameOf("<garbage>"), finish("stop")]);
    expect(only(chunks, "tool-result")).toEqual([]);
    expect(only(chunks, "tool-call")).toHaveLength(1);
  });
});

describe("the end", () => {
  it.each([
    ["stop", "end-turn"],
    ["eos", "end-turn"],
    ["length", "max-tokens"],
    ["model_length", "max-tokens"],
    ["content_filter", "content-filter"],
    ["constructor", "unknown"],
  ])("finish_reason %s is %s", (reason, stopReason) => {
    expect(messageOf(decode([text("a"), finish(reason)]))?.stopReason).toBe(stopReason);
  });

  it("an unknown reason is kept in a notice with its frame", () => {
    const chunks = decode([finish("galaxy_brain")]);
    expect(only(chunks, "notice")).toMatchObject([
      {
        kind: "unknown:finish-reason",
        data: { finishReason: "galaxy_brain" },
        raw: { json: expect.stringContaining("galaxy") },
      },
    ]);
  });

  it("the first reason applies", () => {
    expect(messageOf(decode([finish("length"), finish("stop")]))?.stopReason).toBe("max-tokens");
  });

  it.each([
    ["error", "provider-error"],
    ["abort", "provider-error"],
    ["insufficient_system_resource", "provider-overloaded"],
  ])("finish_reason %s means that the host failed", (reason, code) => {
    const chunks = decode([text("a"), finish(reason), usage(), DONE]);
    expect(types(chunks)).toEqual(["start", "text-delta", "error"]);
    expect(chunks.at(-1)).toMatchObject({ code, terminal: true, diagnostic: { vendorCode: reason } });
  });

  it("the message comes as soon as reason and usage are known, once", () => {
    const adapter = openAiChat.createAdapter();
    expect(types(adapter.feed([text("a"), finish("stop")]))).toEqual(["start", "text-delta"]);
    expect(types(adapter.feed([usage()]))).toEqual(["message"]);
    expect(types(adapter.feed([DONE]))).toEqual([]);
    expect(adapter.flush()).toEqual([]);
  });

  it("the message comes at [DONE] without usage, and at flush without both", () => {
    const adapter = openAiChat.createAdapter();
    adapter.feed([text("a"), finish("stop")]);
    expect(types(adapter.feed([DONE]))).toEqual(["message"]);
    adapter.reset();
    adapter.feed([text("a"), finish("stop")]);
    expect(types(adapter.flush())).toEqual(["message"]);
  });

  it("usage on every chunk: the last one applies, and waits for the reason", () => {
    const counted = (completion_tokens: number): object => ({ usage: { prompt_tokens: 5, completion_tokens } });
    const chunks = decode([
      delta({ content: "a" }, null, counted(1)),
      delta({ content: "b" }, null, counted(2)),
      finish("stop", counted(3)),
      DONE,
    ]);
    expect(only(chunks, "message")).toMatchObject([{ usage: { inputTokens: 5, outputTokens: 3 } }]);
  });

  it("usage in full, and unknown counts stay absent", () => {
    const details = { prompt_tokens_details: { cached_tokens: 4 }, completion_tokens_details: { reasoning_tokens: 2 } };
    expect(messageOf(decode([finish("stop"), usage(details)]))?.usage).toEqual({
      inputTokens: 5,
      outputTokens: 7,
      cacheReadTokens: 4,
      reasoningTokens: 2,
    });
    expect(messageOf(decode([finish("stop"), usage({ prompt_cache_hit_tokens: 3 })]))?.usage?.cacheReadTokens).toBe(3);
    const odd = finish("stop", { usage: { prompt_tokens: "5", completion_tokens: -1 } });
    expect(messageOf(decode([odd]))).not.toHaveProperty("usage");
  });

  it("I4: without a finish_reason the stream is cut, at [DONE] and at flush alike", () => {
    for (const frames of [[text("half")], [text("half"), DONE], [head(0, "c0", "add", "{}"), usage()], [DONE], []]) {
      const chunks = decode(frames);
      expect(only(chunks, "error")).toMatchObject([{ code: "stream-cut", terminal: true }]);
      expect(chunks.at(-1)?.type).toBe("error");
      expect(only(chunks, "message")).toEqual([]);
      expect(only(chunks, "tool-call")).toEqual([]);
    }
  });

  it("an empty finish_reason is ignored", () => {
    expect(decode([delta({ content: "a" }, ""), DONE]).at(-1)).toMatchObject({ code: "stream-cut" });
  });

  it("frames after the end are notices; nothing follows a terminal error", () => {
    const late = decode([finish("stop"), usage(), text("late"), frameOf("<p>"), frame({ error: { message: "x" } })]);
    expect(types(late)).toEqual(["start", "message", "notice", "notice", "notice"]);
    expect(only(late, "notice").every((notice) => notice.kind === "late-frame" && notice.raw !== undefined)).toBe(true);
    expect(types(decode([frame({ error: { message: "x" } }), text("late"), DONE]))).toEqual(["error"]);
  });

  it("reset clears everything", () => {
    const adapter = openAiChat.createAdapter();
    const frames = [text("a"), head(0, "c0", "add", "{}"), finish("stop"), usage(), DONE];
    const first = [...adapter.feed(frames), ...adapter.flush()];
    adapter.reset();
    expect([...adapter.feed(frames), ...adapter.flush()]).toEqual(first);
  });
});

describe("errors and unusual input", () => {
  it.each([
    [
      { error: { message: "slow", type: "requests", code: "rate_limit_exceeded" } },
      "provider-rate-limited",
      "rate_limit_exceeded",
    ],
    [{ error: { message: "slow", code: 429 } }, "provider-rate-limited", "429"],
    [{ error: { message: "busy", type: "server_error", code: 503 } }, "provider-overloaded", "server_error"],
    [
      { error: { message: "key", type: "invalid_request_error", code: "invalid_api_key" } },
      "provider-auth",
      "invalid_api_key",
    ],
    [{ error: { message: "pay", code: "insufficient_quota" } }, "provider-auth", "insufficient_quota"],
    [
      { error: { message: "long", type: "invalid_request_error" } },
      "provider-invalid-request",
      "invalid_request_error",
    ],
    [{ error: { message: "no", code: "content_filter" } }, "content-filtered", "content_filter"],
    [{ error: { message: "?", type: "constructor" } }, "provider-error", "constructor"],
    [{ error: "a sentence" }, "provider-error", undefined],
    [
      { object: "error", message: "bad", type: "BadRequestError", code: 400 },
      "provider-invalid-request",
      "BadRequestError",
    ],
    [{ choices: [{ index: 0, delta: {}, error: { message: "down", code: 502 } }] }, "provider-error", "502"],
  ] as const)("%j is a terminal %s", (value, code, vendorCode) => {
    const chunks = decode([text("half"), frame(value), finish("stop"), DONE]);
    expect(types(chunks)).toEqual(["start", "text-delta", "error"]);
    expect(chunks.at(-1)).toMatchObject({ code, terminal: true, raw: { json: JSON.stringify(value) } });
    expect(only(chunks, "error")[0]?.diagnostic?.vendorCode).toBe(vendorCode);
  });

  it("an SSE event named error is one, whatever its shape", () => {
    expect(decode([frame({ message: "boom", code: 500 }, "error")])).toMatchObject([
      { type: "error", message: "boom", code: "provider-error", diagnostic: { status: 500 } },
    ]);
  });

  it("a null error is not an error", () => {
    expect(messageOf(decode([delta({ content: "a" }, "stop", { error: null })]))?.stopReason).toBe("end-turn");
  });

  it("a frame that is not JSON is a non-terminal error, and the stream must still end properly", () => {
    const whole = decode([text("a"), frameOf("<html>"), text("b"), finish("stop")]);
    expect(types(whole)).toEqual(["start", "text-delta", "error", "text-delta", "message"]);
    expect(whole[2]).toMatchObject({ code: "json-decode", terminal: false, diagnostic: { seen: "<html>" } });
    expect(decode([text("a"), frameOf("<html>")]).at(-1)).toMatchObject({ code: "stream-cut", terminal: true });
  });

  it("S2-16: chunks without choices are skipped", () => {
    const chunks = decode([chunkOf([], { id: "", model: "" }), text("a"), chunkOf([]), finish("stop")]);
    expect(types(chunks)).toEqual(["start", "text-delta", "message"]);
    expect(chunks[0]).toMatchObject({ model: "gpt-x" });
  });

  it("of several choices the first is decoded and the others are reported once", () => {
    const both = (content: string): DataFrame =>
      chunkOf([
        { index: 1, delta: { content: `other ${content}` } },
        { index: 0, delta: { content } },
      ]);
    const chunks = decode([both("a"), both("b"), finish("stop")]);
    expect(messageOf(chunks)?.blocks).toEqual([{ type: "text", text: "ab" }]);
    expect(only(chunks, "notice")).toMatchObject([{ kind: "unknown:choice", raw: { json: expect.any(String) } }]);
  });

  it("unknown input is kept as a notice with its frame", () => {
    const chunks = decode([frame({ hello: 1 }), frame(17), delta({ audio: { id: "x" } }), text("a"), finish("stop")]);
    expect(only(chunks, "notice").map((notice) => [notice.kind, notice.raw?.json.slice(0, 4)])).toEqual([
      ["unknown:chunk", '{"he'],
      ["unknown:chunk", "17"],
      ["unknown:delta", '{"id'],
    ]);
  });
});

describe("properties", () => {
  const field = fc.constantFrom(
    ...["id", "model", "object", "choices", "usage", "error", "index", "delta", "finish_reason", "content", "refusal"],
    ...["reasoning", "tool_calls", "function_call", "function", "name", "arguments", "type", "text", "thinking"],
    ...["__proto__", "constructor", "toJSON", "length"],
  );
  const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
    anything: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom<unknown>(null, true, 0, 1, -1, "", "stop", "tool_calls", "length", "{}", '{"a"', "text"),
      fc.array(tie("anything"), { maxLength: 3 }),
      fc.array(fc.tuple(field, tie("anything")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
    ),
  }));
  const nearlyRight = fc.oneof(
    anything.map((value) => frame(value ?? null)),
    anything.map((value) => frame({ id: "x", choices: [value] })),
    anything.map((value) => frame({ id: "x", choices: [{ index: 0, delta: value }] })),
    anything.map((value) => frame({ choices: [{ index: 0, delta: { content: value, tool_calls: [value] } }] })),
    fc.constantFrom(finish("stop"), finish("length"), finish("tool_calls"), usage(), DONE, frameOf("{")),
    fc.constantFrom(text("a"), head(0, "c0", "add"), args(0, '{"a":1}'), args(1, "{"), delta({ reasoning: "hm" })),
  );

  it("R1 I4: any frames at all never throw, and keep the guarantees of the event model", () => {
    fc.assert(
      fc.property(fc.array(nearlyRight, { maxLength: 12 }), (frames) => {
        expect(brokenPromise(decode(frames))).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });
});

/** Checks what a reply guarantees beyond the event model: one end, calls only after it, and every call can be run. */
function brokenPromise(chunks: readonly Chunk[]): string | undefined {
  const violation = findViolation(closeRunLog(chunks));
  if (violation !== undefined) return `${violation.invariant}: ${violation.message}`;
  const messages = only(chunks, "message").length;
  const calls = only(chunks, "tool-call");
  if (messages + only(chunks, "error").filter((error) => error.terminal).length !== 1) return "not exactly one end";
  if (messages === 0 && calls.length > 0) return "a call of a reply that is not whole";
  return calls.some((item) => item.name === "") ? "a call without a name" : undefined;
}
