import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import type { Frame } from "./frame.ts";
import { rawOf } from "./frame.ts";
import { MAX_JSON_DEPTH } from "#domain";
import { createNdjsonFramer } from "./ndjson.ts";

const RUNS = fuzzRuns(5000);
const encoder = new TextEncoder();

/** The parts of a frame that must not depend on how the bytes were split. */
function plain(frame: Frame): unknown {
  return { ...frame, bytes: [...rawOf(frame).bytes] };
}

function frameAll(pieces: readonly Uint8Array[], framer = createNdjsonFramer()): unknown[] {
  const frames: unknown[] = [];
  for (const piece of pieces) {
    const own = piece.slice();
    frames.push(...framer.push(own).map(plain));
    own.fill(0x21); // the caller reuses its buffer
  }
  frames.push(...framer.end().map(plain));
  return frames;
}

function bytesOf(...parts: (string | number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...encoder.encode(part)] : part)));
}

function read(...parts: (string | number[])[]): Frame[] {
  const framer = createNdjsonFramer();
  return [...framer.push(bytesOf(...parts)), ...framer.end()];
}

function texts(frames: readonly Frame[]): string[] {
  return frames.map((frame) => (frame.kind === "fault" ? `${frame.code}: ${frame.text}` : frame.text));
}

/** Thirty lines: two, three and four byte characters, CRLF, LF, blank lines, lone CR between tokens, U+2028, a bad line, bad UTF-8. */
const STREAM = bytesOf(
  ...Array.from({ length: 26 }, (_, index) => {
    const line = `{"n":${index},\r"s":"naïve 東京 🙂 \u2028 ${"x".repeat(index)} \\r\\n"}`;
    return `${line}${index % 3 === 0 ? "\r\n" : "\n"}${index % 5 === 0 ? "\n\r\n" : ""}`;
  }),
  "not json é\r\n",
  [0xc3, 0x28, 0x0d, 0x0a],
  '\r{"lone":"cr before"}\r\r\n',
  '{"last":"🙂"}',
);

describe("splitting a stream of lines", () => {
  const expected = frameAll([STREAM]);

  it("S1-46 S1-48 S0-56 AT-22: one split at every byte gives the same frames", () => {
    expect(expected).toHaveLength(30);
    for (let cut = 0; cut <= STREAM.length; cut += 1) {
      expect(frameAll([STREAM.subarray(0, cut), STREAM.subarray(cut)])).toEqual(expected);
    }
  });

  it("R2 AT-22: pieces of every size from one byte on give the same frames", () => {
    for (let size = 1; size < 80; size += 1) {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < STREAM.length; at += size) pieces.push(STREAM.subarray(at, at + size));
      expect(frameAll(pieces)).toEqual(expected);
    }
  });

  it("R2: every two splits of a small stream give the same frames", () => {
    const small = bytesOf([0xef, 0xbb, 0xbf], '{"é":1}\r\n\n🙂\r', [0xff, 0x0a], '["\u2028"]\r\n{"a"');
    const whole = frameAll([small]);
    expect(whole).toHaveLength(4);
    for (let first = 0; first <= small.length; first += 1) {
      for (let second = first; second <= small.length; second += 1) {
        const pieces = [small.subarray(0, first), small.subarray(first, second), small.subarray(second)];
        expect(frameAll(pieces)).toEqual(whole);
      }
    }
  });

  it("a Buffer gives the same frames as plain bytes, and its faults are plain bytes", () => {
    const framer = createNdjsonFramer();
    const frames = [...framer.push(Buffer.from(STREAM)), ...framer.end()];
    expect(frames.map(plain)).toEqual(expected);
    expect(frames.every((frame) => frame.kind !== "fault" || frame.bytes.constructor === Uint8Array)).toBe(true);
  });

  it("R1: any bytes, split anywhere, never throw and give the same frames as the whole", () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc
        .array(fc.constantFrom(0x0a, 0x0d, 0x7b, 0x7d, 0x22, 0x31, 0xc3, 0xa9, 0xef, 0xbb, 0xbf, 0x20), {
          maxLength: 40,
        })
        .map((bytes) => Uint8Array.from(bytes)),
      fc
        .array(fc.jsonValue(), { maxLength: 4 })
        .map((values) => encoder.encode(values.map((value) => JSON.stringify(value)).join("\r\n"))),
    );
    const limits = fc.record({
      maxLineBytes: fc.integer({ min: 1, max: 30 }),
      overflow: fc.constantFrom("end", "skip"),
    });
    fc.assert(
      fc.property(noise, fc.array(fc.nat(60), { maxLength: 5 }), limits, (bytes, cuts, chosen) => {
        const at = [0, ...cuts.filter((cut) => cut <= bytes.length).toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(frameAll(pieces, createNdjsonFramer(chosen))).toEqual(frameAll([bytes], createNdjsonFramer(chosen)));
      }),
      { numRuns: RUNS },
    );
  });
});

