import type { EventBatch } from "#sessions";
import { encodeEventSse, encodeEventSseInSlices, measureJson } from "#wire";

/** The frames of a batch: as a whole, or in slices that are requested one at a time. */
export type BatchFrames = Uint8Array | Iterable<Uint8Array, undefined>;

/** How many batches are kept as bytes for the other readers of the same run. */
const RECENT_BATCHES = 32;

/**
 * A longer batch is encoded bit by bit, as its readers take it: all of it never exists at once as text or bytes. Well
 * above the amount a reader takes from the store at a time, so that this only affects single large events.
 */
const LARGE_BATCH = 1_048_576;
const SLICE_CHARACTERS = 65_536;

/** How many slices of a large batch are kept for readers that are slightly behind: four megabytes of ASCII. */
const RECENT_SLICES = 64;

const encoder = new TextEncoder();

/**
 * Encodes Millrace's own events. The frames are the same for every reader, so they are created once and shared as
 * bytes. Only the latest are kept, in a ring: live readers request them at once.
 */
export function createFrameCache(): (batch: EventBatch) => BatchFrames {
  const batches: EventBatch[] = [];
  const frames: Uint8Array[] = [];
  let next = 0;
  const large = new WeakMap<EventBatch, LargeBatch>();
  return (batch) => {
    const known = frames[batches.indexOf(batch)];
    if (known !== undefined) return known;
    if (isLarge(batch)) {
      const shared = large.get(batch) ?? new LargeBatch(batch);
      large.set(batch, shared);
      return shared;
    }
    // From Node's pool: a separate buffer for each event costs more than the event.
    const bytes = Buffer.from(frameAll(batch));
    batches[next] = batch;
    frames[next] = bytes;
    next = (next + 1) % RECENT_BATCHES;
    return bytes;
  };
}

function frameAll(batch: EventBatch): string {
  let text = "";
  for (const event of batch) text += encodeEventSse(event);
  return text;
}

function isLarge(batch: EventBatch): boolean {
  let characters = 0;
  for (const event of batch) {
    if (event.type === "text-delta" || event.type === "thinking-delta") characters += event.text.length;
    else characters += measureJson(event, LARGE_BATCH);
    if (characters > LARGE_BATCH) return true;
  }
  return false;
}

/**
 * A large batch in slices. Each is encoded when the first reader requests it, and shared with readers that are slightly
 * behind. For a reader that is far behind, the rest is encoded again.
 */
class LargeBatch implements Iterable<Uint8Array, undefined> {
  private readonly _batch: EventBatch;
  private readonly _writer: Iterator<Uint8Array, undefined>;
  /** The latest slices. */
  private readonly _recent: Uint8Array[] = [];
  private _written = 0;

  constructor(batch: EventBatch) {
    this._batch = batch;
    this._writer = writeSlices(batch);
  }

  *[Symbol.iterator](): Generator<Uint8Array, undefined> {
    let at = 0;
    while (at >= this._written - this._recent.length) {
      const slice = at === this._written ? this._write() : this._recent[at - this._written + this._recent.length];
      if (slice === undefined) return undefined;
      yield slice;
      at += 1;
    }
    const own = writeSlices(this._batch);
    for (let passed = 0; passed < at; passed += 1) own.next();
    return yield* own;
  }

  private _write(): Uint8Array | undefined {
    const slice = this._writer.next().value;
    if (slice === undefined) return undefined;
    this._recent.push(slice);
    if (this._recent.length > RECENT_SLICES) this._recent.shift();
    this._written += 1;
    return slice;
  }
}

function* writeSlices(batch: EventBatch): Generator<Uint8Array, undefined> {
  yield* encodePieces(writeAll(batch));
  return undefined;
}

function* writeAll(batch: EventBatch): Generator<string, undefined> {
  for (const event of batch) yield* encodeEventSseInSlices(event);
  return undefined;
}

/** The text for one reader as bytes: as a whole if it is short, otherwise bit by bit. */
export function encodeFrames(pieces: Iterable<string>): BatchFrames {
  const slices = encodePieces(pieces);
  const first = slices.next().value ?? new Uint8Array();
  return first.length < SLICE_CHARACTERS ? first : prepend(first, slices);
}

function* prepend(first: Uint8Array, rest: Iterable<Uint8Array>): Generator<Uint8Array, undefined> {
  yield first;
  yield* rest;
  return undefined;
}

/** Text as bytes, in slices of about the same size; only the last one is smaller. */
function* encodePieces(pieces: Iterable<string>): Generator<Uint8Array, undefined> {
  let waiting = "";
  for (const piece of pieces) {
    waiting += piece;
    if (waiting.length < SLICE_CHARACTERS) continue;
    yield encoder.encode(waiting);
    waiting = "";
  }
  if (waiting !== "") yield encoder.encode(waiting);
  return undefined;
}
