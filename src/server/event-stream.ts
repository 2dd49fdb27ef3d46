import type { Clock } from "#domain";
import type { EventBatch, EventLog } from "#sessions";
import { Alarm } from "#streams";
import type { ReportOptions } from "#views";
import { encodeSse } from "#wire";
import { type BatchFrames, encodeFrames } from "./event-frames.ts";
import type { ServerLimits } from "./limits.ts";
import { createFrameEncoder, type StreamCursor, type Vocabulary } from "./sse-vocabulary.ts";

/** What streams of events have in common. */
export interface StreamSetting {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly limits: ServerLimits;
  readonly frame: (batch: EventBatch) => BatchFrames;
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: (() => Promise<void>) | undefined;
  /** What tool results mean to the application. */
  readonly reports?: ReportOptions | undefined;
}

export interface StreamWanted {
  readonly runId: string;
  readonly cursor: StreamCursor;
  readonly vocabulary: Vocabulary;
  /** The stream is over, whoever ended it. Called once. */
  readonly onEnd: (how: "done" | "left" | "stalled" | "failed", why?: unknown) => void;
}

const encoder = new TextEncoder();
/** The first bytes, at once: proxies and browsers then know that the stream is open. A cut reader comes back soon. */
const OPENING = encoder.encode(encodeSse({ retry: 1000 }));
const HEARTBEAT = encoder.encode(encodeSse({ comment: "ping" }));

/** What is handed over at a time, at most: the whole of a large batch never waits in one reader's buffer. */
const PIECE_BYTES = 262_144;

/** Where a stream goes. It is given one piece, and says with `ask` when that was taken. */
export interface StreamOutput {
  give(bytes: Uint8Array): void;
  /** The stream is over, and complete. */
  end(): void;
  /** Ends the connection at once, without an end of the stream. */
  breakOff(why: string): void;
}

/** What a stream has for its reader next. */
type Step = IteratorResult<Uint8Array, undefined> | { readonly failure: unknown };

/**
 * A run's events as server-sent events from a cursor on. Nothing is read from the log before the reader has taken what
 * it was given, so that a slow one costs one piece of memory and nobody else's time. One that takes nothing for too
 * long is cut off, and can come back to its cursor.
 */
export class EventStream {
  private readonly _setting: StreamSetting;
  private readonly _wanted: StreamWanted;
  private readonly _pieces: Pieces;
  /** Two things can be due: a sign of life while the log is silent, the end of a reader that takes nothing. */
  private readonly _alarm: Alarm;
  private _outlet: StreamOutput | undefined;
  private _isAsked = false;
  private _isReading = false;
  /** Came while the reader had not yet taken a heartbeat. */
  private _ready: Step | undefined;
  private _hasBeaten = false;
  private _isOpen = false;
  private _isOver = false;

  constructor(setting: StreamSetting, wanted: StreamWanted) {
    this._setting = setting;
    this._wanted = wanted;
    this._alarm = new Alarm(setting.clock);
    this._pieces = new PieceReader(setting, wanted);
  }

  /** Says where the stream goes. Once, before anything is asked for. */
  connect(outlet: StreamOutput): void {
    this._outlet = outlet;
  }

  /** The reader has taken what there was, and wants more: now, or when there is more. */
  ask(): void {
    if (this._isOver) return;
    this._isAsked = true;
    if (!this._isOpen) {
      this._isOpen = true;
      this._give(OPENING);
      return;
    }
    if (this._ready !== undefined) return this._take(this._ready);
    const { firstHeartbeatMs, heartbeatMs } = this._setting.limits;
    this._alarm.set(this._hasBeaten ? heartbeatMs : firstHeartbeatMs, this._beat);
    if (this._isReading) return;
    this._isReading = true;
    this._pieces.next().then(this._take, this._fail);
  }

  /** The reader is gone. */
  leave(): void {
    this._finish("left");
  }

  // Made once and not per piece: these are handed over for every event.
  private readonly _take = (step: Step): void => {
    this._isReading = false;
    this._ready = undefined;
    if (this._isOver) return;
    if (!this._isAsked) {
      this._ready = step;
    } else if ("failure" in step) {
      // The stream breaks off without `done`: the reader comes back, and by then the log may have it.
      this._finish("failed", step.failure);
      this._outlet?.breakOff("The event log cannot be read.");
    } else if (step.done === true) {
      this._finish("done");
      this._outlet?.end();
    } else {
      this._hasBeaten = false;
      this._give(step.value);
    }
  };
  private readonly _fail = (failure: unknown): void => this._take({ failure });
  private readonly _beat = (): void => {
    this._hasBeaten = true;
    this._give(HEARTBEAT);
  };
  private readonly _cut = (): void => {
    this._finish("stalled");
    this._outlet?.breakOff("The reader took nothing for too long.");
  };

