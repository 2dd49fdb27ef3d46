import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { type Frame, rawOf } from "./frame.ts";
import { createTextFramer } from "./text.ts";

const RUNS = fuzzRuns(5000);
const encoder = new TextEncoder();

function frameAll(pieces: readonly Uint8Array[]): Frame[] {
  const framer = createTextFramer();
  const frames: Frame[] = [];
  for (const piece of pieces) {
    const own = piece.slice();
    // Faults are views: to keep one beyond the next push, copy it first.
    frames.push(
      ...framer.push(own).map((frame) => (frame.kind === "fault" ? { ...frame, bytes: frame.bytes.slice() } : frame)),
    );
    own.fill(0x21);
  }
  frames.push(...framer.end());
  return frames;
}

function textOf(frames: readonly Frame[]): string {
  return frames.map((frame) => (frame.kind === "data" ? frame.text : "�")).join("");
}

function bytesIn(frames: readonly Frame[]): number[] {
  return frames.flatMap((frame) => [...rawOf(frame).bytes]);
}

describe("the text framing, AT-56", () => {
  it("gives one frame per push, and none for an empty one", () => {
    const framer = createTextFramer();
    expect(framer.push(encoder.encode("hé"))).toEqual([
      { kind: "data", name: "", id: "", text: "hé", value: undefined },
    ]);
    expect(framer.push(new Uint8Array(0))).toEqual([]);
    expect(framer.end()).toEqual([]);
  });

  it("never splits a character, wherever the bytes are split", () => {
    const text = "naïve 東京 🙂 \r\n end";
    const bytes = encoder.encode(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const frames = frameAll([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(frames.every((frame) => frame.kind === "data")).toBe(true);
      expect(textOf(frames)).toBe(text);
      expect(bytesIn(frames)).toEqual([...bytes]);
    }
    expect(textOf(frameAll([...bytes].map((byte) => Uint8Array.of(byte))))).toBe(text);
  });

  it("skips one byte order mark at the start", () => {
    for (const cut of [0, 1, 2, 3, 4]) {
      const bytes = encoder.encode("\uFEFFa\uFEFF");
      expect(textOf(frameAll([bytes.subarray(0, cut), bytes.subarray(cut)]))).toBe("a\uFEFF");
    }
  });

  it("bytes that are not UTF-8 are a fault between the text before and after", () => {
    expect(frameAll([Uint8Array.of(0x61, 0xff, 0xfe, 0x62)])).toMatchObject([
      { text: "a" },
      { kind: "fault", code: "utf8-decode", bytes: Uint8Array.of(0xff, 0xfe) },
      { text: "b" },
    ]);
  });

  it("a character that is never finished is a fault at the end; reset discards it", () => {
    expect(frameAll([Uint8Array.of(0x61, 0xf0, 0x9f)])).toMatchObject([
      { text: "a" },
      { code: "utf8-decode", bytes: Uint8Array.of(0xf0, 0x9f) },
    ]);
    const framer = createTextFramer();
    framer.push(Uint8Array.of(0xf0, 0x9f));
    framer.reset();
    expect(framer.push(encoder.encode("b"))).toMatchObject([{ text: "b" }]);
    expect(framer.end()).toEqual([]);
  });

  it("R1: no byte is lost or invented, no split changes the text, and only faults are not UTF-8", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 24 }),
      fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => encoder.encode(text)),
      fc
        .array(fc.constantFrom(0x61, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xff), {
          maxLength: 16,
        })
        .map((list) => Uint8Array.from(list)),
    );
    const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    fc.assert(
      fc.property(bytes, fc.nat(24), (input, cut) => {
        const withoutMark = encoder.encode("x");
        const all = Uint8Array.from([...withoutMark, ...input]);
        const whole = frameAll([all]);
        const halves = frameAll([all.subarray(0, cut), all.subarray(cut)]);
        expect(bytesIn(halves)).toEqual([...all]);
        const dataText = (frames: readonly Frame[]) =>
          frames
            .filter((frame) => frame.kind === "data")
            .map((frame) => frame.text)
            .join("");
        expect(dataText(halves)).toBe(dataText(whole));
        for (const frame of whole) {
          if (frame.kind === "fault") expect(() => strict.decode(frame.bytes)).toThrow();
        }
      }),
      { numRuns: RUNS },
    );
  });
});
