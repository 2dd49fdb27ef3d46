import type { Chunk } from "#domain";
import { assertRunLog, closeRunLog } from "#testing";
import type { DataFrame } from "#wire";
import { describe, expect, it } from "vitest";
import { createDecoder } from "../shared/decoder.ts";
import { createDeclarativeFormat, type DeclarativeFormat } from "./create-format.ts";
import { isVisible, type ShowOptions } from "./parsed-event.ts";

const encoder = new TextEncoder();

function frame(value: unknown, more: Partial<DataFrame> = {}): DataFrame {
  return { kind: "data", name: "", id: "", text: JSON.stringify(value), value, ...more };
}

function textOf(chunks: readonly Chunk[]): string {
  return chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.text : "")).join("");
}

function decodeAll(format: DeclarativeFormat, body: string): Chunk[] {
  const decoder = createDecoder(format);
  const chunks = [...decoder.push(encoder.encode(body)), ...decoder.end()];
  assertRunLog(closeRunLog(chunks));
  return chunks;
}

const SSE = createDeclarativeFormat({
  name: "sse-agent",
  framing: "sse",
  events: [
    { kind: "message", match: { "@frame.event": "delta" }, extract: { text: ["delta.text", "text"] } },
    { kind: "message", match: { "@frame.event": "plain" }, extract: { text: "@frame.text", id: "@frame.id" } },
    { kind: "metadata", match: { "@frame.event": "", kind: "session" }, extract: { sessionId: "id" } },
  ],
  end: { match: { "@frame.text": "[DONE]" }, extract: {} },
});

describe("sse, AT-56", () => {
  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("multi-line data, comments, event names and ids with %s", (_, newline) => {
    const body = [
      ": a comment",
      'data: {"kind":"session",',
      'data:  "id":"s1"}',
      "",
      "event: delta",
      'data: {"delta":{"text":"Hel"}}',
      "",
      ": ping",
      "",
      "event: plain",
      "id: 7",
      "data: lo",
      "data: world",
      "",
      "event: odd",
      "data: ???",
      "",
      "data: [DONE]",
      "",
      "",
    ].join(newline);
    const chunks = decodeAll(SSE, body);
    expect(chunks.map((chunk) => (chunk.type === "notice" ? chunk.kind : chunk.type))).toEqual([
      ...["start", "text-delta", "message", "text-delta", "unknown:odd", "message", "result"],
    ]);
    expect(chunks[0]).toMatchObject({ backend: "sse-agent", sessionId: "s1" });
    expect(textOf(chunks)).toBe("Hello\nworld");
    expect(chunks[5]).toMatchObject({ type: "message", id: "7" });
    expect(chunks[4]).toMatchObject({ data: "???" });
  });

  it("flush delivers the unterminated tail", () => {
    const decoder = createDecoder(SSE);
    expect(decoder.push(encoder.encode('event: delta\ndata: {"text":"tail"}'))).toEqual([]);
    expect(textOf(decoder.end())).toBe("tail");
  });

  it("reset discards the tail", () => {
    const decoder = createDecoder(SSE);
    decoder.push(encoder.encode('event: delta\ndata: {"text":"tail"}'));
    decoder.reset();
    const chunks = [...decoder.push(encoder.encode("data: [DONE]\n\n")), ...decoder.end()];
    expect(chunks.map((chunk) => chunk.type)).toEqual(["result"]);
  });
});

describe("text, AT-56", () => {
  const format = createDeclarativeFormat({ name: "plain-text", framing: "text", events: [] });

  it("every piece is text of the message, and no character is split", () => {
    const bytes = encoder.encode("Grüße, 世界 🙂\n");
    const decoder = createDecoder(format);
    const chunks = [...bytes].flatMap((byte) => decoder.push(Uint8Array.of(byte)));
    chunks.push(...decoder.end());
    expect(textOf(chunks)).toBe("Grüße, 世界 🙂\n");
    expect(chunks.at(-1)).toMatchObject({ type: "message", blocks: [{ type: "text", text: "Grüße, 世界 🙂\n" }] });
    assertRunLog(closeRunLog(chunks));
  });

  it("text that looks like JSON is still text", () => {
    expect(textOf(decodeAll(format, '{"text":"x"}'))).toBe('{"text":"x"}');
    expect(textOf(decodeAll(format, "42"))).toBe("42");
  });

  it("reset discards half a character", () => {
    const decoder = createDecoder(format);
    decoder.push(encoder.encode("é").subarray(0, 1));
    decoder.reset();
    expect(textOf([...decoder.push(encoder.encode("a")), ...decoder.end()])).toBe("a");
  });

  it("a default schema decides what the text is", () => {
    const thinking = createDeclarativeFormat({
      name: "muttering",
      framing: "text",
      events: [],
      defaultSchema: { kind: "thinking", extract: { text: "@frame.text" } },
    });
    expect(decodeAll(thinking, "hm")[0]).toMatchObject({ type: "thinking-delta", text: "hm" });
  });
});

describe("ndjson, AT-56", () => {
  const format = createDeclarativeFormat({
    name: "lines",
    framing: "ndjson",
    events: [{ kind: "message", match: { type: "text" }, extract: { text: "text" } }],
  });

  it("flush delivers the unterminated tail; reset discards it", () => {
    const decoder = createDecoder(format);
    expect(decoder.push(encoder.encode('{"type":"text","text":"a"}'))).toEqual([]);
    expect(textOf(decoder.end())).toBe("a");
    decoder.reset();
    decoder.push(encoder.encode('{"type":"text","text":"b"}'));
    decoder.reset();
    expect(decoder.end()).toEqual([]);
  });
});

