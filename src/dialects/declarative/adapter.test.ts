import type { Chunk } from "#domain";
import { assertRunLog, closeRunLog } from "#testing";
import type { DataFrame } from "#wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import type { AdapterOptions } from "../shared/format.ts";
import { createDeclarativeFormat, type DeclarativeFormat } from "./create-format.ts";

const RUNS = Math.ceil(fuzzRuns(5000) / 5);

/** A dialect that uses our names for every field. */
const KINDS = ["message", "thinking", "tool-use", "tool-result", "error", "metadata", "unknown"] as const;
const FIELDS = [
  ...[
    "text",
    "content",
    "chunk",
    "thinking",
    "id",
    "messageId",
    "role",
    "stopReason",
    "name",
    "input",
    "output",
    "result",
  ],
  ...["isError", "is_error", "success", "status", "ms", "message", "code", "terminal", "sessionId", "model", "tools"],
  ...["inputTokens", "outputTokens", "subtype", "structured", "costUsd", "turns"],
];
const ALL = Object.fromEntries(FIELDS.map((field) => [field, field]));
const EVENTS = KINDS.map((kind) => ({ kind, match: { type: kind }, extract: ALL }));
const OPEN = createDeclarativeFormat({ name: "open", framing: "ndjson", events: EVENTS });
const ENDED = createDeclarativeFormat({
  name: "ended",
  framing: "ndjson",
  events: [
    { kind: "metadata", match: { type: "metadata", id: "quiet" }, extract: ALL, visibility: "hidden" },
    { kind: "error", match: { type: "fatal" }, extract: ALL, terminal: true },
    ...EVENTS,
  ],
  end: { match: { type: "end" }, extract: ALL },
});

function frame(value: unknown): DataFrame {
  const text = JSON.stringify(value);
  return { kind: "data", name: "", id: "", text, value: JSON.parse(text) };
}

function decode(values: readonly unknown[], format: DeclarativeFormat = OPEN, options?: AdapterOptions): Chunk[] {
  const adapter = format.createAdapter(options);
  const chunks = [...adapter.feed(values.map(frame)), ...adapter.flush()];
  assertRunLog(closeRunLog(chunks));
  return chunks;
}

/** The chunks without their envelope and raw bytes. */
function bare(chunks: readonly Chunk[]): unknown[] {
  return chunks.map(({ raw, ...rest }) => rest);
}

const text = (words: string, more: object = {}) => ({ type: "message", text: words, ...more });
const call = (more: object = {}) => ({ type: "tool-use", id: "c1", name: "Bash", input: { command: "ls" }, ...more });
const answer = (more: object = {}) => ({ type: "tool-result", id: "c1", output: "ok", ...more });

