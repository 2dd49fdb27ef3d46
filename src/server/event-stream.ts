import type { Clock } from "#domain";
import type { EventBatch, EventLog } from "#sessions";
import { Alarm } from "#streams";
import type { ReportOptions } from "#views";
import { encodeSse } from "#wire";
import { type BatchFrames, encodeFrames } from "./event-frames.ts";
import type { ServerLimits } from "./limits.ts";
import { createFrameEncoder, type StreamCursor, type Vocabulary } from "./sse-vocabulary.ts";

/** The common settings of event streams. */
export interface StreamSetting {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly limits: ServerLimits;
  readonly frame: (batch: EventBatch) => BatchFrames;
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: (() => Promise<void>) | undefined;
  /** Which tool results are artifacts or used documents. */
  readonly reports?: ReportOptions | undefined;
}

export interface StreamWanted {
  readonly runId: string;
  readonly cursor: StreamCursor;
  readonly vocabulary: Vocabulary;
  /** The stream has ended, from either side. Called once. */
  readonly onEnd: (how: "done" | "left" | "stalled" | "failed", why?: unknown) => void;
}

const encoder = new TextEncoder();
/** Sent at once, so that proxies and browsers know that the stream is open. A disconnected reader reconnects soon. */
const OPENING = encoder.encode(encodeSse({ retry: 1000 }));
const HEARTBEAT = encoder.encode(encodeSse({ comment: "ping" }));

/** The maximum size of a piece: a large batch is never buffered as a whole for one reader. */
const PIECE_BYTES = 262_144;

/** The output of a stream. It receives one piece at a time, and calls `ask` when that was taken. */
export interface StreamOutput {
  give(bytes: Uint8Array): void;
  /** The stream is complete. */
  end(): void;
  /** Closes the connection at once, without ending the stream properly. */
  breakOff(why: string): void;
}

/** The next step of a stream. */
type Step = IteratorResult<Uint8Array, undefined> | { readonly failure: unknown };

/**
 * A run's events as server-sent events from a cursor on. Nothing is read from the log before the reader has taken the
 * previous piece, so that a slow reader costs one piece of memory and delays no other reader. A reader that takes
 * nothing for too long is disconnected, and can resume at its cursor.
 */
export class EventStream {
  private readonly _setting: StreamSetting;
  private readonly _wanted: StreamWanted;
  private readonly _pieces: Pieces;
  /** Fires for one of two reasons: a heartbeat while the log is silent, or the end of a reader that takes nothing. */
  private readonly _alarm: Alarm;
  private _outlet: StreamOutput | undefined;
  private _isAsked = false;
  private _isReading = false;
  /** Arrived while the reader had not yet taken a heartbeat. */
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

  /** Sets the output. Call it once, before the first `ask`. */
  connect(outlet: StreamOutput): void {
    this._outlet = outlet;
  }

  /** The reader has taken everything and wants more, now or as soon as there is more. */
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

  /** The reader has disconnected. */
  leave(): void {
    this._finish("left");
  }

  // Created once rather than per piece, because it is passed on for every event.
  private readonly _take = (step: Step): void => {
    this._isReading = false;
    this._ready = undefined;
    if (this._isOver) return;
    if (!this._isAsked) {
      this._ready = step;
    } else if ("failure" in step) {
      // The stream breaks off without `done`: the reader reconnects, and by then the log may be readable again.
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
    // Last, because a waiting reader takes it at once and calls `ask` again.
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
  /** No more is wanted: a pending `next` ends. */
  leave(): void;
}

/** In pieces of bounded size. */
class PieceReader implements Pieces {
  private readonly _batches: AsyncIterableIterator<EventBatch, undefined>;
  private readonly _frame: (batch: EventBatch) => BatchFrames;
  private readonly _pieceBytes: number;
  private _rest: Uint8Array = NOTHING;
  /** The remaining slices of a large batch. */
  private _slices: Iterator<Uint8Array, undefined> | undefined;
  private readonly _nextTurn: (() => Promise<void>) | undefined;
  private _isAtDone = false;
  private _isLeft = false;

  constructor({ log, limits, frame, nextTurn, reports }: StreamSetting, { runId, cursor, vocabulary }: StreamWanted) {
    const encoder = vocabulary === "millrace" ? undefined : createFrameEncoder(vocabulary, cursor, reports);
    this._frame = encoder === undefined ? frame : (batch) => encodeFrames(encoder.encode(batch));
    this._nextTurn = nextTurn;
    this._batches = log.follow(runId, { after: encoder?.readFrom ?? cursor.seq });
    this._pieceBytes = Math.max(1, Math.min(PIECE_BYTES, limits.readerBytes));
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this._rest.length > 0) return Promise.resolve(this._cut());
    if (this._slices !== undefined) return this._nextSlice(this._slices);
    return this._batches.next().then(this._take);
  }

  /** In a separate turn of the event loop: for a fast reader, all slices would otherwise be encoded in one turn. */
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

  // Created once rather than per piece.
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
    // A vocabulary may have no frames for a batch.
    return this._rest.length > 0 ? this._cut() : this.next();
  };

  /** The next piece of the current bytes. */
  private _cut(): IteratorResult<Uint8Array, undefined> {
    const rest = this._rest;
    const isLast = rest.length <= this._pieceBytes;
    this._rest = isLast ? NOTHING : rest.subarray(this._pieceBytes);
    return { done: false, value: isLast ? rest : rest.subarray(0, this._pieceBytes) };
  }
}

/** A log that ends without `done` has lost its writer: the stream is broken, not ended. */
function requireDone(isEnded: boolean): void {
  if (!isEnded) throw new Error("The log broke off.");
}
