import { describe, expect, it } from "vitest";
import { joinBytes } from "./bytes.ts";
import { type Frame, rawOf, type WireLimits } from "./frame.ts";
import { DEFAULT_WIRE_LIMITS } from "./limits.ts";
import { LineSplitter } from "./line-splitter.ts";
import { createNdjsonFramer } from "./ndjson.ts";

const encoder = new TextEncoder();

function split(pieces: readonly string[], limits: WireLimits, ends: "lf" | "any" = "lf"): string[] {
  const seen: string[] = [];
  const decoder = new TextDecoder();
  const splitter = new LineSplitter(limits, ends, {
    readLines: (text) => seen.push(...text.split(/\r?\n/).slice(0, -1)),
    readBadLine: (bytes) => seen.push(`bad ${bytes.length}`),
    readOverflow: (head) => seen.push(`overflow ${decoder.decode(head)}`),
  });
  for (const piece of pieces) splitter.push(encoder.encode(piece));
  const tail = splitter.end();
  if (tail.length > 0) seen.push(`tail ${decoder.decode(tail)}`);
  return seen;
}

/** The same text as every pair of pieces, and byte by byte: the result must be the same. */
function splitEveryWay(text: string, limits: WireLimits, ends: "lf" | "any" = "lf"): string[] {
  const whole = split([text], limits, ends);
  for (let cut = 0; cut <= text.length; cut += 1) {
    expect(split([text.slice(0, cut), text.slice(cut)], limits, ends)).toEqual(whole);
  }
  expect(split([...text], limits, ends)).toEqual(whole);
  return whole;
}

const end = (maxLineBytes: number): WireLimits => ({ maxLineBytes, overflow: "end" });
const skip = (maxLineBytes: number): WireLimits => ({ maxLineBytes, overflow: "skip" });

describe("the limit of a line, S1-49 C14", () => {
  it("a line of exactly the limit passes, also with CRLF", () => {
    expect(splitEveryWay("1234\n1234\r\n1234", end(4))).toEqual(["1234", "1234", "tail 1234"]);
  });

  it("one byte more ends the stream", () => {
    expect(splitEveryWay("1234\n12345\n1\n", end(4))).toEqual(["1234", "overflow 1234"]);
    expect(splitEveryWay("1234\r\r\n1\n", end(4))).toEqual(["overflow 1234"]);
  });

  it("or is skipped up to the next line end, once per line", () => {
    expect(splitEveryWay("12345\n1\n1234567890\r\n2\n", skip(4))).toEqual(["overflow 1234", "1", "overflow 1234", "2"]);
    expect(splitEveryWay("1\n123456", skip(4))).toEqual(["1", "overflow 1234"]);
  });

  it("the last line is measured, too, including its CR", () => {
    expect(splitEveryWay("12345", end(4))).toEqual(["overflow 1234"]);
    expect(splitEveryWay("1234\r", end(4))).toEqual(["overflow 1234"]);
    expect(splitEveryWay("123\r", end(4))).toEqual(["tail 123\r"]);
  });

  it("each line is measured separately", () => {
    expect(splitEveryWay("123\n".repeat(50), end(3))).toHaveLength(50);
  });

  it("an incomplete byte order mark counts", () => {
    const splitter: string[] = [];
    const cut = new LineSplitter(end(1), "lf", {
      readLines: () => splitter.push("lines"),
      readBadLine: () => splitter.push("bad line"),
      readOverflow: () => splitter.push("overflow"),
    });
    for (const byte of [0xef, 0xbb, 0x31, 0x0a]) cut.push(Uint8Array.of(byte));
    expect(splitter).toEqual(["overflow"]);
  });
});

describe("any line end", () => {
  it("CR, LF and CRLF all end a line, including blank ones, wherever they are split", () => {
    expect(splitEveryWay("a\rb\nc\r\n\r\n\r\r\n\nd", end(9), "any")).toEqual(["a", "b", "c", "", "", "", "", "tail d"]);
  });

  it("the limit is exact", () => {
    expect(splitEveryWay("1234\r\n12345\r\n1\r", skip(4), "any")).toEqual(["1234", "overflow 1234", "1"]);
  });
});

describe("large lines", () => {
  const text = (size: number) => encoder.encode(`"${"h".repeat(size - 2)}"\n`);

  function pushInPieces(bytes: Uint8Array, size: number, limits?: Partial<WireLimits>): Frame[] {
    const framer = createNdjsonFramer(limits);
    const frames: Frame[] = [];
    for (let at = 0; at < bytes.length; at += size) frames.push(...framer.push(bytes.subarray(at, at + size)));
    frames.push(...framer.end());
    return frames;
  }

  const lengthOf = (frame: Frame): number => rawOf(frame).bytes.length;

  it("AT-26: 10 485 760 bytes pass, one more is a buffer-overflow and nothing follows it", () => {
    const limit = DEFAULT_WIRE_LIMITS.maxLineBytes;
    expect(limit).toBe(10_485_760);
    expect(pushInPieces(text(limit), 65_536).map(lengthOf)).toEqual([limit]);
    const over = pushInPieces(joinBytes([text(limit + 1), text(3)]), 65_536);
    expect(over).toMatchObject([{ kind: "fault", code: "buffer-overflow" }]);
    expect(over.map(lengthOf)).toEqual([2048]);
  });

  it("after a buffer-overflow every push is empty until reset", () => {
    const framer = createNdjsonFramer({ maxLineBytes: 3 });
    expect(framer.push(encoder.encode("1234\n5\n"))).toHaveLength(1);
    expect(framer.push(encoder.encode("6\n"))).toEqual([]);
    expect(framer.end()).toEqual([]);
    framer.reset();
    expect(framer.push(encoder.encode("7\n"))).toMatchObject([{ value: 7 }]);
  });

  it("with overflow skip there is a line-too-long fault instead, and reading continues", () => {
    expect(pushInPieces(encoder.encode("1\n12345678\n2\n"), 3, { maxLineBytes: 4, overflow: "skip" })).toMatchObject([
      { value: 1 },
      { code: "line-too-long", text: "1234" },
      { value: 2 },
    ]);
  });

  it("S1-39: a line of 32 MB in pieces and one of 1 MB byte by byte arrive complete", () => {
    const large = text(33_554_432);
    expect(pushInPieces(large, 65_536, { maxLineBytes: 40_000_000 }).map(lengthOf)).toEqual([33_554_432]);
    expect(pushInPieces(text(1_048_576), 1).map(lengthOf)).toEqual([1_048_576]);
  });

  it("a million bytes of one line allocate a handful of buffers, not one per push", () => {
    // Proves linearity without a clock, by counting the allocated buffers.
    const original = globalThis.Uint8Array;
    let made = 0;
    let copied = 0;
    globalThis.Uint8Array = new Proxy(original, {
      construct(target, parameters: [number]) {
        made += 1;
        if (typeof parameters[0] === "number") copied += parameters[0];
        return Reflect.construct(target, parameters);
      },
    });
    try {
      const splitter = new LineSplitter(DEFAULT_WIRE_LIMITS, "lf", {
        readLines: () => undefined,
        readBadLine: () => undefined,
        readOverflow: () => undefined,
      });
      const byte = original.of(0x61);
      for (let index = 0; index < 1_000_000; index += 1) splitter.push(byte);
    } finally {
      globalThis.Uint8Array = original;
    }
    expect(made).toBeLessThan(50);
    expect(copied).toBeLessThan(4_000_000);
  });
});
