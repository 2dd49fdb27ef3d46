import { describe, expect, it } from "vitest";
import type { HttpBody } from "#domain";
import { joinArrived } from "./arrived.ts";

/** A body of which these pieces are already there. */
function bodyOf(...pieces: Uint8Array[]): HttpBody {
  return {
    arrived: (maxBytes) => ((pieces[0]?.length ?? Number.POSITIVE_INFINITY) <= maxBytes ? pieces.shift() : undefined),
    [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
  };
}
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (joined: Uint8Array): string => new TextDecoder().decode(joined);

describe("what has arrived together", () => {
  it("is one piece, in order", () => {
    expect(text(joinArrived(bytes("a"), bodyOf(bytes("b"), bytes("cd"))))).toBe("abcd");
  });

  it("is the piece itself where nothing is behind it, or nobody can say", () => {
    const first = bytes("a");
    expect(joinArrived(first, bodyOf())).toBe(first);
    const { arrived: _, ...mute } = bodyOf(bytes("b"));
    expect(joinArrived(first, mute)).toBe(first);
  });

  it("is never more than one full read: the rest comes in its turn", () => {
    const half = new Uint8Array(40_000);
    const body = bodyOf(half, half);
    expect(joinArrived(new Uint8Array(20_000), body)).toHaveLength(60_000);
    expect(joinArrived(half, body)).toHaveLength(40_000);
    expect(joinArrived(new Uint8Array(70_000), bodyOf(bytes("b")))).toHaveLength(70_000);
  });
});
