import { isDeepStrictEqual } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createFramer } from "./framer.ts";
import type { Framing } from "./frame.ts";

const rows = Array.from({ length: 10_000 }, (_, at) => ({ at, name: `row é ${at}`, on: true }));
const long = JSON.stringify({ rows });

const FRAMINGS: readonly [Framing, (json: string, end?: string) => string][] = [
  ["ndjson", (json, end = "\n") => `${json}${end}`],
  ["sse", (json, end = "\n") => `event: rows${end}data: ${json}${end}${end}`],
];

function read(framing: Framing, bytes: Uint8Array, size: number) {
  const framer = createFramer(framing);
  const frames = [];
  for (let from = 0; from < bytes.length; from += size) frames.push(...framer.push(bytes.slice(from, from + size)));
  return [...frames, ...framer.end()];
}

afterEach(() => vi.restoreAllMocks());

describe.each(FRAMINGS)("F-B1: a long line of %s", (framing, write) => {
  const encoder = new TextEncoder();

  it.each(["\n", "\r\n"])("is the same frame however it is split, and so is the next line (%j)", (end) => {
    const bytes = encoder.encode(write(long, end) + write('{"a":1}', end));
    const whole = createFramer(framing).push(bytes);
    expect(whole.map((frame) => frame.kind)).toEqual(["data", "data"]);
    // Not `toEqual`, here and below: it takes a hundred times as long.
    for (const size of [65_536, 65_537, 300_001, 4093])
      expect(isDeepStrictEqual(read(framing, bytes, size), whole)).toBe(true);
  });

  it("is read while it arrives: nothing long is parsed at once", () => {
    const bytes = encoder.encode(write(long));
    const parse = vi.spyOn(JSON, "parse");
    const [frame] = read(framing, bytes, 65_536);
    const longest = Math.max(0, ...parse.mock.calls.map(([text]) => text.length));
    parse.mockRestore();
    expect(longest).toBeLessThan(65_536);
    expect(isDeepStrictEqual(frame?.kind === "data" && frame.value, { rows })).toBe(true);
  });

  it("that is not UTF-8, or not JSON, gives the same as when it arrives whole", () => {
    const bytes = encoder.encode(write(long) + write('{"a":1}'));
    const spoiled = bytes.slice();
    spoiled[300_000] = 0xff;
    expect(isDeepStrictEqual(read(framing, spoiled, 65_536), createFramer(framing).push(spoiled))).toBe(true);
    const broken = encoder.encode(write(`${long.slice(0, 300_000)}]${long.slice(300_000)}`) + write('{"a":1}'));
    const kinds = (frames: readonly { readonly kind: string }[]) => frames.map(({ kind }) => kind);
    expect(kinds(read(framing, broken, 65_536))).toEqual(kinds(createFramer(framing).push(broken)));
  });
});
