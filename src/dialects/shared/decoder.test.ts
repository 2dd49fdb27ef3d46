import { type Chunk, errorItem, noticeItem, textDelta } from "#domain";
import { type Frame, type Framing, isRecord } from "#wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { createDecoder, type DecoderOptions } from "./decoder.ts";
import type { Format } from "./format.ts";

const RUNS = fuzzRuns(5000);
const encoder = new TextEncoder();

/** Every frame is a text delta, except the words that make it fail, throw or give two chunks. */
function probe(framing: Framing = "ndjson"): Format & { readonly batches: number[] } {
  const batches: number[] = [];
  const decode = (frame: Frame): Chunk[] => {
    const text = isRecord(frame.kind === "data" ? frame.value : undefined) ? "{}" : frame.text;
    if (text === '"throw"') throw new Error("broken adapter");
    if (text === '"fail"')
      return [errorItem({ code: "provider-error", message: "no", terminal: true }), textDelta("m", 0, "late")];
    if (text === '"two"')
      return [textDelta("m", 0, "one"), noticeItem("two", frame.kind === "data" ? frame.value : null)];
    return [textDelta("m", 0, text)];
  };
  return {
    name: "probe",
    framing,
    description: "A format for these tests.",
    batches,
    createAdapter: () => ({
      feed(frames) {
        batches.push(frames.length);
        return frames.flatMap(decode);
      },
      flush: () => [noticeItem("flushed", null)],
      reset: () => undefined,
    }),
  };
}

function decode(input: string | Uint8Array, options?: DecoderOptions, format: Format = probe()): Chunk[] {
  const decoder = createDecoder(format, options);
  const bytes = typeof input === "string" ? encoder.encode(input) : input;
  return [...decoder.push(bytes), ...decoder.end()];
}

function summaries(chunks: readonly Chunk[]): string[] {
  return chunks.map((chunk) => {
    if (chunk.type === "text-delta") return chunk.text;
    if (chunk.type === "error") return `${chunk.code}${chunk.terminal ? "!" : ""}`;
    if (chunk.type === "notice") return `(${chunk.kind})`;
    return chunk.type === "warning" ? `?${chunk.code}` : chunk.type;
  });
}

describe("frames that cannot be read", () => {
  it("S1-51 S1-52 AT-32: are errors at their position, with the exact bytes and an excerpt", () => {
    const chunks = decode(
      Uint8Array.from([...encoder.encode("1\nbad\n2\n"), 0xc3, 0x28, 0x0a, ...encoder.encode("3\n")]),
    );
    expect(summaries(chunks)).toEqual(["1", "json-decode", "2", "utf8-decode", "3", "(flushed)"]);
    expect(chunks[1]).toMatchObject({
      raw: { json: "bad", bytes: encoder.encode("bad") },
      diagnostic: { seen: "bad" },
    });
    expect(chunks[3]).toMatchObject({ raw: { json: "", bytes: Uint8Array.of(0xc3, 0x28) } });
  });

  it("S1-53 S1-54 S3-25 AT-25: four bad lines and a good one, ten times, are forty errors and not an end", () => {
    const chunks = decode("bad\nbad\nbad\nbad\n1\n".repeat(10));
    expect(summaries(chunks)).toEqual([
      ...Array(10)
        .fill([...Array(4).fill("json-decode"), "1"])
        .flat(),
      "(flushed)",
    ]);
  });

  it("S1-53 S1-55 AT-25: the fifth in a row ends the stream, and nothing follows", () => {
    const decoder = createDecoder(probe());
    const chunks = decoder.push(encoder.encode("1\na\nb\nc\nd\nlast words\n2\n"));
    expect(summaries(chunks)).toEqual(["1", ...Array(4).fill("json-decode"), "too-many-decode-errors!"]);
    expect(chunks.at(-1)).toMatchObject({ diagnostic: { count: 5, lastNonJsonLine: "last words" } });
    expect(decoder.isOver).toBe(true);
    expect([...decoder.push(encoder.encode("3\n")), ...decoder.end()]).toEqual([]);
    decoder.reset();
    expect(decoder.isOver).toBe(false);
    expect(summaries(decoder.push(encoder.encode("4\n")))).toEqual(["4"]);
  });

  it("the count continues from push to push", () => {
    const decoder = createDecoder(probe());
    const chunks = ["a\n", "b\n", "c\n", "d\n", "e\n", "1\n"].flatMap((line) => decoder.push(encoder.encode(line)));
    expect(summaries(chunks)).toEqual([...Array(4).fill("json-decode"), "too-many-decode-errors!"]);
  });

  it("C15: any valid JSON resets the count, whatever the adapter does with it", () => {
    expect(summaries(decode("a\nb\nc\nd\nnull\ne\n"))).not.toContain("too-many-decode-errors!");
  });

  it("S1-49: a line over the limit is terminal and states the limit", () => {
    const chunks = decode("1\n123456\n2\n", { limits: { maxLineBytes: 4 } });
    expect(summaries(chunks)).toEqual(["1", "buffer-overflow!"]);
    expect(chunks[1]).toMatchObject({ diagnostic: { limitBytes: 4, seen: "1234" } });
  });

  it("with skip it is an ordinary error, and counts", () => {
    const limits = { maxLineBytes: 4, overflow: "skip" } as const;
    expect(summaries(decode("1\n123456\n2\n", { limits }))).toEqual(["1", "line-too-long", "2", "(flushed)"]);
    expect(summaries(decode("123456\n".repeat(6), { limits })).at(-1)).toBe("too-many-decode-errors!");
  });

  it("the excerpt is cut, without splitting a character", () => {
    const [error] = decode(`${"x".repeat(2047)}🙂 and more\n`);
    expect(error).toMatchObject({ diagnostic: { seen: "x".repeat(2047) } });
  });
});