  private _give(bytes: Uint8Array): void {
    this._isAsked = false;
    this._alarm.set(this._setting.limits.stallMs, this._cut);
    // Last: a reader that waits takes it at once, and asks for more.
    this._outlet?.give(bytes);
  }

  private _finish(how: "done" | "left" | "stalled" | "failed", why?: unknown): void {
    if (this._isOver) return;
    this._isOver = true;
    this._alarm.stop();
    this._pieces.leave();
    this._wanted.onEnd(how, why);
  }
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };
const NOTHING = new Uint8Array();

/** A run's frames, piece by piece. */
interface Pieces {
  next(): Promise<IteratorResult<Uint8Array, undefined>>;
  /** Nobody wants more: who waits is told that it is over. */
  leave(): void;
}

/** In pieces of bounded size. A class and no generator: it is asked once per event. */
class PieceReader implements Pieces {
  private readonly _batches: AsyncIterableIterator<EventBatch, undefined>;
  private readonly _frame: (batch: EventBatch) => BatchFrames;
  private readonly _pieceBytes: number;
  private _rest: Uint8Array = NOTHING;
  /** What is still to be written of a large batch. */
  private _slices: Iterator<Uint8Array, undefined> | undefined;
  private readonly _nextTurn: (() => Promise<void>) | undefined;
  private _isAtDone = false;
  private _isLeft = false;

  constructor({ log, limits, frame, nextTurn, reports }: StreamSetting, { runId, cursor, vocabulary }: StreamWanted) {
    const teller = vocabulary === "millrace" ? undefined : createFrameEncoder(vocabulary, cursor, reports);
    this._frame = teller === undefined ? frame : (batch) => encodeFrames(teller.tell(batch));
    this._nextTurn = nextTurn;
    this._batches = log.follow(runId, { after: teller?.readFrom ?? cursor.seq });
    this._pieceBytes = Math.max(1, Math.min(PIECE_BYTES, limits.readerBytes));
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this._rest.length > 0) return Promise.resolve(this._cut());
    if (this._slices !== undefined) return this._nextSlice(this._slices);
    return this._batches.next().then(this._take);
  }

  /** In a turn of its own: a reader that takes everything at once would otherwise have all of it written in one. */
  private async _nextSlice(slices: Iterator<Uint8Array, undefined>): Promise<IteratorResult<Uint8Array, undefined>> {
    await this._nextTurn?.();
    const slice = slices.next();
    if (slice.done === true) {
      this._slices = undefined;
      return await this.next();
    }
    this._rest = slice.value;
    return this._cut();
  }

  leave(): void {
    this._isLeft = true;
    this._batches.return?.().catch(() => undefined);
  }

  // Made once and not per piece.
  private readonly _take = (
    step: IteratorResult<EventBatch, undefined>,
  ): IteratorResult<Uint8Array, undefined> | Promise<IteratorResult<Uint8Array, undefined>> => {
    if (step.done === true) {
      requireDone(this._isAtDone || this._isLeft);
      return END;
    }
    this._isAtDone = step.value.at(-1)?.type === "done";
    const frames = this._frame(step.value);
    if (frames instanceof Uint8Array) this._rest = frames;
    else this._slices = frames[Symbol.iterator]();
    // A vocabulary may have nothing to say about a batch.
    return this._rest.length > 0 ? this._cut() : this.next();
  };

  /** The next piece of what there is. */
  private _cut(): IteratorResult<Uint8Array, undefined> {
    const rest = this._rest;
    const isLast = rest.length <= this._pieceBytes;
    this._rest = isLast ? NOTHING : rest.subarray(this._pieceBytes);
    return { done: false, value: isLast ? rest : rest.subarray(0, this._pieceBytes) };
  }
}

/** A log that ends without `done` has lost its writer: that is a broken stream, and no end. */
function requireDone(isEnded: boolean): void {
  if (!isEnded) throw new Error("The log broke off.");
}
