import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import type { Frame, WireLimits } from "./frame.ts";
import { createSseFramer } from "./sse-decoder.ts";

const RUNS = fuzzRuns(5000);
const encoder = new TextEncoder();

function bytesOf(...parts: (string | number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...encoder.encode(part)] : part)));
}

function frameAll(pieces: readonly Uint8Array[], limits?: Partial<WireLimits>): Frame[] {
  const framer = createSseFramer(limits);
  const frames: Frame[] = [];
  for (const piece of pieces) {
    const own = piece.slice();
    frames.push(...framer.push(own));
    own.fill(0x21); // the caller reuses its buffer
  }
  frames.push(...framer.end());
  return frames;
}

const read = (...parts: (string | number[])[]): Frame[] => frameAll([bytesOf(...parts)]);

function summaries(frames: readonly Frame[]): string[] {
  return frames.map((frame) =>
    frame.kind === "fault" ? `${frame.code}: ${frame.text}` : `${frame.name}|${frame.id}|${frame.text}`,
  );
}

describe("reading events, AT-56", () => {
  it.each([
    ["one event", "data: 1\n\n", ["||1"]],
    ["no space behind the colon", "data:1\n\n", ["||1"]],
    ["one space is taken, the second is data", "data:  1\n\n", ["|| 1"]],
    ["several lines of data", "data: a\ndata: b\ndata\ndata: c\n\n", ["||a\nb\n\nc"]],
    [
      "name and id, in any order",
      "id: 7\nevent: ping\ndata: {}\n\nevent: x\ndata: 1\nid: 8\n\n",
      ["ping|7|{}", "x|8|1"],
    ],
    ["name and id hold for one event only", "event: a\nid: 1\ndata: 1\n\ndata: 2\n\n", ["a|1|1", "||2"]],
    ["comments, retry and unknown fields", ": hi\nretry: 10\nfoo: bar\n:\ndata: 1\n\n: bye\n\n", ["||1"]],
    ["CRLF", "event: a\r\ndata: 1\r\ndata: 2\r\n\r\n", ["a||1\n2"]],
    ["CR", "event: a\rdata: 1\r\rdata: 2\r\r", ["a||1", "||2"]],
    ["mixed line ends", "data: 1\r\n\ndata: 2\n\r\ndata: 3\r\r\n", ["||1", "||2", "||3"]],
    ["a byte order mark", "\uFEFFdata: 1\n\n", ["||1"]],
    ["an event without data gives nothing", "event: ping\n\ndata: 1\n\n", ["||1"]],
    ["empty data is an event", "data:\n\n", ["||"]],
    ["an id with NUL is ignored", "id: a\0b\ndata: 1\n\n", ["||1"]],
    ["a field name must be exact", "datax: 1\nDATA: 2\n data: 3\ndata: 4\n\n", ["||4"]],
    ["U+2028 and U+0085 end no line", 'data: "\u2028\u0085"\n\n', ['||"\u2028\u0085"']],
    ["blank lines alone", "\n\r\n\r\r", []],
    ["nothing", "", []],
  ])("%s", (_, input, expected) => {
    expect(summaries(read(input))).toEqual(expected);
    expect(summaries(frameAll([...encoder.encode(input)].map((byte) => Uint8Array.of(byte))))).toEqual(expected);
  });

  it("value is the JSON of the data, or undefined", () => {
    expect(read('data: {"a":\ndata: 1}\n\ndata: [DONE]\n\n')).toEqual([
      { kind: "data", name: "", id: "", text: '{"a":\n1}', value: { a: 1 } },
      { kind: "data", name: "", id: "", text: "[DONE]", value: undefined },
    ]);
  });

  it("a caller may reuse its buffer for the next push", () => {
    const framer = createSseFramer();
    const buffer = encoder.encode("event: aa\ndata: 1\n\n");
    expect(framer.push(buffer)).toMatchObject([{ name: "aa", text: "1" }]);
    buffer.set(encoder.encode("event: bb\ndata: 2\n\n"));
    expect(framer.push(buffer)).toMatchObject([{ name: "bb", text: "2" }]);
  });

  it("an event is delivered as soon as its blank line arrives, even if that is a lone CR", () => {
    const framer = createSseFramer();
    expect(framer.push(encoder.encode("data: 1\r\n\r"))).toHaveLength(1);
    expect(framer.push(encoder.encode("\ndata: 2\n\n"))).toMatchObject([{ text: "2" }]);
  });

  it("SEC12: keys named __proto__ pollute nothing", () => {
    expect(read('data: {"__proto__":{"polluted":1}}\n\n')).toHaveLength(1);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("an event that is not closed by a blank line", () => {
  it.each([
    ["JSON without a line end", 'data: {"a":1}', ['||{"a":1}']],
    ["JSON with a line end", 'event: x\ndata: {"a":1}\n', ['x||{"a":1}']],
    ["JSON over two lines", 'data: {"a":\ndata: 1}', ['||{"a":\n1}']],
    ["half of its JSON", 'data: 1\n\ndata: {"a', ["||1", 'incomplete-last-line: {"a']],
    ["text that is not JSON", "data: [DONE]\n", ["incomplete-last-line: [DONE]"]],
    ["half a field behind whole JSON", "data: {}\neve", ["||{}", "incomplete-last-line: eve"]],
    ["half a name does not name it", "data: {}\nevent: pi", ["||{}", "incomplete-last-line: event: pi"]],
    ["data behind whole JSON", "data: {}\ndata: {", ["||{}", "incomplete-last-line: data: {"]],
    ["half a field", "data: 1\n\ndat", ["||1", "incomplete-last-line: dat"]],
    ["a field cut before its colon", "data: 1\n\ndata", ["||1", "incomplete-last-line: data"]],
    ["half a field behind half JSON", "data: {\nda", ["incomplete-last-line: {\nda"]],
    ["a comment", "data: 1\n\n: keep-al", ["||1"]],
    ["a name without data", "event: ping\n", []],
  ])("%s", (_, input, expected) => {
    expect(summaries(read(input))).toEqual(expected);
    for (let cut = 0; cut <= input.length; cut += 1) {
      expect(summaries(frameAll([bytesOf(input.slice(0, cut)), bytesOf(input.slice(cut))]))).toEqual(expected);
    }
  });

  it("reset discards it", () => {
    const framer = createSseFramer();
    framer.push(encoder.encode("event: x\nid: 3\ndata: 1\nda"));
    framer.reset();
    expect(framer.push(encoder.encode("data: 2\n\n"))).toMatchObject([{ name: "", id: "", text: "2" }]);
    expect(framer.end()).toEqual([]);
  });
});

describe("bytes that are not UTF-8", () => {
  it("give a fault with the event's data as bytes; adjacent events arrive and nothing is replaced", () => {
    const frames = read("data: 1\n\ndata: é\ndata: ", [0xc3, 0x28], "\ndata: x\n\ndata: \uFFFD\n\n");
    expect(frames).toMatchObject([
      { text: "1" },
      { kind: "fault", code: "utf8-decode", bytes: bytesOf("é\n", [0xc3, 0x28], "\nx") },
      { kind: "data", text: "\uFFFD" },
    ]);
  });

  it("are kept from push to push, even if the caller reuses its buffer", () => {
    const pieces = [bytesOf("data: ", [0xff], "\n"), bytesOf("data: ", [0xfe], "\n"), bytesOf("\n")];
    expect(frameAll(pieces)).toMatchObject([{ code: "utf8-decode", bytes: Uint8Array.of(0xff, 0x0a, 0xfe) }]);
  });

  it("also in a name or an id, but not in a comment", () => {
    expect(
      summaries(read("event: ", [0xff], "\ndata: 1\n\ndata: 2\nid: ", [0xff], "\n\n: ", [0xff], "\ndata: 3\n\n")),
    ).toEqual(["utf8-decode: 1", "utf8-decode: 2", "||3"]);
  });

  it("a character cut by the end of the stream is an incomplete last line", () => {
    expect(read('data: "a', [0xf0, 0x9f])).toMatchObject([{ code: "incomplete-last-line", text: '"a' }]);
  });
});

describe("limits", () => {
  it("apply to a line: exactly the limit passes, one more does not", () => {
    expect(summaries(frameAll([bytesOf("data: 1234\n\n")], { maxLineBytes: 10 }))).toEqual(["||1234"]);
    expect(summaries(frameAll([bytesOf("data: 12345\n\ndata: 1\n\n")], { maxLineBytes: 10 }))).toEqual([
      "buffer-overflow: data: 1234",
    ]);
  });

  it("apply to the data lines of an event together", () => {
    const input = bytesOf("data: 1\ndata: 2\n\ndata: 1\ndata: 22\ndata: 3\n\ndata: 4\n\n");
    expect(summaries(frameAll([input], { maxLineBytes: 15, overflow: "skip" }))).toEqual([
      "||1\n2",
      "line-too-long: 1",
      "||4",
    ]);
    expect(summaries(frameAll([input], { maxLineBytes: 15 }))).toEqual(["||1\n2", "buffer-overflow: 1"]);
  });

  it("with skip, a long line drops its event, and the next event is read", () => {
    const input = bytesOf("event: a\ndata: 123456789\nid: 1\n\ndata: 2\n\n");
    expect(summaries(frameAll([input], { maxLineBytes: 9, overflow: "skip" }))).toEqual([
      "line-too-long: data: 123",
      "||2",
    ]);
  });

  it("an event that exceeds the limit in one line and in total is one fault", () => {
    const input = bytesOf("data\r\ndata\nfoo: bar\n\ndata\n\n");
    expect(summaries(frameAll([input], { maxLineBytes: 4 }))).toEqual(["buffer-overflow: "]);
    expect(summaries(frameAll([input], { maxLineBytes: 4, overflow: "skip" }))).toEqual(["line-too-long: ", "||"]);
  });

  it("after a buffer-overflow nothing is emitted until reset", () => {
    const framer = createSseFramer({ maxLineBytes: 8 });
    expect(framer.push(encoder.encode("data: 123\n\n"))).toHaveLength(1);
    expect([...framer.push(encoder.encode("data: 1\n\n")), ...framer.end()]).toEqual([]);
    framer.reset();
    expect(framer.push(encoder.encode("data: 1\n\n"))).toHaveLength(1);
  });
});

describe("laws", () => {
  const piece = fc.constantFrom(
    ...[
      "data",
      ":",
      " ",
      "\n",
      "\r",
      "\r\n",
      "\n\n",
      "data: ",
      "data: {}",
      "event: x",
      "id: 1",
      ": c",
      "retry: 1",
      "é",
      "🙂",
      "1",
      "\0",
      "[DONE]",
      "foo: bar",
    ],
  );
  const streams = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join(""));

  it("R1: any bytes, split anywhere, never throw and give the same frames as the whole", () => {
    const noise = fc.oneof(
      streams.map((text) => encoder.encode(text)),
      fc.uint8Array({ maxLength: 60 }),
    );
    const limits = fc.record({
      maxLineBytes: fc.integer({ min: 1, max: 40 }),
      overflow: fc.constantFrom("end", "skip"),
    });
    fc.assert(
      fc.property(noise, fc.array(fc.nat(60), { maxLength: 5 }), limits, (bytes, cuts, chosen) => {
        const at = [0, ...cuts.filter((cut) => cut <= bytes.length).toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(frameAll(pieces, chosen)).toEqual(frameAll([bytes], chosen));
      }),
      { numRuns: RUNS },
    );
  });

  it("an independent reader of event streams finds the same events", () => {
    fc.assert(
      fc.property(streams, (text) => {
        const expected: string[] = [];
        const parser = createParser({
          onEvent: ({ event, id, data }) => expected.push(`${event ?? ""}|${id ?? ""}|${data}`),
        });
        parser.feed(`${text}\n\n`);
        expect(summaries(read(`${text}\n\n`))).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });
});
