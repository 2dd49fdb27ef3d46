import type { Chunk, EventOf, EventType } from "#domain";
import { closeRunLog, findViolation } from "#testing";
import type { DataFrame } from "#wire";
import { FinishReason } from "@google/genai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { createDecoder } from "../shared/decoder.ts";
import { gemini } from "./decode.ts";

const RUNS = fuzzRuns(5000);

const frame = (value: unknown, name = ""): DataFrame => ({
  kind: "data",
  name,
  id: "",
  text: JSON.stringify(value),
  value: JSON.parse(JSON.stringify(value)),
});
const garbage: DataFrame = { kind: "data", name: "", id: "", text: "<p>", value: undefined };

const META = { modelVersion: "gemini-x", responseId: "r1" };
const candidate = (given: object, more: object = {}): DataFrame =>
  frame({ candidates: [{ index: 0, ...given }], ...META, ...more });
const parts = (...given: unknown[]): DataFrame => candidate({ content: { role: "model", parts: given } });
const text = (given: string): DataFrame => parts({ text: given });
const thought = (given: string, more: object = {}): DataFrame => parts({ text: given, thought: true, ...more });
const call = (name: string, args?: unknown, more: object = {}): DataFrame =>
  parts({ functionCall: { name, args }, ...more });
const finish = (finishReason: string, more: object = {}): DataFrame =>
  candidate({ content: { role: "model", parts: [{ text: "" }] }, finishReason, ...more });

function decode(frames: readonly DataFrame[], mode?: "tape"): Chunk[] {
  const adapter = gemini.createAdapter(mode === undefined ? {} : { mode });
  return [...adapter.feed(frames), ...adapter.flush()];
}

function only<Type extends EventType>(chunks: readonly Chunk[], type: Type): EventOf<Type>[] {
  return chunks.filter((chunk): chunk is Chunk & EventOf<Type> => chunk.type === type);
}

const types = (chunks: readonly Chunk[]): string[] => chunks.map((chunk) => chunk.type);
const messageOf = (chunks: readonly Chunk[]) => only(chunks, "message")[0];

