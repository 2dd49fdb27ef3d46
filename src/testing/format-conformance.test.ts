import { describe, expect, it } from "vitest";
import { type Chunk, errorItem, messageItem, noticeItem, textDelta } from "#domain";
import type { Adapter, Format } from "#dialects";
import { checkFormat } from "./format-conformance.ts";

/** A made-up dialect: `{"say": text}` per line, `{"end": true}` at the end. */
function createAdapter(): Adapter {
  let parts: string[] = [];
  let isOver = false;
  return {
    feed(frames) {
      return frames.flatMap((frame): Chunk[] => {
        const value = (frame.kind === "data" ? frame.value : undefined) as
          | { say?: unknown; end?: unknown }
          | null
          | undefined;
        if (typeof value?.say === "string" && !isOver) {
          parts.push(value.say);
          return [textDelta("m", 0, value.say)];
        }
        if (value?.end === true && !isOver) {
          isOver = true;
          return [messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: parts.join("") }] })];
        }
        return [noticeItem("unknown:line", value ?? null)];
      });
    },
    flush: () => (isOver ? [] : [errorItem({ code: "stream-cut", message: "The end is missing.", terminal: true })]),
    reset() {
      parts = [];
      isOver = false;
    },
  };
}

function format(
  more: Partial<Adapter> | ((adapter: Adapter) => Partial<Adapter>) = {},
  framing: Format["framing"] = "ndjson",
): Format {
  return {
    name: "made-up",
    framing,
    description: "For this test.",
    createAdapter() {
      const adapter = createAdapter();
      return { ...adapter, ...(typeof more === "function" ? more(adapter) : more) };
    },
  };
}

const bytes = new TextEncoder().encode('{"say":"Grüße, "}\n{"say":"🎈"}\r\n\n{"odd":1}\n{"end":true}\n');

const behaviours = async (broken: Format): Promise<readonly string[]> =>
  (await checkFormat(broken, { bytes, spoilt: 50 })).map(({ behaviour }) => behaviour);

const CUT = "the same bytes give the same chunks, however they are cut";
const RESET = "after a reset the same bytes give the same chunks again";
const APART = "adapters of one format know nothing of each other";
const SOUND = "its chunks keep the promises of the event model";
const EARLY = "a stream that ends too early keeps them too";
const TAME = "nothing it is fed makes it throw, or give anything but well-formed chunks";

describe("checkFormat", () => {
  it("accepts a correct format", async () => {
    expect(await checkFormat(format(), { bytes })).toEqual([]);
  });

  it("R2: detects one that depends on how the bytes are split", async () => {
    // One chunk per call of feed, instead of one per frame.
    const broken = format((adapter) => ({
      feed: (frames) => [noticeItem("batch", frames.length), ...adapter.feed(frames)],
    }));
    expect(await behaviours(broken)).toContain(CUT);
  });

  it("detects one that keeps state after a reset", async () => {
    expect(await behaviours(format({ reset: () => undefined }))).toContain(RESET);
  });

  it("detects one whose adapters share state", async () => {
    const shared = createAdapter();
    const broken = { ...format(), createAdapter: () => shared };
    expect(await behaviours(broken)).toContain(APART);
  });

  it("detects one whose message differs from its deltas", async () => {
    const broken = format((adapter) => ({
      feed: (frames) =>
        adapter
          .feed(frames)
          .map((chunk) => (chunk.type === "text-delta" ? { ...chunk, text: chunk.text.trim() } : chunk)),
    }));
    expect(await behaviours(broken)).toContain(SOUND);
  });

  it("detects one that numbers its chunks", async () => {
    const broken = format((adapter) => ({
      feed: (frames) => adapter.feed(frames).map((chunk, seq) => ({ ...chunk, seq })),
    }));
    expect(await behaviours(broken)).toContain(SOUND);
  });

  it("I4: detects one for which a cut stream is a success", async () => {
    expect(await behaviours(format({ flush: () => [] }))).toEqual([EARLY]);
  });

  it("detects one that throws on unexpected input", async () => {
    const broken = format((adapter) => ({
      feed(frames) {
        for (const frame of frames) if (frame.kind === "data") Object.keys(frame.value as object);
        return adapter.feed(frames);
      },
    }));
    expect(await behaviours(broken)).toContain(TAME);
  });

  it("detects one that passes on values of the wrong type", async () => {
    const broken = format((adapter) => ({
      feed: (frames) =>
        frames.flatMap((frame) => {
          const say = (frame.kind === "data" ? frame.value : undefined) as { say?: string } | null;
          return say?.say === undefined || typeof say.say === "string"
            ? adapter.feed([frame])
            : [textDelta("m", 0, say.say)];
        }),
    }));
    expect(await behaviours(broken)).toContain(TAME);
  });

  it("accepts that a text framing splits a delta wherever the bytes are split", async () => {
    const text: Format = {
      ...format({}, "text"),
      createAdapter() {
        let said = "";
        return {
          feed(frames) {
            said += frames.map((frame) => frame.text).join("");
            return frames.map((frame) => textDelta("m", 0, frame.text));
          },
          flush: () =>
            said === "" ? [] : [messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: said }] })],
          reset() {
            said = "";
          },
        };
      },
    };
    expect(await checkFormat(text, { bytes })).toEqual([]);
  });
});
