import { Session } from "node:inspector/promises";
import { describe, expect, it } from "vitest";
import { messageItem, resultItem, textDelta, thinkingDelta } from "#domain";
import { createSeededRandom, createVirtualClock } from "#testing";
import { createRun } from "./handle.ts";
import { sharedText } from "./merge-deltas.ts";
import { asEvent, asEvents } from "../../test/events.ts";

async function heldBytes(): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
  return process.memoryUsage().heapUsed;
}

const seams = { clock: createVirtualClock(), random: createSeededRandom(1), onListenerError: () => undefined };
const PIECES = 4096;
const piece = (at: number): string => `${at} ${"sentence ".repeat(220)}\n`.slice(0, 2048);

describe("F-B1: the text of a finished message", () => {
  it.each([
    ["text", textDelta],
    ["thinking", thinkingDelta],
  ] as const)("is in memory once, and a late reader still gets its deltas: %s", async (type, delta) => {
    const before = await heldBytes();
    const run = createRun(async (writer) => {
      const parts: string[] = [];
      for (let at = 0; at < PIECES; at += 64) {
        const batch = Array.from({ length: 64 }, (_, index) => piece(at + index));
        parts.push(...batch);
        await writer.write(batch.map((text) => delta("m", 0, text)));
      }
      const block = { type, text: parts.splice(0).join("") };
      await writer.write([messageItem({ id: "m", role: "assistant", blocks: [block] })]);
      await writer.write([resultItem({ subtype: "success", isError: false, usage: {} })]);
    }, seams);
    await run.result();
    const size = PIECES * 2048;
    // If the text is held once, the ratio is about 1; held twice, it would be 2. The margin allows for other memory of
    // the test process.
    expect((await heldBytes()) - before).toBeLessThan(1.6 * size);
    let text = "";
    for await (const event of run) if (event.type === `${type}-delta`) text += (event as { text: string }).text;
    expect(text === Array.from({ length: PIECES }, (_, at) => piece(at)).join("")).toBe(true);
  });

  it("a delta with another text keeps it", () => {
    const long = "x".repeat(70_000);
    const log = asEvents([textDelta("m", 0, "other"), textDelta("m", 0, "xx"), textDelta("n", 0, "xx")]);
    const message = messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: long }] });
    const share = sharedText(asEvent(message));
    expect(log.map((event) => share?.(event))).toEqual(log);
  });
});