describe("text", () => {
  it("S2-29: one start, deltas, one message with model, id and stop reason", () => {
    const chunks = decode([text("Hel"), text("lo"), finish("STOP")]);
    expect(types(chunks)).toEqual(["start", "text-delta", "text-delta", "message"]);
    expect(chunks[0]).toMatchObject({ backend: "google", mode: "http", model: "gemini-x" });
    expect(messageOf(chunks)).toMatchObject({
      id: "r1",
      role: "assistant",
      model: "gemini-x",
      stopReason: "end-turn",
      blocks: [{ type: "text", text: "Hello" }],
    });
  });

  it("the mode of the start is the caller's, and a reply without an id gets one", () => {
    const bare = frame({ candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP" }] });
    const chunks = decode([bare], "tape");
    expect(chunks[0]).toMatchObject({ type: "start", mode: "tape" });
    expect(messageOf(chunks)?.id).toBe("message-1");
  });

  it("the end may come with the last text", () => {
    const last = candidate({ content: { parts: [{ text: "b" }] }, finishReason: "STOP" });
    expect(messageOf(decode([text("a"), last]))?.blocks).toEqual([{ type: "text", text: "ab" }]);
  });

  it("a reason on every frame, as older versions send it, does not end the reply early", () => {
    const every = (given: string): DataFrame =>
      candidate({ content: { parts: [{ text: given }] }, finishReason: "STOP" });
    const chunks = decode([every("a"), every("b"), every("c")]);
    expect(messageOf(chunks)?.blocks).toEqual([{ type: "text", text: "abc" }]);
    expect(only(chunks, "notice")).toEqual([]);
  });

  it("adjacent parts of one kind are one block; a change of kind begins another", () => {
    const chunks = decode([thought("h"), thought("m"), text("a"), text("b"), thought("x"), text("c"), finish("STOP")]);
    expect(messageOf(chunks)?.blocks).toEqual([
      { type: "thinking", text: "hm" },
      { type: "text", text: "ab" },
      { type: "thinking", text: "x" },
      { type: "text", text: "c" },
    ]);
    const indices = chunks.flatMap((chunk) => ("index" in chunk ? [chunk.index] : []));
    expect(indices).toEqual([0, 0, 1, 1, 2, 3]);
  });
});

describe("thought signatures", () => {
  const SIGNED = { thoughtSignature: "sig" };

  it("on a thought: the signature of its block, even if it arrives alone afterwards; the next thought is a new block", () => {
    const signed = [{ type: "thinking", text: "hm", signature: "sig", vendor: "google" }];
    expect(messageOf(decode([thought("hm", SIGNED), finish("STOP")]))?.blocks).toEqual(signed);
    expect(messageOf(decode([thought("hm"), thought("", SIGNED), finish("STOP")]))?.blocks).toEqual(signed);
    expect(messageOf(decode([thought("hm", SIGNED), thought("more"), finish("STOP")]))?.blocks).toEqual([
      ...signed,
      { type: "thinking", text: "more" },
    ]);
  });

  it("on an empty thought after text: a separate block, and the text stays text", () => {
    expect(messageOf(decode([text("a"), thought("", SIGNED), finish("STOP")]))?.blocks).toEqual([
      { type: "text", text: "a" },
      { type: "thinking", text: "", signature: "sig", vendor: "google" },
    ]);
  });

  it.each([
    ["on the part", { functionCall: { name: "add", args: {} }, ...SIGNED }],
    ["inside the call, where older versions put it", { functionCall: { name: "add", args: {}, ...SIGNED } }],
  ])("on a function call (%s): an empty signed thought right before it", (_, part) => {
    const chunks = decode([text("a"), parts(part), finish("STOP")]);
    expect(messageOf(chunks)?.blocks).toMatchObject([
      { type: "text", text: "a" },
      { type: "thinking", text: "", signature: "sig", vendor: "google" },
      { type: "tool-call", name: "add" },
    ]);
    expect(only(chunks, "tool-input-delta")[0]?.index).toBe(2);
  });

  it("on a call after an open thought: the thought stays unsigned", () => {
    expect(messageOf(decode([thought("hm"), call("add", {}, SIGNED), finish("STOP")]))?.blocks).toMatchObject([
      { type: "thinking", text: "hm" },
      { type: "thinking", text: "", signature: "sig", vendor: "google" },
      { type: "tool-call" },
    ]);
  });

  it("on text, or on a last empty part: the raw part after the text", () => {
    const behind = { type: "unknown", raw: { text: "", thoughtSignature: "sig" } };
    for (const last of [{ text: "b", ...SIGNED }, { text: "", ...SIGNED }, SIGNED]) {
      const chunks = decode([text("a"), parts(last), finish("STOP")]);
      const written = "text" in last ? last.text : "";
      expect(messageOf(chunks)?.blocks).toEqual([{ type: "text", text: `a${written}` }, behind]);
    }
  });

  it("on media: an empty signed thought right before it", () => {
    const picture = { inlineData: { mimeType: "image/png", data: "AAAA" }, ...SIGNED };
    expect(messageOf(decode([parts(picture), finish("STOP")]))?.blocks).toEqual([
      { type: "thinking", text: "", signature: "sig", vendor: "google" },
      { type: "image", mediaType: "image/png", data: "AAAA" },
    ]);
  });
});

describe("function calls", () => {
  it("S2-9 S2-28: complete calls are shown once, and marked as ours to run after the message", () => {
    const chunks = decode([call("add", { a: 1 }), parts({ functionCall: { id: "g1", name: "now" } }), finish("STOP")]);
    expect(types(chunks)).toEqual([
      "start",
      "tool-input-delta",
      "tool-input-delta",
      "message",
      "tool-call",
      "tool-call",
    ]);
    expect(
      only(chunks, "tool-input-delta").map(({ index, callId, name, json }) => [index, callId, name, json]),
    ).toEqual([
      [0, "call_r1_0", "add", '{"a":1}'],
      [1, "g1", "now", "{}"],
    ]);
    expect(messageOf(chunks)).toMatchObject({
      stopReason: "tool-use",
      blocks: [
        { type: "tool-call", callId: "call_r1_0", name: "add", input: { a: 1 } },
        { type: "tool-call", callId: "g1", name: "now", input: {} },
      ],
    });
    expect(only(chunks, "tool-call")).toMatchObject([
      { callId: "call_r1_0", name: "add", input: { a: 1 }, executedBy: "millrace" },
      { callId: "g1", name: "now", input: {}, executedBy: "millrace" },
    ]);
  });

  it("RELIABILITY 1.4: parallel calls without index or id stay separate, and ids are unique", () => {
    const twice = [{ functionCall: { id: "x", name: "add" } }, { functionCall: { id: "x", name: "add" } }];
    const chunks = decode([call("add", { a: 1 }), call("add", { a: 2 }), parts(...twice), finish("STOP")]);
    expect(only(chunks, "tool-call").map(({ callId, input }) => [callId, input])).toEqual([
      ["call_r1_0", { a: 1 }],
      ["call_r1_1", { a: 2 }],
      ["x", {}],
      ["call_r1_3", {}],
    ]);
  });

  it.each([
    ["no name", { functionCall: { args: {} } }],
    ["arguments that are no object", { functionCall: { name: "add", args: "a=1" } }],
    ["arguments to be continued", { functionCall: { name: "add", args: {}, willContinue: true } }],
    ["arguments in pieces", { functionCall: { name: "add", partialArgs: [{ jsonPath: "$.a", numberValue: 1 }] } }],
  ])("I4: a call with %s is kept and reported, but never made", (_, part) => {
    const chunks = decode([parts(part), finish("STOP")]);
    expect(types(chunks)).toEqual(["start", "message", "warning"]);
    expect(messageOf(chunks)).toMatchObject({ stopReason: "malformed-call", blocks: [{ type: "unknown", raw: part }] });
    expect(chunks.at(-1)).toMatchObject({ code: "tool-call-incomplete", context: part });
  });

  it.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])(
    "F-B2: %s makes none of the calls of the reply, and reports Gemini's message",
    (reason) => {
      const chunks = decode([text("a"), call("add", { a: 1 }), finish(reason, { finishMessage: "Malformed: add(" })]);
      expect(messageOf(chunks)).toMatchObject({
        stopReason: "malformed-call",
        vendorStopReason: reason,
        blocks: [
          { type: "text", text: "a" },
          { type: "unknown", raw: { functionCall: { name: "add", args: { a: 1 } } } },
        ],
      });
      expect(only(chunks, "tool-call")).toEqual([]);
      expect(only(chunks, "warning")).toMatchObject([
        { code: "tool-call-incomplete", context: { finishReason: reason, finishMessage: "Malformed: add(" } },
      ]);
    },
  );

  it("a __proto__ key in arguments is an ordinary key", () => {
    const part = JSON.parse('{"functionCall":{"name":"add","args":{"__proto__":{"polluted":1}}}}');
    const evil: DataFrame = {
      ...garbage,
      value: { candidates: [{ content: { parts: [part] }, finishReason: "STOP" }] },
    };
    const chunks = decode([evil]);
    expect(Object.keys(only(chunks, "tool-call")[0]?.input as object)).toEqual(["__proto__"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("other parts", () => {
  it("inline data and files are images or documents", () => {
    const chunks = decode([
      parts(
        { inlineData: { mimeType: "image/png", data: "AAAA" } },
        { inlineData: { mimeType: "application/pdf", data: "BBBB" } },
        { fileData: { mimeType: "image/jpeg", fileUri: "gs://b/f" } },
      ),
      finish("STOP"),
    ]);
    expect(messageOf(chunks)?.blocks).toEqual([
      { type: "image", mediaType: "image/png", data: "AAAA" },
      { type: "document", mediaType: "application/pdf", data: "BBBB" },
      { type: "image", mediaType: "image/jpeg", url: "gs://b/f" },
    ]);
  });

  it("an unknown part is kept as a block, and an empty part is ignored", () => {
    const code = { executableCode: { language: "PYTHON", code: "1+1" } };
    const draft = { inlineData: { mimeType: "image/png", data: "AAAA" }, thought: true };
    const chunks = decode([parts({}, code, draft, 17), finish("STOP")]);
    expect(messageOf(chunks)?.blocks).toEqual([code, draft, 17].map((raw) => ({ type: "unknown", raw })));
  });
});

describe("the end", () => {
  it.each([
    ["STOP", "end-turn"],
    ["MAX_TOKENS", "max-tokens"],
    ["SAFETY", "content-filter"],
    ["RECITATION", "content-filter"],
    ["BLOCKLIST", "content-filter"],
    ["PROHIBITED_CONTENT", "content-filter"],
    ["SPII", "content-filter"],
    ["IMAGE_SAFETY", "content-filter"],
    ["LANGUAGE", "content-filter"],
    ["CONTINUATION", "max-tokens"],
    ["constructor", "unknown"],
  ])("finishReason %s is %s", (reason, stopReason) => {
    const chunks = decode([text("a"), finish(reason)]);
    expect(messageOf(chunks)?.stopReason).toBe(stopReason);
    expect(only(chunks, "notice").map((notice) => notice.kind)).toEqual(
      stopReason === "unknown" ? ["unknown:finish-reason"] : [],
    );
  });

  it.each(["OTHER", "TOO_MANY_TOOL_CALLS", "IMAGE_OTHER", "NO_IMAGE", "MISSING_THOUGHT_SIGNATURE"])(
    "F-B2: finishReason %s is a terminal error that names it, and no call is made",
    (reason) => {
      const chunks = decode([call("add", { a: 1 }), finish(reason, { finishMessage: "Sorry." })]);
      expect(types(chunks).filter((type) => type === "message" || type === "tool-call")).toEqual([]);
      expect(chunks.at(-1)).toMatchObject({ type: "error", terminal: true, diagnostic: { vendorCode: reason } });
      expect(only(chunks, "error")[0]?.message).toContain(reason);
    },
  );

  it("F-B2: every finish reason of Gemini's own SDK is handled", () => {
    for (const reason of Object.values(FinishReason)) {
      if (reason === FinishReason.FINISH_REASON_UNSPECIFIED) continue;
      const chunks = decode([text("a"), finish(reason)]);
      expect(
        only(chunks, "warning").map(({ code }) => code),
        reason,
      ).not.toContain("unknown-stop-reason");
    }
  });

  it("a candidate without content may end a reply", () => {
    expect(messageOf(decode([text("a"), candidate({ finishReason: "MAX_TOKENS" })]))?.stopReason).toBe("max-tokens");
  });

  it("F-B2: a complete call in a reply that hit its limit is not made", () => {
    const chunks = decode([call("add", { a: 1 }), finish("MAX_TOKENS")]);
    expect(messageOf(chunks)).toMatchObject({ stopReason: "max-tokens", blocks: [{ type: "unknown" }] });
    expect(only(chunks, "tool-call")).toEqual([]);
    expect(only(chunks, "warning")).toMatchObject([{ code: "tool-call-incomplete", context: { name: "add" } }]);
  });

  it("usage: the last one applies, thoughts count as output, unknown counts stay absent", () => {
    const counted = (usageMetadata: object): DataFrame =>
      candidate({ content: { parts: [{ text: "a" }] } }, { usageMetadata });
    const last = { promptTokenCount: 5, candidatesTokenCount: 3, thoughtsTokenCount: 2, cachedContentTokenCount: 4 };
    const usageOf = (...frames: DataFrame[]) => messageOf(decode([...frames, finish("STOP")]))?.usage;
    expect(usageOf(counted({ promptTokenCount: 5, candidatesTokenCount: 1 }), counted(last))).toEqual({
      inputTokens: 5,
      outputTokens: 5,
      cacheReadTokens: 4,
      reasoningTokens: 2,
    });
    expect(usageOf(counted({ promptTokenCount: 5, toolUsePromptTokenCount: 2 }))).toEqual({ inputTokens: 7 });
    expect(usageOf(counted({ promptTokenCount: "5" }))).toBeUndefined();
    const after = frame({ usageMetadata: { promptTokenCount: 9 } });
    expect(messageOf(decode([finish("STOP"), after]))?.usage).toEqual({ inputTokens: 9 });
  });

  it("I4: without a finishReason the stream is cut: no message, no tool call", () => {
    for (const frames of [[], [text("half")], [call("add", {})], [text("a"), finish("FINISH_REASON_UNSPECIFIED")]]) {
      const chunks = decode(frames);
      expect(chunks.at(-1)).toMatchObject({ type: "error", code: "stream-cut", terminal: true });
      expect(only(chunks, "message")).toEqual([]);
      expect(only(chunks, "tool-call")).toEqual([]);
    }
  });

  it("frames after the end are notices, a second flush gives nothing, reset clears everything", () => {
    const adapter = gemini.createAdapter();
    const frames = [text("a"), call("add", {}), finish("STOP")];
    const first = [...adapter.feed(frames), ...adapter.flush()];
    expect(adapter.feed([text("late"), garbage])).toMatchObject([{ kind: "late-frame" }, { kind: "late-frame" }]);
    expect(adapter.flush()).toEqual([]);
    adapter.reset();
    expect([...adapter.feed(frames), ...adapter.flush()]).toEqual(first);
  });
});

describe("errors and unusual input", () => {
  it.each([
    [{ code: 429, status: "RESOURCE_EXHAUSTED", message: "slow" }, "provider-rate-limited", "RESOURCE_EXHAUSTED"],
    [{ code: 503, status: "UNAVAILABLE", message: "busy" }, "provider-overloaded", "UNAVAILABLE"],
    [{ code: 403, status: "PERMISSION_DENIED", message: "no" }, "provider-auth", "PERMISSION_DENIED"],
    [{ code: 400, status: "INVALID_ARGUMENT", message: "bad" }, "provider-invalid-request", "INVALID_ARGUMENT"],
    [{ code: 500, status: "INTERNAL", message: "oops" }, "provider-error", "INTERNAL"],
    [{ code: 401 }, "provider-auth", "401"],
    ["a sentence", "provider-error", undefined],
  ] as const)("the error %j is a terminal %s", (error, code, vendorCode) => {
    const chunks = decode([text("half"), frame({ error }), finish("STOP")]);
    expect(types(chunks)).toEqual(["start", "text-delta", "error"]);
    expect(chunks.at(-1)).toMatchObject({ code, terminal: true, raw: { json: JSON.stringify({ error }) } });
    expect(only(chunks, "error")[0]?.diagnostic?.vendorCode).toBe(vendorCode);
  });

  it("a blocked prompt is a terminal content-filtered", () => {
    const blocked = frame({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 5 },
    });
    expect(decode([blocked, text("late")])).toMatchObject([
      { type: "notice", kind: "usage", data: { usage: { inputTokens: 5 } } },
      { type: "error", code: "content-filtered", terminal: true, diagnostic: { vendorCode: "PROHIBITED_CONTENT" } },
    ]);
  });

  it("a frame that is not JSON is a non-terminal error, and the stream must still end properly", () => {
    const chunks = decode([text("a"), garbage, finish("STOP")]);
    expect(types(chunks)).toEqual(["start", "text-delta", "error", "message"]);
    expect(chunks[2]).toMatchObject({ code: "json-decode", terminal: false, diagnostic: { seen: "<p>" } });
    expect(decode([text("a"), garbage]).at(-1)).toMatchObject({ code: "stream-cut" });
  });

  it("of several candidates the first is decoded and the others are reported once", () => {
    const both = (given: string): DataFrame =>
      frame({ candidates: [1, 0].map((index) => ({ index, content: { parts: [{ text: `${given}${index}` }] } })) });
    const chunks = decode([both("a"), both("b"), finish("STOP")]);
    expect(messageOf(chunks)?.blocks).toEqual([{ type: "text", text: "a0b0" }]);
    expect(only(chunks, "notice")).toMatchObject([{ kind: "unknown:candidate", raw: { json: expect.any(String) } }]);
  });

  it("unknown input is kept as a notice with its frame", () => {
    const chunks = decode([frame({ hello: 1 }), frame(17), text("a"), finish("STOP")]);
    expect(only(chunks, "notice").map((notice) => [notice.kind, notice.raw?.json])).toEqual([
      ["unknown:chunk", '{"hello":1}'],
      ["unknown:chunk", "17"],
    ]);
  });
});

describe("properties", () => {
  const field = fc.constantFrom(
    ...["candidates", "content", "parts", "text", "thought", "thoughtSignature", "functionCall", "name", "args", "id"],
    ...["finishReason", "usageMetadata", "promptFeedback", "blockReason", "error", "index", "inlineData", "mimeType"],
    ...["data", "willContinue", "__proto__", "constructor", "toJSON", "length"],
  );
  const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
    anything: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom<unknown>(null, true, 0, 1, "", "STOP", "a", "image/png"),
      fc.array(tie("anything"), { maxLength: 3 }),
      fc.array(fc.tuple(field, tie("anything")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
    ),
  }));
  const nearlyRight = fc.oneof(
    anything.map((value) => frame(value ?? null)),
    anything.map((value) => candidate({ content: value })),
    anything.map((value) => parts(value)),
    anything.map((value) => parts({ functionCall: value, thoughtSignature: "s" })),
    fc.constantFrom(finish("STOP"), finish("MAX_TOKENS"), finish("NEW"), garbage),
    fc.constantFrom(
      text("a"),
      thought("b"),
      thought("c", { thoughtSignature: "s" }),
      thought("", { thoughtSignature: "s" }),
      call("add", {}),
      call("add", []),
    ),
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

/** Checks what a reply guarantees beyond the event model: one end, calls only after it, each of them a block. */
function brokenPromise(chunks: readonly Chunk[]): string | undefined {
  const violation = findViolation(closeRunLog(chunks));
  if (violation !== undefined) return `${violation.invariant}: ${violation.message}`;
  const message = messageOf(chunks);
  const calls = only(chunks, "tool-call");
  const ends = only(chunks, "message").length + only(chunks, "error").filter((error) => error.terminal).length;
  if (ends !== 1) return "not exactly one end";
  const blocks = message?.blocks.filter((block) => block.type === "tool-call") ?? [];
  return blocks.length === calls.length ? undefined : "calls and blocks of calls differ";
}

describe("F-B1: long arguments", () => {
  const args = { rows: Array.from({ length: 20_000 }, (_, at) => ({ at, name: `row ${at}` })) };
  const parts = [{ text: "before" }, { functionCall: { name: "keep", args } }, { text: "after" }];
  const frame = (candidate: object) => `data: ${JSON.stringify({ candidates: [candidate] })}\n\n`;
  const bytes = new TextEncoder().encode(frame({ content: { parts }, finishReason: "STOP" }));
  const inputOf = (chunks: readonly Chunk[]) =>
    chunks.map((chunk) => (chunk.type === "tool-input-delta" ? chunk.json : "")).join("");

  it("are shown in pieces, at their position among the deltas", () => {
    const decoder = createDecoder(gemini);
    const steps = [decoder.push(bytes)];
    for (let rest = decoder.rest(); rest.length > 0; rest = decoder.rest()) steps.push(rest);
    expect(steps.length).toBeGreaterThan(5);
    expect(Math.max(...steps.map((step) => inputOf(step).length))).toBeLessThan(200_000);
    const chunks = steps.flat();
    expect(inputOf(chunks) === JSON.stringify(args)).toBe(true);
    const order = chunks.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]);
    expect(order).toEqual(["start", "text-delta", "tool-input-delta", "text-delta"]);
    expect(decoder.end().map(({ type }) => type)).toEqual(["message", "tool-call"]);
  });

  it("come with the end if the rest is not requested, and with their frame otherwise", () => {
    const decoder = createDecoder(gemini);
    const chunks = [...decoder.push(bytes), ...decoder.end()];
    expect(inputOf(chunks) === JSON.stringify(args)).toBe(true);
    const raw = createDecoder(gemini, { keepRaw: true });
    const kept = raw.push(bytes);
    expect(inputOf(kept) === JSON.stringify(args)).toBe(true);
    expect(kept.every((chunk) => chunk.raw !== undefined)).toBe(true);
    expect(raw.rest()).toEqual([]);
  });
});