describe("the end of a stream", () => {
  it("S4-23: the end flushes the adapter once; a reset also resets it, and leaves nothing of the stream before", () => {
    const calls: string[] = [];
    const format: Format = {
      ...probe(),
      createAdapter: () => ({
        feed: () => [],
        flush: () => {
          calls.push("flush");
          return [];
        },
        reset: () => {
          calls.push("reset");
        },
      }),
    };
    const decoder = createDecoder(format);
    decoder.push(encoder.encode("1\n"));
    decoder.end();
    decoder.end();
    expect(calls).toEqual(["flush"]);
    decoder.reset();
    expect(calls).toEqual(["flush", "reset"]);
    // Half a line of a stream that was given up is not the beginning of the next one.
    decoder.push(encoder.encode('{"half'));
    decoder.reset();
    expect(summaries(decoder.push(encoder.encode("2\n")))).toEqual([]);
    expect(summaries(decoder.end())).toEqual([]);
    expect(calls).toEqual(["flush", "reset", "reset", "flush"]);
  });

  it("S1-58 S1-61 S1-59 AT-24: a complete last line is decoded before the adapter is flushed", () => {
    expect(summaries(decode("1\n2"))).toEqual(["1", "2", "(flushed)"]);
  });

  it("S1-59 S1-60 AT-24: half a line is a warning with its text, then the adapter is flushed", () => {
    const decoder = createDecoder(probe());
    decoder.push(encoder.encode('1\n{"type":"resu'));
    const chunks = decoder.end();
    expect(summaries(chunks)).toEqual(["?incomplete-last-line", "(flushed)"]);
    expect(chunks[0]).toMatchObject({ context: { text: '{"type":"resu' } });
    expect(decoder.lastNonJsonLine).toBe('{"type":"resu');
  });

  it("its text is cut at 64 KB", () => {
    expect(decode(`{${"x".repeat(100_000)}`)[0]).toMatchObject({ context: { text: `{${"x".repeat(65_535)}` } });
  });

  it("a second end gives nothing, nor does a push after it", () => {
    const decoder = createDecoder(probe());
    expect(summaries(decoder.end())).toEqual(["(flushed)"]);
    expect([...decoder.end(), ...decoder.push(encoder.encode("1\n"))]).toEqual([]);
  });

  it("reset discards the unfinished line and the last bad one", () => {
    const decoder = createDecoder(probe());
    decoder.push(encoder.encode('bad\n{"a'));
    decoder.reset();
    expect(decoder.lastNonJsonLine).toBeUndefined();
    expect(summaries([...decoder.push(encoder.encode("1\n")), ...decoder.end()])).toEqual(["1", "(flushed)"]);
  });
});