describe("line ends and blank lines", () => {
  it.each([
    ["S1-50: blank lines give nothing", "\n\r\n\n{}\n\n", ["{}"]],
    ["lines of white space give nothing", "  \t\n\r\r\n{}\n ", ["{}"]],
    ["S1-43 S1-47: CRLF is one line end", '{"a":1}\r\n[2]\r\n', ['{"a":1}', "[2]"]],
    ["S1-47: a lone CR is kept", "[1,\r2]\n", ["[1,\r2]"]],
    ["only one CR belongs to the line end", "[1]\r\r\n", ["[1]\r"]],
    ["U+2028 and U+2029 end no line", '"\u2028\u2029"\n', ['"\u2028\u2029"']],
    ["empty input gives nothing", "", []],
    ["every JSON value is a frame", '1\n"x"\nnull\ntrue\n[]\n', ["1", '"x"', "null", "true", "[]"]],
  ])("%s", (_, input, expected) => {
    expect(texts(read(input))).toEqual(expected);
  });

  it("one byte order mark at the start is skipped, a second one is part of the line", () => {
    expect(texts(read("\uFEFF{}\n"))).toEqual(["{}"]);
    expect(texts(read("\uFEFF"))).toEqual([]);
    expect(texts(read("\uFEFF\uFEFF1\n2\n"))).toEqual(["json-decode: \uFEFF1", "2"]);
    expect(texts(read("1\n\uFEFF2\n"))).toEqual(["1", "json-decode: \uFEFF2"]);
  });

  it("half a byte order mark is kept as text", () => {
    expect(read([0xef, 0xbb])).toMatchObject([{ code: "incomplete-last-line", bytes: Uint8Array.of(0xef, 0xbb) }]);
    expect(read([0xef, 0xbb, 0x31, 0x0a])).toMatchObject([
      { code: "utf8-decode", bytes: Uint8Array.of(0xef, 0xbb, 0x31) },
    ]);
  });
});

describe("lines that cannot be read", () => {
  it("S1-51 AT-32: a line that is not UTF-8 is a fault with exactly its bytes, and adjacent lines arrive", () => {
    const frames = read("[1]\n", [0xc3, 0x28, 0x0a], "[2]\n");
    expect(frames).toMatchObject([
      { kind: "data", value: [1] },
      { kind: "fault", code: "utf8-decode", bytes: Uint8Array.of(0xc3, 0x28) },
      { kind: "data", value: [2] },
    ]);
    expect(rawOf(frames[1] as Frame)).toEqual({ json: "", bytes: Uint8Array.of(0xc3, 0x28) });
  });

  it("a replacement character that was sent is text", () => {
    expect(read('"\uFFFD"\n')).toMatchObject([{ kind: "data", value: "\uFFFD" }]);
  });

  it.each([
    ["overlong", [0xc0, 0xaf]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["past U+10FFFF", [0xf4, 0x90, 0x80, 0x80]],
    ["a lone continuation", [0x80]],
    ["a cut character", [0xf0, 0x9f, 0x99]],
  ])("%s form is not UTF-8", (_, bytes) => {
    expect(read('"', bytes, '"\n{}\n')).toMatchObject([{ code: "utf8-decode" }, { kind: "data" }]);
  });

  it.each(["hello", "{", '{"a":1} x', "\0{}", "\u001b[0m{}", "[1]\0", "undefined", "NaN", "{'a':1}"])(
    "S1-52: %j is a json-decode fault with its text and bytes",
    (line) => {
      const frames = read(`${line}\n{}\n`);
      expect(frames).toMatchObject([{ kind: "fault", code: "json-decode", text: line }, { kind: "data" }]);
      expect(rawOf(frames[0] as Frame).bytes).toEqual(encoder.encode(line));
    },
  );

  it("a value nested too deeply is a fault, and nothing overflows", () => {
    const nest = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}\n`;
    const objects = `${'{"a":'.repeat(MAX_JSON_DEPTH + 1)}1${"}".repeat(MAX_JSON_DEPTH + 1)}\n`;
    expect(read(nest(MAX_JSON_DEPTH))).toMatchObject([{ kind: "data" }]);
    expect(read(nest(MAX_JSON_DEPTH + 1), objects, nest(100_000), "[]\n")).toMatchObject([
      ...Array.from({ length: 3 }, () => ({ kind: "fault", code: "json-decode" })),
      { kind: "data", value: [] },
    ]);
  });

  it("SEC12: __proto__ and constructor keys pollute nothing", () => {
    const [frame] = read('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\n');
    expect(frame?.kind).toBe("data");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("the last line", () => {
  it("S1-59 AT-24: without a line end it is a frame if it is JSON", () => {
    expect(read('{"a":1}\n{"type":"result"}')).toMatchObject([
      { kind: "data" },
      { kind: "data", text: '{"type":"result"}' },
    ]);
    expect(texts(read("[1]\r"))).toEqual(["[1]\r"]);
  });

  it("S1-59 S1-60 AT-24: half a line is a fault with its text and bytes", () => {
    expect(read('{"a":1}\n{"type":"resu')).toMatchObject([
      { kind: "data" },
      { kind: "fault", code: "incomplete-last-line", text: '{"type":"resu', bytes: encoder.encode('{"type":"resu') },
    ]);
  });

  it("if it is cut within a character, the text is the readable part and the bytes are complete", () => {
    expect(read('"ab', [0xf0, 0x9f])).toMatchObject([
      { code: "incomplete-last-line", text: '"ab', bytes: bytesOf('"ab', [0xf0, 0x9f]) },
    ]);
  });

  it("reset discards the unfinished line", () => {
    const framer = createNdjsonFramer();
    framer.push(encoder.encode('{"a'));
    framer.reset();
    expect(framer.push(encoder.encode("1\n"))).toMatchObject([{ value: 1 }]);
    expect(framer.end()).toEqual([]);
  });
});
