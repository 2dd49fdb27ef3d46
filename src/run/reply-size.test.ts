import fc from "fast-check";
import { followSignal } from "#streams";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Chunk,
  messageItem,
  retractNotice,
  textDelta,
  thinkingDelta,
  toolInputDelta,
} from "#domain";
import { createSeededRandom, createVirtualClock } from "#testing";
import { measureText, ReplySize } from "./reply-size.ts";
import { createRun } from "./handle.ts";
import { asEvent, asEvents } from "../../test/events.ts";

/** A `ReplySize` and the events that were added to it. */
function createMeter(limitBytes: number) {
  const past: AgentEvent[] = [];
  const meter = new ReplySize(limitBytes, () => past);
  return {
    meter,
    add(...chunks: Chunk[]) {
      const events = asEvents(chunks);
      const characters = events.reduce((sum, event) => sum + ((event as { text?: string }).text ?? "").length, 0);
      meter.addRow({ events, from: 0, end: events.length }, characters);
      past.push(...events);
    },
    retract(messageId: string) {
      meter.retract({ messageId });
      past.push(asEvent(retractNotice({ messageId })));
    },
  };
}

describe("measureText", () => {
  const halves = fc.constantFrom("\ud834", "\udd1e");

  it("is the length in UTF-8", () => {
    fc.assert(
      // Includes lone surrogates, each of which is written as U+FFFD.
      fc.property(fc.string({ unit: fc.oneof(fc.string({ unit: "grapheme" }), halves) }), (text) => {
        expect(measureText(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });
});

describe("F-B1: ReplySize", () => {
  it.each(["x", "é", "€", "𝄞"])("counts bytes and not characters of %s", (character) => {
    const fits = Math.floor(3000 / measureText(character));
    const { meter, add } = createMeter(3000);
    for (let count = 0; count < fits; count += 1) add(textDelta("m", 0, character));
    expect(meter.failure).toBeUndefined();
    add(textDelta("m", 0, character));
    expect(meter.failure).toMatchObject({ code: "reply-too-large", terminal: true, diagnostic: { limitBytes: 3000 } });
  });

  it("counts each reply separately, finished or restarted, and those of sub-agents, too", () => {
    const { meter, add, retract } = createMeter(100);
    const text = "x".repeat(90);
    add(textDelta("m", 0, text));
    meter.addMessage(asEvent(messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text }] })));
    add(thinkingDelta("n", 0, text));
    retract("n");
    add(textDelta("n", 0, text));
    add(textDelta("sub", 0, text, "call"));
    expect(meter.failure).toBeUndefined();
  });

  it("measures a message that no delta has shown: text, thinking and arguments", () => {
    const blocks = [
      { type: "thinking", text: "x".repeat(40) },
      { type: "text", text: "x".repeat(40) },
      { type: "tool-call", callId: "c", name: "t", input: { a: "x".repeat(40) } },
    ] as const;
    for (const [count, fails] of [
      [2, false],
      [3, true],
    ] as const) {
      const { meter } = createMeter(100);
      meter.addMessage(asEvent(messageItem({ id: "m", role: "assistant", blocks: blocks.slice(0, count) })));
      expect(meter.failure !== undefined).toBe(fails);
    }
  });

  it("counts a message once that is reported again with each of its calls", () => {
    for (const isStreamed of [true, false]) {
      const { meter, add } = createMeter(100);
      const blocks = Array.from({ length: 40 }, (_, at) => ({ type: "text", text: String(at % 10) }) as const);
      if (isStreamed) add(textDelta("m", 0, "0"));
      for (let count = 1; count <= 40; count += 1) {
        meter.addMessage(asEvent(messageItem({ id: "m", role: "assistant", blocks: blocks.slice(0, count) })));
      }
      expect(meter.failure).toBeUndefined();
      meter.addMessage(asEvent(messageItem({ id: "other", role: "assistant", blocks: [] })));
      for (let turn = 0; turn < 10; turn += 1) add(textDelta(`m${turn}`, 0, "x".repeat(76)));
      expect(meter.failure).toBeUndefined();
      add(textDelta("last", 0, "x"));
      expect(meter.failure?.message).toContain("together more than 800 bytes");
    }
  });

  it("bounds a run of many turns", () => {
    const { meter, add } = createMeter(100);
    for (let turn = 0; turn < 10; turn += 1) {
      add(textDelta(`m${turn}`, 0, "x".repeat(80)));
      meter.addMessage(asEvent(messageItem({ id: `m${turn}`, role: "assistant", blocks: [] })));
    }
    expect(meter.failure).toBeUndefined();
    add(textDelta("last", 0, "x"));
    expect(meter.failure?.message).toContain(
      "The run reached limits.replyBytes: the replies of the run have together more than 800 bytes",
    );
  });

  it("an unlimited reply ends at the engine's limit for strings, with the same code", () => {
    const text = "x".repeat(32 * 1_048_576);
    const { meter, add } = createMeter(Number.POSITIVE_INFINITY);
    for (let count = 0; count < 14; count += 1) add(textDelta("m", 0, text));
    expect(meter.failure).toBeUndefined();
    for (let count = 0; count < 2; count += 1) add(textDelta("m", 0, text));
    expect(meter.failure?.code).toBe("reply-too-large");
  });
});

describe("F-B1: a run whose reply is too long", () => {
  const seams = () => ({
    clock: createVirtualClock(),
    random: createSeededRandom(1),
    onListenerError: () => undefined,
    limits: { replyBytes: 100, abortGraceMs: 1000 },
  });

  it("stops its source, emits nothing more, and answers the open calls", async () => {
    let isStopped = false;
    const run = createRun(async (writer) => {
      followSignal(writer.signal, () => (isStopped = true));
      void writer.write([toolInputDelta("m", 0, { callId: "c", name: "t" }, `"${"x".repeat(200)}`)]);
      void writer.write([textDelta("m", 1, "too late")]);
    }, seams());
    const { status, subtype, error } = await run.result();
    expect({ status, subtype, code: error?.code }).toEqual({
      status: "error",
      subtype: "reply-too-large",
      code: "reply-too-large",
    });
    expect(isStopped).toBe(true);
    const types = [];
    for await (const { type } of run) types.push(type);
    expect(types).toEqual(["tool-input-delta", "error", "done"]);
  });

  it("ends even if its source does not stop", async () => {
    const { clock, ...rest } = seams();
    const run = createRun(
      async (writer) => {
        void writer.write([textDelta("m", 0, "x".repeat(200))]);
        await new Promise(() => undefined);
      },
      { clock, ...rest },
    );
    await clock.advance(1000);
    expect(await run.result()).toMatchObject({ subtype: "reply-too-large", text: "x".repeat(200) });
  });
});