describe("S4-7: parse, S4-8", () => {
  const format = createDeclarativeFormat({
    name: "p",
    framing: "ndjson",
    events: [
      {
        kind: "tool-use",
        match: { "content[].type": "call", v: [1, 2] },
        extract: { name: ["missing", "content[0].name"], nothing: "missing", empty: ["nil", "content"] },
        templates: { text: "%red%[@evt.name]", json: "@evt.name" },
      },
      { kind: "message", match: { type: "first" }, extract: { text: "a" } },
      { kind: "error", match: { type: "first" }, extract: { text: "b" } },
      { kind: "metadata", match: { $schema: null }, extract: { timestamp: "at" }, visibility: "hidden" },
    ],
    end: { match: { type: "end" }, extract: { status: "s" } },
  });

  it("S4-9 S4-16: kind, fields (of a list of paths the first that finds something), templates, raw", () => {
    const value = { v: 2, nil: null, content: [{ type: "x", name: "Bash" }, { type: "call" }] };
    const [event] = format.parse(frame(value));
    expect(event).toMatchObject({ kind: "tool-use", visibility: "optional", raw: value });
    expect(event?.fields).toEqual({ name: "Bash", empty: null });
    expect(event?.templates).toEqual({ text: "[Bash]", ansi: "[Bash]", json: '"Bash"' });
  });

  it("S4-12: all conditions have to match; a list of values matches any of them", () => {
    expect(format.parse(frame({ v: 3, content: [{ type: "call" }] }))[0]?.kind).toBe("unknown");
    expect(format.parse(frame({ v: 1, content: [{ type: "other" }] }))[0]?.kind).toBe("unknown");
    expect(format.parse(frame({ v: "1", content: [{ type: "call" }] }))[0]?.kind).toBe("unknown");
    expect(format.parse(frame({ v: 1, content: { type: "call" } }))[0]?.kind).toBe("unknown");
  });

  it("the first schema that matches decides", () => {
    expect(format.parse(frame({ type: "first", a: "x", b: "y" }))[0]).toMatchObject({
      kind: "message",
      fields: { text: "x" },
    });
  });

  it("null matches null, but not a missing value", () => {
    expect(format.parse(frame({ $schema: null }))[0]?.kind).toBe("metadata");
    expect(format.parse(frame({}))[0]?.kind).toBe("unknown");
  });

  it("a time is read from its field, as a number or a date", () => {
    expect(format.parse(frame({ $schema: null, at: 5 }))[0]?.timestamp).toBe(5);
    expect(format.parse(frame({ $schema: null, at: "1970-01-01T00:00:01Z" }))[0]?.timestamp).toBe(1000);
    expect(format.parse(frame({ $schema: null, at: "soon" }))[0]).not.toHaveProperty("timestamp");
  });

  it("an end signal without a schema is metadata; an unreadable frame is ignored", () => {
    expect(format.parse(frame({ type: "end", s: "ok" }))[0]).toMatchObject({
      kind: "metadata",
      fields: { status: "ok" },
    });
    expect(
      format.parse({ kind: "fault", code: "json-decode", message: "", text: "", bytes: new Uint8Array() }),
    ).toEqual([]);
  });

  it("templates are rendered only when they are read", () => {
    let reads = 0;
    const value = Object.defineProperty({ type: "first" }, "a", {
      enumerable: true,
      get: () => `read ${(reads += 1)}`,
    });
    const counting = createDeclarativeFormat({
      name: "c",
      framing: "ndjson",
      events: [
        { kind: "message", match: { type: "first" }, extract: { whole: "$" }, templates: { text: "@evt.whole.a" } },
      ],
    });
    const [event] = counting.parse({ ...frame(null), value });
    expect(reads).toBe(0);
    expect(event?.templates.text).toBe("read 1");
    expect(reads).toBe(1);
  });
});

describe("visibility, S4-32", () => {
  const shown = (kind: Parameters<typeof isVisible>[0]["kind"], show?: ShowOptions) =>
    isVisible({ kind, visibility: "optional" }, show);

  it("messages and errors are always visible; the rest by its switch or by showAll", () => {
    expect([shown("message"), shown("error")]).toEqual([true, true]);
    expect(
      ["thinking", "tool-use", "tool-result", "metadata", "unknown"].map((kind) => shown(kind as "unknown")),
    ).toEqual(Array(5).fill(false));
    expect(shown("thinking", { showThinking: true })).toBe(true);
    expect([shown("tool-use", { showTools: true }), shown("tool-result", { showTools: true })]).toEqual([true, true]);
    expect([shown("metadata", { showMetadata: true }), shown("unknown", { showMetadata: true })]).toEqual([true, true]);
    expect(shown("thinking", { showTools: true, showMetadata: true })).toBe(false);
    expect(shown("thinking", { showAll: true })).toBe(true);
  });

  it('"always" is always visible, "hidden" never', () => {
    expect(isVisible({ kind: "thinking", visibility: "always" })).toBe(true);
    expect(isVisible({ kind: "message", visibility: "hidden" }, { showAll: true })).toBe(false);
  });
});

describe("a format", () => {
  it("has a name, a framing and a description, and rejects a bad config", () => {
    expect(SSE).toMatchObject({ name: "sse-agent", framing: "sse", description: "The declarative format sse-agent." });
    expect(() => createDeclarativeFormat({ name: "x", framing: "csv" as "sse", events: [] })).toThrow(
      /^framing: "csv"/,
    );
  });
});
