import { describe, expect, it } from "vitest";
import { noticeItem, numberEvent } from "#domain";
import type { EventBatch, EventLog } from "#sessions";
import { createVirtualClock } from "#testing";
import { EventStream } from "./event-stream.ts";
import { readLimits } from "./limits.ts";
import { createFrameCache } from "./event-frames.ts";
import { FROM_THE_START } from "./sse-vocabulary.ts";
import { streamResponse } from "./stream-response.ts";

/** A log that yields these batches and then ends. */
function logOf(...batches: readonly EventBatch[]): EventLog {
  async function* follow(): AsyncGenerator<EventBatch, undefined> {
    yield* batches;
    return undefined;
  }
  return { follow, write: async () => undefined };
}

const notice = numberEvent(noticeItem("status", {}), 0, { ts: 0, runId: "r" });

describe("a stream of events", () => {
  it("I22: a log that ends without done aborts the stream, so that its reader reconnects", async () => {
    const ends: string[] = [];
    const clock = createVirtualClock();
    const setting = { log: logOf([notice]), clock, limits: readLimits(undefined, 0), frame: createFrameCache() };
    const stream = new EventStream(
      { ...setting, nextTurn: undefined },
      {
        runId: "r",
        cursor: FROM_THE_START,
        vocabulary: "millrace",
        onEnd: (how, why) => ends.push(`${how}: ${String(why)}`),
      },
    );
    await expect(streamResponse(stream, {}).text()).rejects.toThrow("The event log cannot be read.");
    expect(ends).toEqual(["failed: Error: The log broke off."]);
    expect(clock.pending()).toBe(0);
  });
});
