import { checkOptionNames, type Chunk, describeThrown, isDelta } from "#domain";
import type { Adapter, Format } from "#dialects";
import { createFramer, type Frame } from "#wire";
import { expectSound } from "./sound-chunks.ts";
import { expectSame, expectThat, type Failure, runTrials, type Trial } from "./conformance.ts";
import { HOSTILE_VALUES, hostileFrame, mutateBytes, mutateValue } from "./hostile-input.ts";
import { findUnsafe } from "./run-log/json-safe.ts";
import { findMisshapen, hasKnownType } from "./run-log/shape.ts";
import { createSeededRandom } from "./seeded-random.ts";

/** A captured stream that the format must decode. */
export interface FormatSample {
  readonly bytes: Uint8Array;
  /** The maximum number of cut positions that are tested, spread over the stream. Default 2000. */
  readonly maxCuts?: number;
  /** How many corrupted versions of the stream are tested. Default 300. */
  readonly spoilt?: number;
  /** The seed of the corrupted versions. Default 1. */
  readonly seed?: number;
}

const SAMPLE_NAMES = ["bytes", "maxCuts", "spoilt", "seed"] satisfies (keyof FormatSample)[];

/**
 * Tests a format against its contract, on one captured stream, and returns the failures. Works with any test runner.
 *
 * @example
 * assert.deepEqual(await checkFormat(ndjson, { bytes: await readFile("captured.ndjson") }), [])
 */
export function checkFormat(format: Format, sample: FormatSample): Promise<readonly Failure[]> {
  checkOptionNames(sample, SAMPLE_NAMES, "checkFormat");
  const { bytes, maxCuts = 2000, spoilt = 300, seed = 1 } = sample;
  // Decoded once, by the first adapter: later adapters must not depend on earlier ones.
  let first: readonly Chunk[] | undefined;
  const whole = (): readonly Chunk[] => (first ??= decode(format, [bytes]));
  const trials: readonly Trial<undefined>[] = [
    [
      "the same bytes give the same chunks, however they are cut",
      () => {
        const expected = comparable(format, whole());
        const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
        expectSame(comparable(format, decode(format, single)), expected, "byte by byte");
        for (const at of spread(bytes.length, maxCuts)) {
          const chunks = decode(format, [bytes.subarray(0, at), bytes.subarray(at)]);
          expectSame(comparable(format, chunks), expected, `cut at byte ${at}`);
        }
      },
    ],
    [
      "after a reset the same bytes give the same chunks again",
      () => {
        const adapter = format.createAdapter();
        for (const share of [0.3, 0.7, 1]) {
          feed(adapter, frames(format, [bytes.subarray(0, Math.floor(bytes.length * share))]));
          if (share === 1) adapter.flush();
          adapter.reset();
          const again = [...feed(adapter, frames(format, [bytes])), ...adapter.flush()];
          expectSame(comparable(format, again), comparable(format, whole()), `reset after ${share * 100} %`);
          adapter.reset();
        }
      },
    ],
    [
      "adapters of one format know nothing of each other",
      () => {
        const [left, right] = [format.createAdapter(), format.createAdapter()];
        const chunks: Chunk[] = [];
        for (const frame of frames(format, [bytes])) {
          chunks.push(...left.feed([frame]));
          for (const value of HOSTILE_VALUES) right.feed([hostileFrame(value)]);
          right.feed([frame, frame]);
        }
        expectSame(comparable(format, [...chunks, ...left.flush()]), comparable(format, whole()), "beside another");
      },
    ],
    ["its chunks keep the promises of the event model", () => expectSound(whole(), "the stream")],
    [
      "a stream that ends too early keeps them too",
      () => {
        const all = frames(format, [bytes]);
        for (const count of [0, ...spread(all.length, 300)]) {
          const adapter = format.createAdapter();
          expectSound([...feed(adapter, all.slice(0, count)), ...adapter.flush()], `the first ${count} frames`);
        }
      },
    ],
    [
      "nothing it is fed makes it throw, or give anything but well-formed chunks",
      () => {
        const random = createSeededRandom(seed);
        const values = frames(format, [bytes]).map((frame) => (frame.kind === "data" ? frame.value : undefined));
        for (const value of HOSTILE_VALUES) expectTame(format, [hostileFrame(value)]);
        for (let round = 0; round < spoilt; round += 1) {
          expectTame(format, frames(format, [mutateBytes(bytes, random)]));
          expectTame(
            format,
            values.map((value) => hostileFrame(random.next() < 0.2 ? mutateValue(value, random) : value)),
          );
        }
      },
    ],
  ];
  return runTrials(trials, () => undefined);
}

/** The frames of these pieces, without faults, which the decoder handles. */
function frames(format: Format, pieces: readonly Uint8Array[]): Frame[] {
  const framer = createFramer(format.framing);
  const found = pieces.flatMap((piece) => framer.push(piece));
  return [...found, ...framer.end()].filter((frame) => frame.kind === "data");
}

function decode(format: Format, pieces: readonly Uint8Array[]): Chunk[] {
  const framer = createFramer(format.framing);
  const adapter = format.createAdapter();
  const take = (found: readonly Frame[]): Chunk[] => adapter.feed(found.filter((frame) => frame.kind === "data"));
  return [...pieces.flatMap((piece) => take(framer.push(piece))), ...take(framer.end()), ...adapter.flush()];
}

function feed(adapter: Adapter, found: readonly Frame[]): Chunk[] {
  return adapter.feed(found);
}

function expectTame(format: Format, found: readonly Frame[]): void {
  const shown = (): string => JSON.stringify(found.map((frame) => frame.text)).slice(0, 300);
  let chunks: readonly Chunk[];
  try {
    const adapter = format.createAdapter();
    chunks = [...feed(adapter, found), ...adapter.flush()];
    adapter.reset();
  } catch (error) {
    throw new Error(`it threw ${describeThrown(error)} on ${shown()}`, { cause: error });
  }
  for (const chunk of chunks) {
    const { raw: _, ...bare } = chunk;
    const fault = hasKnownType(bare)
      ? (findUnsafe(bare) ?? findMisshapen({ ...bare, seq: 0, ts: 0, runId: "run-1" }))
      : "its type is unknown";
    expectThat(fault === undefined, `a chunk ${chunk.type} is not well-formed (${fault}) on ${shown()}`);
  }
}

/**
 * Chunks in a form that can be compared: a framing that follows the pieces may split a delta anywhere, so deltas are
 * joined.
 */
function comparable(format: Format, chunks: readonly Chunk[]): readonly unknown[] {
  if (format.framing !== "text") return chunks;
  const joined: Record<string, unknown>[] = [];
  for (const chunk of chunks) {
    const last = joined.at(-1);
    const { text, json, raw: _, ...rest } = chunk as Chunk & { readonly text?: string; readonly json?: string };
    const isNext = last !== undefined && isDelta(chunk) && JSON.stringify(last["rest"]) === JSON.stringify(rest);
    if (isNext) last["said"] = `${String(last["said"])}${text ?? json ?? ""}`;
    else joined.push({ rest, said: text ?? json ?? "" });
  }
  return joined;
}

/** Up to `most` integers from 1 to `end`, evenly spread. */
function spread(end: number, most: number): number[] {
  const count = Math.min(end, most);
  return Array.from({ length: count }, (_, at) => Math.max(1, Math.round(((at + 1) * end) / count)));
}
