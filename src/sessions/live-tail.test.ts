import { describe, expect, it } from "vitest";
import { noticeItem } from "#domain";
import { closeRunLog } from "#testing";
import { LiveTail } from "./live-tail.ts";

const log = closeRunLog(Array.from({ length: 12 }, (_, at) => noticeItem("status", { at, text: "x".repeat(300_000) })));

describe("the tail of a log in memory", () => {
  it("keeps no more than it may for readers that lag, and at least the last batch", () => {
    for (const [maxWeight, kept] of [
      [1_000_000, 3],
      [1, 1],
    ] as const) {
      const tail = new LiveTail({ maxWeight: () => maxWeight, readers: () => 1 });
      for (const event of log.slice(0, 12)) tail.push([event]);
      expect(tail.after(11)).toEqual([]);
      expect(tail.after(11 - kept)).toEqual([log[12 - kept]]);
      // The store has what is missing.
      expect(tail.after(10 - kept)).toBeUndefined();
    }
  });

  it("keeps nothing that all readers have", () => {
    const tail = new LiveTail({ maxWeight: () => 1_000_000, readers: () => 1 });
    tail.push(log.slice(0, 2));
    tail.whenChanged(() => undefined);
    tail.push(log.slice(2, 3));
    expect(tail.after(1)).toEqual(log.slice(2, 3));
    expect(tail.after(0)).toBeUndefined();
  });
});
