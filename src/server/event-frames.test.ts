import { describe, expect, it } from "vitest";
import { messageItem } from "#domain";
import type { EventBatch } from "#sessions";
import { closeRunLog } from "#testing";
import { encodeEventSse } from "#wire";
import { createFrameCache } from "./event-frames.ts";

const message = (characters: number): EventBatch =>
  closeRunLog(
    [messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "é".repeat(characters) }] })],
    "r",
  );

const textOf = (batch: EventBatch): string => batch.map(encodeEventSse).join("");

const slicesOf = (frame: ReturnType<typeof createFrameCache>, batch: EventBatch): Iterator<Uint8Array, undefined> => {
  const frames = frame(batch);
  if (frames instanceof Uint8Array) throw new Error("The batch is not large.");
  return frames[Symbol.iterator]();
};

/** What is left, as text. */
function readRest(slices: Iterator<Uint8Array, undefined>): string {
  const decoder = new TextDecoder();
  let text = "";
  for (let step = slices.next(); step.done !== true; step = slices.next()) {
    text += decoder.decode(step.value, { stream: true });
  }
  return text;
}

describe("createFrameCache", () => {
  it("gives all readers of a batch the same bytes", () => {
    const frame = createFrameCache();
    const batch = message(1000);
    const bytes = frame(batch) as Uint8Array;
    expect(new TextDecoder().decode(bytes)).toBe(textOf(batch));
    expect(frame(batch)).toBe(bytes);
  });

  it("W8: gives readers of a large batch the same slices, whichever comes first", () => {
    const frame = createFrameCache();
    const batch = message(1_500_000);
    const [one, two] = [slicesOf(frame, batch), slicesOf(frame, batch)];
    for (let count = 0; count < 10; count += 1) {
      const readers = count % 2 === 0 ? [one, two] : [two, one];
      const [first, second] = readers.map((reader) => reader.next().value);
      expect(first).toBeInstanceOf(Uint8Array);
      expect(second).toBe(first);
    }
  });

  it("a slow reader, and one that comes after the others have finished, get everything, too", () => {
    const frame = createFrameCache();
    const batch = message(6_000_000);
    const slow = slicesOf(frame, batch);
    const begun = new TextDecoder().decode(slow.next().value, { stream: true });
    const text = textOf(batch);
    expect(readRest(slicesOf(frame, batch)) === text).toBe(true);
    expect(begun + readRest(slow) === text).toBe(true);
    expect(readRest(slicesOf(frame, batch)) === text).toBe(true);
  });
});
