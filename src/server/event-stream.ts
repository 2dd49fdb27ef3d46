import type { Clock } from "#domain";
import type { EventBatch, EventLog } from "#sessions";
import { encodeSse } from "#wire";
import type { ServerLimits } from "./limits.ts";
import type { FailPointName } from "./options.ts";
import { createTeller, type StreamCursor, type Vocabulary } from "./sse-vocabulary.ts";

/** What streams of events have in common. */
export interface StreamSetting {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly limits: ServerLimits;
  readonly frame: (batch: EventBatch) => Uint8Array;
  readonly failPoint: ((name: FailPointName) => Promise<void> | void) | undefined;
}

export interface StreamWanted {
  readonly runId: string;
  readonly cursor: StreamCursor;
  readonly vocabulary: Vocabulary;
  /** Ends the connection at once: the reader takes nothing any more. */
  readonly cut: (() => void) | undefined;
  /** The stream is over, whoever ended it. Called once. */
  readonly onEnd: (how: "done" | "left" | "stalled" | "failed") => void;
}

const encoder = new TextEncoder();
/** The first bytes, at once: proxies and browsers then know that the stream is open. A cut reader comes back soon. */
const OPENING = encoder.encode(encodeSse({ retry: 1000 }));
const HEARTBEAT = encoder.encode(encodeSse({ comment: "ping" }));

/** What is handed over at a time, at most: the whole of a large batch never waits in one reader's buffer. */
const PIECE_BYTES = 262_144;

export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // `no-transform`: a proxy that packs the stream would hold it back.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/**
 * A run's events as server-sent events from a cursor on. Pulled: nothing is read from the log before the reader has
 * taken what it was given, so that a slow one costs one piece of memory and nobody else's time. One that takes nothing
 * for too long is cut off, and can come back to its cursor.
 */
export function createEventStream(setting: StreamSetting, wanted: StreamWanted): ReadableStream<Uint8Array> {
  return new ReadableStream(new EventStreamSource(setting, wanted), { highWaterMark: 0 });
}

class EventStreamSource {
  private readonly _setting: StreamSetting;
  private readonly _wanted: StreamWanted;
  private readonly _stop = new AbortController();
  private readonly _pieces: AsyncIterator<Uint8Array>;
  private _next: Promise<IteratorResult<Uint8Array>> | undefined;
  private _takeBackStall: (() => void) | undefined;
  private _hasBeaten = false;
  private _isOpen = false;
  private _isOver = false;

  constructor(setting: StreamSetting, wanted: StreamWanted) {
    this._setting = setting;
    this._wanted = wanted;
    this._pieces = readPieces(setting, wanted, this._stop.signal);
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this._takeBackStall?.();
    if (!this._isOpen) {
      this._isOpen = true;
      this._give(controller, OPENING);
      return;
    }
    const step = await this._nextOrBeat();
    if (this._isOver) return;
    if (step === "beat") {
      this._hasBeaten = true;
      this._give(controller, HEARTBEAT);
    } else if (step === "failed") {
      // The stream breaks off without `done`: the reader comes back, and by then the log may have it.
      this._finish("failed");
      this._breakOff(controller, "The event log cannot be read.");
    } else if (step.done === true) {
      this._finish("done");
      controller.close();
    } else {
      this._next = undefined;
      this._hasBeaten = false;
      this._give(controller, step.value);
    }
  }

  cancel(): void {
    this._finish("left");
  }

  private _give(controller: ReadableStreamDefaultController<Uint8Array>, bytes: Uint8Array): void {
    controller.enqueue(bytes);
    this._takeBackStall = this._setting.clock.after(this._setting.limits.stallMs, () => {
      this._finish("stalled");
      this._breakOff(controller, "The reader took nothing for too long.");
    });
  }

  /** What comes first: something to tell, or the time for a sign of life. */
  private async _nextOrBeat(): Promise<IteratorResult<Uint8Array> | "beat" | "failed"> {
    this._next ??= this._pieces.next();
    const { firstHeartbeatMs, heartbeatMs } = this._setting.limits;
    let takeBack: (() => void) | undefined;
    const beat = new Promise<"beat">((resolve) => {
      const ms = this._hasBeaten ? heartbeatMs : firstHeartbeatMs;
      takeBack = this._setting.clock.after(ms, () => resolve("beat"));
    });
    try {
      return await Promise.race([this._next, beat]);
    } catch {
      return "failed";
    } finally {
      takeBack?.();
    }
  }

  /** Ends the connection where there is one; a reader without a socket gets an error. */
  private _breakOff(controller: ReadableStreamDefaultController<Uint8Array>, why: string): void {
    const { cut } = this._wanted;
    if (cut === undefined) controller.error(new Error(why));
    else cut();
  }

  private _finish(how: "done" | "left" | "stalled" | "failed"): void {
    if (this._isOver) return;
    this._isOver = true;
    this._takeBackStall?.();
    this._stop.abort();
    this._next?.catch(() => undefined);
    this._wanted.onEnd(how);
  }
}

/** A run's frames in pieces of bounded size. */
async function* readPieces(
  { log, limits, frame, failPoint }: StreamSetting,
  { runId, cursor, vocabulary }: StreamWanted,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, undefined> {
  const teller = vocabulary === "millrace" ? undefined : createTeller(vocabulary, cursor);
  const piece = Math.max(1, Math.min(PIECE_BYTES, limits.readerBytes));
  let isAtDone = false;
  for await (const batch of log.follow(runId, { after: teller?.readFrom ?? cursor.seq, signal })) {
    isAtDone = batch.at(-1)?.type === "done";
    if (failPoint !== undefined && teller === undefined) {
      yield* breakable(batch, frame, failPoint);
      continue;
    }
    const bytes = teller === undefined ? frame(batch) : encoder.encode(teller.tell(batch).join(""));
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
  }
  // A log that ends without `done` has lost its writer: that is a broken stream, and no end.
  if (!isAtDone && !signal.aborted) throw new Error("The log broke off.");
  return undefined;
}

/** Frame by frame, each in two halves, with places in between where a test may stop the world. */
async function* breakable(
  batch: EventBatch,
  frame: (batch: EventBatch) => Uint8Array,
  failPoint: (name: FailPointName) => Promise<void> | void,
): AsyncGenerator<Uint8Array, undefined> {
  for (const event of batch) {
    const bytes = frame([event]);
    const half = bytes.length >> 1;
    yield bytes.subarray(0, half);
    await failPoint("inside-frame");
    yield bytes.subarray(half);
    await failPoint("after-emit");
  }
  return undefined;
}