describe("S4-7: the adapter", () => {
  it("gets all good frames of a push at once, and those between faults together", () => {
    const format = probe();
    decode("1\n2\n3\nbad\n4\n5\n", {}, format);
    expect(format.batches).toEqual([3, 2]);
  });

  it("after its terminal error nothing is emitted, not even from the same batch", () => {
    const decoder = createDecoder(probe());
    expect(summaries(decoder.push(encoder.encode('1\n"fail"\n2\nbad\n')))).toEqual(["1", "provider-error!"]);
    expect([...decoder.push(encoder.encode("3\n")), ...decoder.end()]).toEqual([]);
  });

  it("that throws gives a terminal source-failed instead", () => {
    const decoder = createDecoder(probe());
    const chunks = decoder.push(encoder.encode('"throw"\n1\n'));
    expect(summaries(chunks)).toEqual(["source-failed!"]);
    expect(chunks[0]).toMatchObject({ message: expect.stringMatching(/"probe" threw while decoding: broken adapter/) });
    expect(decoder.isOver).toBe(true);
  });

  it("keeps its chunks unchanged: one with its frame is a copy", () => {
    const chunk = Object.freeze(textDelta("m", 0, "frozen"));
    const createAdapter = () => ({ feed: () => [chunk], flush: () => [], reset: () => undefined });
    const decoder = createDecoder({ ...probe(), createAdapter }, { keepRaw: true });
    expect(decoder.push(encoder.encode("1\n"))).toMatchObject([{ ...chunk, raw: { json: "1" } }]);
  });

  it("that throws in flush or reset, or returns no chunks, does no harm", () => {
    const throws = (): never => {
      throw new Error("no");
    };
    const feeds = [() => null, () => [null]] as unknown as (() => Chunk[])[];
    for (const feed of feeds) {
      let adapters = 0;
      const createAdapter = () => {
        adapters += 1;
        return { feed, flush: throws, reset: throws };
      };
      const decoder = createDecoder({ ...probe(), createAdapter }, { keepRaw: true });
      expect(summaries(decoder.push(encoder.encode("1\n")))).toEqual(["source-failed!"]);
      decoder.reset();
      expect(adapters).toBe(2);
      expect(summaries(decoder.end())).toEqual(["source-failed!"]);
    }
  });

  it("gets its options", () => {
    const seen: unknown[] = [];
    const format = probe();
    const adapter = { mode: "tape" } as const;
    createDecoder({ ...format, createAdapter: (options) => (seen.push(options), format.createAdapter()) }, { adapter });
    expect(seen).toEqual([adapter]);
  });
});

describe("keepRaw", () => {
  it("gives every chunk of a frame that frame, and the chunks are the same otherwise", () => {
    const input = '1\n"two"\nbad\n2';
    const chunks = decode(input, { keepRaw: true });
    expect(chunks.map((chunk) => chunk.raw?.json)).toEqual(["1", '"two"', '"two"', "bad", "2", undefined]);
    expect(chunks[1]?.raw?.bytes).toEqual(encoder.encode('"two"'));
    expect(summaries(chunks)).toEqual(summaries(decode(input)));
  });

  it("leaves a chunk that already has its frame unchanged", () => {
    const raw = { json: "own", bytes: encoder.encode("own") };
    const createAdapter = () => ({
      feed: () => [noticeItem("x", null, { raw })],
      flush: () => [],
      reset: () => undefined,
    });
    expect(decode("1\n", { keepRaw: true }, { ...probe(), createAdapter })[0]?.raw).toBe(raw);
  });

  it("is off by default", () => {
    expect(decode("1\n")[0]?.raw).toBeUndefined();
  });

  it("keeps copies: the caller may reuse its buffer", () => {
    const bytes = encoder.encode("123\n");
    const [chunk] = createDecoder(probe(), { keepRaw: true }).push(bytes);
    bytes.fill(0);
    expect(chunk?.raw?.bytes).toEqual(encoder.encode("123"));
  });

  it("keeps the data of an SSE event as its UTF-8", () => {
    const [chunk] = decode("event: x\ndata: é\n\n", { keepRaw: true }, probe("sse"));
    expect(chunk?.raw).toEqual({ json: "é", bytes: encoder.encode("é") });
  });
});

describe("laws", () => {
  it("R1 R2: any bytes in any framing, cut anywhere, never throw and end at most once", () => {
    const lines = fc.array(
      fc.constantFrom("1\n", "bad\n", '"fail"\n', '"throw"\n', '"two"\n', "data: 1\n\n", "\r\n", "{", "é"),
      { maxLength: 12 },
    );
    const noise = fc.oneof(
      lines.map((parts) => encoder.encode(parts.join(""))),
      fc.uint8Array({ maxLength: 60 }),
    );
    fc.assert(
      fc.property(
        noise,
        fc.nat(60),
        fc.constantFrom<Framing>("ndjson", "sse"),
        fc.boolean(),
        (bytes, cut, framing, keepRaw) => {
          const decoder = createDecoder(probe(framing), { keepRaw, limits: { maxLineBytes: 30, overflow: "skip" } });
          const halves = [...decoder.push(bytes.slice(0, cut)), ...decoder.push(bytes.slice(cut)), ...decoder.end()];
          const whole = decode(bytes, { keepRaw, limits: { maxLineBytes: 30, overflow: "skip" } }, probe(framing));
          // An adapter that throws loses its whole batch, and batches depend on the cut.
          if (!summaries(whole).includes("source-failed!")) expect(halves).toEqual(whole);
          const terminal = halves.findIndex((chunk) => chunk.type === "error" && chunk.terminal);
          expect(terminal === -1 || terminal === halves.length - 1).toBe(true);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