describe("messages", () => {
  it("deltas form one message, closed at the end of the stream", () => {
    expect(bare(decode([text("Hel"), text("lo")]))).toEqual([
      { type: "text-delta", messageId: "message-1", index: 0, text: "Hel" },
      { type: "text-delta", messageId: "message-1", index: 0, text: "lo" },
      { type: "message", id: "message-1", role: "assistant", blocks: [{ type: "text", text: "Hello" }] },
    ]);
  });

  it("thinking and text are separate blocks, in order of arrival", () => {
    const chunks = decode([
      { type: "thinking", text: "hm" },
      text("a"),
      { type: "thinking", thinking: "so" },
      text("b"),
      text("c"),
    ]);
    expect(chunks.filter((chunk) => "index" in chunk).map((chunk) => chunk.index)).toEqual([0, 1, 2, 3, 3]);
    expect(chunks.at(-1)).toMatchObject({
      blocks: [
        { type: "thinking", text: "hm" },
        { type: "text", text: "a" },
        { type: "thinking", text: "so" },
        { type: "text", text: "bc" },
      ],
    });
  });

  it("another id begins another message; without an id the open one continues", () => {
    const ids = decode([text("a", { id: "m1" }), text("b"), text("c", { id: "m1" }), text("d", { messageId: "m2" })])
      .filter((chunk) => chunk.type === "message")
      .map((chunk) => [chunk.id, chunk.blocks]);
    expect(ids).toEqual([
      ["m1", [{ type: "text", text: "abc" }]],
      ["m2", [{ type: "text", text: "d" }]],
    ]);
  });

  it("a repeated id is made unique, also among ids that we generate", () => {
    const chunks = decode([
      text("a", { id: "m" }),
      text("b", { id: "message-3" }),
      text("c", { id: "m" }),
      text("u", { role: "user" }),
      text("d"),
      text("e", { id: "message-5" }),
    ]);
    const ids = chunks.filter((chunk) => chunk.type === "message").map((chunk) => chunk.id);
    expect(ids).toEqual(["m", "message-3", "m#2", "message-4", "message-5", "message-5#2"]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("a stream that gives every message the same id is read in linear time", () => {
    const chunks = decode(Array.from({ length: 30_000 }, () => text("x", { id: "m", stopReason: "stop" })));
    expect(chunks.at(-1)).toMatchObject({ id: "m#30000" });
  });

  it("a user's text is a whole message and ends the assistant's", () => {
    expect(
      bare(decode([text("a"), text("hi", { role: "user", id: "u1" }), text("b")])).map((chunk) =>
        JSON.stringify(chunk),
      ),
    ).toEqual([
      '{"type":"text-delta","messageId":"message-1","index":0,"text":"a"}',
      '{"type":"message","id":"message-1","role":"assistant","blocks":[{"type":"text","text":"a"}]}',
      '{"type":"message","id":"u1","role":"user","blocks":[{"type":"text","text":"hi"}]}',
      '{"type":"text-delta","messageId":"message-3","index":0,"text":"b"}',
      '{"type":"message","id":"message-3","role":"assistant","blocks":[{"type":"text","text":"b"}]}',
    ]);
  });

  it("a stop reason closes the message, and is translated into ours", () => {
    const reasons = ["stop", "end_turn", "toolUse", "tool_calls", "MAX_TOKENS", "length", "content-filter", "whatever"];
    const chunks = decode(reasons.map((stopReason) => text("x", { stopReason })));
    expect(chunks.filter((chunk) => chunk.type === "message").map((chunk) => chunk.stopReason)).toEqual([
      ...["end-turn", "end-turn", "tool-use", "tool-use", "max-tokens", "max-tokens", "content-filter", "unknown"],
    ]);
  });

  it("model and tokens belong to the message being written; the last count applies", () => {
    const chunks = decode([
      { type: "metadata", model: "m1", inputTokens: 5 },
      text("a", { outputTokens: 1 }),
      text("b", { outputTokens: 2, stopReason: "stop" }),
      text("c"),
    ]);
    expect(chunks.filter((chunk) => chunk.type === "message").map((chunk) => [chunk.usage, chunk.model])).toEqual([
      [{ inputTokens: 5, outputTokens: 2 }, "m1"],
      [undefined, "m1"],
    ]);
  });

  it("content parts are read as their text", () => {
    expect(
      decode([{ type: "message", content: [{ type: "text", text: "a" }, { type: "image" }, "b"] }])[0],
    ).toMatchObject({ text: "ab" });
  });

  it.each([
    ["no text", { type: "message", code: 1 }, "unknown:message"],
    ["an object as text", { type: "message", text: {} }, "unknown:message"],
    ["a role that is nobody's", { type: "message", text: "x", role: "system" }, "unknown:message/system"],
    ["thinking without text", { type: "thinking" }, "unknown:thinking"],
  ])("%s is kept as an unknown frame", (_, value, kind) => {
    const chunks = decode([value]);
    expect(bare(chunks)).toEqual([{ type: "notice", kind, data: value }]);
    expect(chunks[0]?.raw?.json).toBe(JSON.stringify(value));
  });

  it("empty text gives no delta and no message", () => {
    expect(
      decode([text(""), text("", { id: "m1" }), text("", { stopReason: "stop" }), text("", { role: "user" })]),
    ).toEqual([]);
  });
});

describe("tools", () => {
  it("a call is a block and a tool-call; its result closes the message", () => {
    expect(bare(decode([text("a"), call(), answer({ ms: 12 }), text("b")]))).toEqual([
      { type: "text-delta", messageId: "message-1", index: 0, text: "a" },
      {
        type: "message",
        id: "message-1",
        role: "assistant",
        blocks: [
          { type: "text", text: "a" },
          { type: "tool-call", callId: "c1", name: "Bash", input: { command: "ls" } },
        ],
      },
      { type: "tool-call", callId: "c1", name: "Bash", input: { command: "ls" }, executedBy: "backend" },
      { type: "tool-result", callId: "c1", name: "Bash", output: "ok", isError: false, ms: 12 },
      { type: "text-delta", messageId: "message-2", index: 0, text: "b" },
      { type: "message", id: "message-2", role: "assistant", blocks: [{ type: "text", text: "b" }] },
    ]);
  });

  it("F-C4: several calls of one reply are blocks of one message, which is emitted before each call, as far as it is written", () => {
    const chunks = decode([call(), call({ id: "c2", name: "Read" }), answer({ id: "c2" }), answer()]);
    expect(chunks.map((chunk) => chunk.type)).toEqual([
      "message",
      "tool-call",
      "message",
      "tool-call",
      "tool-result",
      "tool-result",
    ]);
    expect(chunks[2]).toMatchObject({ id: "message-1", blocks: [{ callId: "c1" }, { callId: "c2" }] });
    expect(chunks[4]).toMatchObject({ callId: "c2", name: "Read" });
  });

  it("a call of another message closes the open one", () => {
    const chunks = decode([text("a", { id: "m1" }), call({ messageId: "m2" })]);
    expect(chunks.map((chunk) => (chunk.type === "message" ? chunk.id : chunk.type))).toEqual([
      "text-delta",
      "m1",
      "m2",
      "tool-call",
    ]);
  });

  it("our own tools have the caller's name", () => {
    const ownTool = (name: string) => (name === "mcp__x__add" ? "add" : undefined);
    const chunks = decode([call({ name: "mcp__x__add" }), answer()], OPEN, { ownTool });
    expect(chunks[0]).toMatchObject({ blocks: [{ name: "add" }] });
    expect(chunks[1]).toMatchObject({ name: "add", executedBy: "millrace" });
    expect(chunks[2]).toMatchObject({ name: "add" });
  });

  it.each([
    ["isError", { isError: true }, true],
    ["is_error", { is_error: true }, true],
    ["S4-26: success is turned around", { success: false }, true],
    ["success", { success: true }, false],
    ["a status that failed", { status: "Error" }, true],
    ["a status that did not", { status: "completed" }, false],
    ["nothing said", {}, false],
    ["a text is no boolean", { isError: "true" }, false],
  ])("a failure is indicated by %s", (_, more, isError) => {
    expect(decode([call(), answer(more)]).at(-1)).toMatchObject({ type: "tool-result", isError });
  });

  it.each([
    ["output", { output: { a: 1 } }, { a: 1 }],
    ["result", { output: undefined, result: "r" }, "r"],
    ["content", { output: undefined, content: ["c"] }, ["c"]],
    ["nothing", { output: undefined }, null],
  ])("the output is read from %s", (_, more, output) => {
    expect(decode([call(), answer(more)]).at(-1)).toMatchObject({ output });
  });

  it.each([
    ["an object", { a: 1 }, { a: 1 }],
    ["JSON text", '{"a":[1]}', { a: [1] }],
    ["an empty text", " ", {}],
    ["nothing", undefined, {}],
    ["null", null, {}],
    ["a list", [1], [1]],
  ])("input given as %s", (_, input, expected) => {
    expect(decode([call({ input })])[1]).toMatchObject({ type: "tool-call", input: expected });
  });

  it("incomplete JSON arguments make no tool-call, but a warning and a block with the text", () => {
    const chunks = decode([text("a"), call({ input: '{"command":"rm -rf' }), answer()]);
    expect(chunks.some((chunk) => chunk.type === "tool-call")).toBe(false);
    const raw = { type: "tool-use", id: "c1", name: "Bash", input: '{"command":"rm -rf' };
    expect(bare(chunks).slice(1)).toEqual([
      { type: "warning", code: "tool-call-incomplete", message: expect.stringContaining('"Bash"'), context: raw },
      {
        type: "message",
        id: "message-1",
        role: "assistant",
        blocks: [
          { type: "text", text: "a" },
          { type: "unknown", raw },
        ],
      },
      { type: "notice", kind: "orphan-tool-result", data: { id: "c1", output: "ok" } },
    ]);
  });

  it("a result without a pending call, or a second result, is a notice with its frame", () => {
    const chunks = decode([answer({ id: "zz" }), call(), answer(), answer()]);
    expect(
      chunks.filter((chunk) => chunk.type === "notice").map((chunk) => [chunk.kind, chunk.raw !== undefined]),
    ).toEqual([
      ["orphan-tool-result", true],
      ["orphan-tool-result", true],
    ]);
    expect(chunks.filter((chunk) => chunk.type === "tool-result").length).toBe(1);
  });

  it("a second call with the same id is a notice, not a call", () => {
    const chunks = decode([call(), call({ name: "Other" }), answer(), call()]);
    expect(chunks.map((chunk) => (chunk.type === "notice" ? chunk.kind : chunk.type))).toEqual([
      ...["message", "tool-call", "duplicate-tool-call", "tool-result", "duplicate-tool-call"],
    ]);
  });

  it("without ids a result answers the oldest pending call with its name", () => {
    const bareCall = (name: string) => ({ type: "tool-use", name });
    const chunks = decode([
      bareCall("A"),
      bareCall("B"),
      { type: "tool-result", name: "B", output: 2 },
      { type: "tool-result", output: 1 },
    ]);
    expect(chunks.filter((chunk) => chunk.type === "tool-result").map((chunk) => [chunk.callId, chunk.output])).toEqual(
      [
        ["call-2", 2],
        ["call-1", 1],
      ],
    );
  });

  it("a generated id never equals one of the stream", () => {
    const chunks = decode([call({ id: "call-1" }), { type: "tool-use", name: "B" }]);
    expect(chunks.filter((chunk) => chunk.type === "tool-call").map((chunk) => chunk.callId)).toEqual([
      "call-1",
      "call-2",
    ]);
  });

  it("ids may be numbers", () => {
    expect(decode([call({ id: 7 }), answer({ id: "7" })]).at(-1)).toMatchObject({ type: "tool-result", callId: "7" });
  });

  it("an id of a megabyte is shortened, and its result still matches it", () => {
    const id = "x".repeat(1_000_000);
    expect(decode([call({ id }), answer({ id })]).at(-1)).toMatchObject({
      type: "tool-result",
      callId: "x".repeat(256),
    });
  });

  it("a call without a name is kept as an unknown frame", () => {
    expect(decode([call({ name: "" })])[0]).toMatchObject({ type: "notice", kind: "unknown:tool-use" });
  });
});

describe("errors", () => {
  it("an error is attributed to the provider and does not end the stream", () => {
    const chunks = decode([text("a"), { type: "error", message: "slow down", code: 429, status: 429 }, text("b")]);
    expect(bare(chunks)[1]).toEqual({
      type: "error",
      code: "provider-error",
      message: "slow down",
      terminal: false,
      diagnostic: { vendorCode: "429", status: 429 },
    });
    expect(chunks.at(-1)).toMatchObject({ blocks: [{ text: "ab" }] });
  });

  it("an error that the config or the frame marks as terminal ends the stream", () => {
    for (const fatal of [{ type: "fatal" }, { type: "error", terminal: true }]) {
      const chunks = decode([text("a"), { ...fatal, message: "gone" }, text("b"), { type: "end" }], ENDED);
      expect(chunks.map((chunk) => chunk.type)).toEqual(["text-delta", "message", "error"]);
      expect(chunks.at(-1)).toMatchObject({ terminal: true, message: "gone" });
    }
  });

  it("an error without a message is reported as such", () => {
    expect(decode([{ type: "error" }])[0]).toMatchObject({ message: expect.stringContaining("without saying which") });
    expect(decode([{ type: "error", message: { message: "inner" } }])[0]).toMatchObject({ message: "inner" });
  });
});

describe("metadata", () => {
  it("the first session or model creates the start item", () => {
    const first = { type: "metadata", sessionId: "s", model: "m", tools: ["Bash", 7, "Read"] };
    expect(bare(decode([first, { type: "metadata", sessionId: "s2" }]))).toEqual([
      { type: "start", backend: "open", mode: "plain", sessionId: "s", model: "m", tools: ["Bash", "Read"] },
      { type: "notice", kind: "metadata", data: { sessionId: "s2" } },
    ]);
    expect(decode([first], OPEN, { mode: "http" })[0]).toMatchObject({ mode: "http" });
  });

  it("fields that the start item does not have are reported separately", () => {
    expect(decode([{ type: "metadata", model: "m", costUsd: 1 }]).map((chunk) => chunk.type)).toEqual([
      "start",
      "notice",
    ]);
  });

  it("hidden metadata causes no notice, but its counts are used", () => {
    const chunks = decode([{ type: "metadata", id: "quiet", inputTokens: 3 }, text("a"), { type: "end" }], ENDED);
    expect(chunks.map((chunk) => chunk.type)).toEqual(["text-delta", "message", "result"]);
    expect(chunks[1]).toMatchObject({ usage: { inputTokens: 3 } });
  });
});

describe("the end", () => {
  it("a stream without its declared end is cut", () => {
    expect(bare(decode([text("a")], ENDED)).slice(1)).toEqual([
      { type: "message", id: "message-1", role: "assistant", blocks: [{ type: "text", text: "a" }] },
      expect.objectContaining({ type: "error", code: "stream-cut", terminal: true }),
    ]);
    expect(decode([], ENDED)).toMatchObject([{ code: "stream-cut" }]);
  });

  it("without a declared end, none is assumed", () => {
    expect(decode([])).toEqual([]);
    expect(decode([text("a")]).map((chunk) => chunk.type)).toEqual(["text-delta", "message"]);
  });

  it.each([
    ["nothing said", {}, { subtype: "success", isError: false }],
    ["a status", { status: "error" }, { subtype: "error", isError: true }],
    ["a subtype", { subtype: "error_max_turns" }, { subtype: "error_max_turns", isError: true }],
    ["a subtype that is overruled", { subtype: "partial", isError: true }, { subtype: "partial", isError: true }],
    ["success turned around", { success: false }, { subtype: "error", isError: true }],
    ["text", { text: "all" }, { text: "all" }],
    ["why it failed", { isError: true, message: "no" }, { text: "no" }],
    ["figures", { costUsd: 0.5, turns: 2, ms: 9, sessionId: "s" }, { costUsd: 0.5, turns: 2, ms: 9, sessionId: "s" }],
    ["a structured value", { structured: { a: 1 } }, { structured: { a: 1 } }],
  ])("the result is read from its fields: %s", (_, fields, expected) => {
    expect(decode([{ type: "end", ...fields }], ENDED)).toMatchObject([{ type: "result", usage: {}, ...expected }]);
  });

  it("its tokens are its own, or the sum of the messages since the last result", () => {
    const message = { type: "message", text: "a", inputTokens: 2, stopReason: "stop" };
    const usages = decode(
      [message, message, { type: "end" }, message, { type: "end", inputTokens: 9 }, { type: "end" }],
      ENDED,
    )
      .filter((chunk) => chunk.type === "result")
      .map((chunk) => chunk.usage);
    expect(usages).toEqual([{ inputTokens: 4 }, { inputTokens: 9 }, {}]);
  });

  it("a frame that is both an event and the end is emitted as both, the event first", () => {
    const both = createDeclarativeFormat({
      name: "both",
      framing: "ndjson",
      events: [{ kind: "message", match: { type: "end" }, extract: { text: "text" } }],
      end: { match: { type: "end" }, extract: {} },
    });
    expect(decode([{ type: "end", text: "bye" }], both).map((chunk) => chunk.type)).toEqual([
      "text-delta",
      "message",
      "result",
    ]);
  });
});

describe("frames that match no schema", () => {
  it.each([[7], [null], ["text"], [[1, 2]], [{}], [{ type: 5 }]])("%j is an unknown frame", (value) => {
    const chunks = decode([value]);
    expect(bare(chunks)).toEqual([{ type: "notice", kind: "unknown:frame", data: value }]);
    expect(chunks[0]?.raw?.json).toBe(JSON.stringify(value));
  });

  it("a list is not read as its only value, unless the path collects", () => {
    expect(decode([{ type: ["message"], text: "x" }])[0]).toMatchObject({ kind: "unknown:frame" });
  });

  it("the kind is the type of the frame, shortened to the length of a word", () => {
    expect(decode([{ type: "x".repeat(500) }])[0]).toMatchObject({ kind: `unknown:${"x".repeat(80)}` });
  });

  it("a default schema accepts them, unless it finds nothing in them", () => {
    const format = createDeclarativeFormat({
      name: "d",
      framing: "ndjson",
      events: [],
      defaultSchema: { kind: "message", extract: { text: ["text", "say"] } },
    });
    expect(decode([{ say: "hi" }, { other: 1 }], format).map((chunk) => chunk.type)).toEqual([
      "text-delta",
      "notice",
      "message",
    ]);
  });

  it("an unreadable frame is left to the decoder", () => {
    const adapter = OPEN.createAdapter();
    expect(
      adapter.feed([{ kind: "fault", code: "json-decode", message: "", text: "x", bytes: new Uint8Array() }]),
    ).toEqual([]);
  });
});

describe("adapters", () => {
  it("reset clears everything: ids, calls, start, end", () => {
    const adapter = ENDED.createAdapter();
    const stream = [{ type: "metadata", model: "m" }, text("a"), call(), { type: "end" }].map(frame);
    const first = [...adapter.feed(stream), ...adapter.flush()];
    adapter.reset();
    expect([...adapter.feed(stream), ...adapter.flush()]).toEqual(first);
    adapter.reset();
    expect(adapter.flush()).toMatchObject([{ code: "stream-cut" }]);
  });

  it("S4-11: two adapters of one format share no state", () => {
    const [left, right] = [OPEN.createAdapter(), OPEN.createAdapter()];
    left.feed([frame(text("left", { id: "m" })), frame(call())]);
    expect(bare(right.feed([frame(text("right", { id: "m" })), frame(answer())]))).toEqual([
      { type: "text-delta", messageId: "m", index: 0, text: "right" },
      { type: "message", id: "m", role: "assistant", blocks: [{ type: "text", text: "right" }] },
      { type: "notice", kind: "orphan-tool-result", data: { id: "c1", output: "ok" } },
    ]);
  });

  it("the same frames give the same chunks however they are grouped", () => {
    const frames = [text("a"), call(), answer(), text("b")].map(frame);
    const oneByOne = OPEN.createAdapter();
    const atOnce = OPEN.createAdapter();
    expect([...frames.flatMap((each) => oneByOne.feed([each])), ...oneByOne.flush()]).toEqual([
      ...atOnce.feed(frames),
      ...atOnce.flush(),
    ]);
  });

  it("a hundred thousand deltas are joined once", () => {
    const chunks = decode(Array.from({ length: 100_000 }, () => text("x")));
    expect(chunks.at(-1)).toMatchObject({ blocks: [{ text: "x".repeat(100_000) }] });
  });
});

describe("any stream", () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom("user", "assistant", "stop", "error", "m1", "c1", '{"a":1}', "{", ""),
  );
  const event = fc
    .tuple(
      fc.constantFrom(...KINDS, "end", "fatal", "odd"),
      fc.dictionary(fc.constantFrom(...FIELDS), value, { maxKeys: 6 }),
    )
    .map(([type, fields]) => ({ ...fields, type }));

  it("R1 SEC12: never throws and keeps the guarantees of the event model", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 9, arbitrary: event }, { weight: 1, arbitrary: fc.jsonValue() }), {
          maxLength: 30,
        }),
        (stream) => {
          decode(stream, OPEN);
          decode(stream, ENDED);
          expect(Object.keys(Object.prototype)).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("text is emitted exactly once, in order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string(), fc.option(fc.constantFrom("m1", "m2"), { nil: undefined })), { maxLength: 30 }),
        (pieces) => {
          const chunks = decode(pieces.map(([words, id]) => text(words, { id })));
          const whole = pieces.map(([words]) => words).join("");
          const shown = chunks.filter((chunk) => chunk.type === "text-delta").map((chunk) => chunk.text);
          const said = chunks
            .filter((chunk) => chunk.type === "message")
            .flatMap((chunk) => chunk.blocks.map((block) => ("text" in block ? block.text : "")));
          expect(shown.join("")).toBe(whole);
          expect(said.join("")).toBe(whole);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
