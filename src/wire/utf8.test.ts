import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { createStrictDecoder, readUtf8 } from "./utf8.ts";

const RUNS = fuzzRuns(5000);

function readStrictly(bytes: Uint8Array): string | undefined {
  try {
    return createStrictDecoder().decode(bytes);
  } catch {
    return undefined;
  }
}

describe("readUtf8", () => {
  it("reads ASCII, wide characters, a byte order mark, a NUL and an empty input", () => {
    for (const text of ["", "plain", "naïve 東京 🙂", "\uFEFFmark", "a\0b"]) {
      const bytes = new TextEncoder().encode(`<${text}>`);
      expect(readUtf8(bytes, 1, bytes.length - 1)).toBe(text);
    }
  });

  it("R1: agrees with the platform's decoder on any bytes", () => {
    const pieces = fc.oneof(
      fc.uint8Array({ maxLength: 8 }),
      fc.string({ unit: "binary", maxLength: 8 }).map((text) => new TextEncoder().encode(text)),
      fc
        .constantFrom(
          [0xc0, 0x80],
          [0xed, 0xa0, 0x80],
          [0xf4, 0x90, 0x80, 0x80],
          [0xe2, 0x82],
          [0xef, 0xbf, 0xbd],
          [0xf0, 0x9f, 0x99, 0x82],
        )
        .map((bytes) => Uint8Array.from(bytes)),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), (parts) => {
        const bytes = Uint8Array.from(parts.flatMap((part) => [...part]));
        expect(readUtf8(bytes, 0, bytes.length)).toBe(readStrictly(bytes));
      }),
      { numRuns: RUNS },
    );
  });
});
