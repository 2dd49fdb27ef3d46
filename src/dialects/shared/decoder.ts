import { checkNames, checkOptionNames, type Chunk, describeThrown, errorItem, type Raw } from "#domain";
import {
  createFramer,
  DEFAULT_WIRE_LIMITS,
  type FaultyFrame,
  type Frame,
  type Framer,
  MAX_CONSECUTIVE_FAULTS,
  rawOf,
  type WireLimits,
} from "#wire";
import { cutText, faultChunk, SEEN_LENGTH, tooManyFaultsError } from "./decoder-faults.ts";
import type { Adapter, AdapterOptions, Format } from "./format.ts";

/** The options of `createDecoder`. */
export interface DecoderOptions {
  readonly limits?: Partial<WireLimits>;
  /** Attaches to every chunk the exact frame it came from. Copies every frame. Default: off. */
  readonly keepRaw?: boolean;
  /** Passed to the adapter. */
  readonly adapter?: AdapterOptions;
}

const OPTION_NAMES = ["limits", "keepRaw", "adapter"] satisfies (keyof DecoderOptions)[];
const ADAPTER_NAMES = ["mode", "ownTool", "hasSeveralRuns", "keepRaw"] satisfies (keyof AdapterOptions)[];

/**
 * Bytes in, chunks out: a framing and an adapter, with a rule for frames that cannot be read.
 *
 * An unreadable frame is a non-terminal `error` in its position among the chunks; the fifth in a row is a terminal
 * `too-many-decode-errors`. After a terminal `error`, from the decoder or the adapter, nothing more is emitted until
 * `reset`. No method throws, whatever the bytes are and whatever the adapter does.
 */
export interface Decoder {
  push(bytes: Uint8Array): Chunk[];
  /**
   * Continues with what the last `push` left for later because it takes long, such as arguments of many megabytes; `[]`
   * when nothing is left. Call it in a later turn of the event loop; otherwise the next `push` or `end` returns the rest.
   */
  rest(): Chunk[];
  /** The stream is over: returns what was held back, and the adapter's verdict. */
  end(): Chunk[];
  /** Resets all state, for another stream. */
  reset(): void;
  /** Whether nothing more will be emitted: after a terminal `error` or `end`. */
  readonly isOver: boolean;
  /** The last unreadable frame, cut to a readable size: often the only trace of why a program failed. */
  readonly lastNonJsonLine: string | undefined;
}

/**
 * Creates a decoder for one stream of a format.
 *
 * @example
 * const decoder = createDecoder(openAiChat)
 * for await (const bytes of createReadStream("captured.sse")) console.log(decoder.push(bytes))
 * console.log(decoder.end())
 */
export function createDecoder(format: Format, options: DecoderOptions = {}): Decoder {
  checkOptionNames(options, OPTION_NAMES, "createDecoder");
  checkNames(options.limits ?? {}, Object.keys(DEFAULT_WIRE_LIMITS), "limits.");
  checkNames(options.adapter ?? {}, ADAPTER_NAMES, "adapter.");
  return new StreamDecoder(format, options);
}

class StreamDecoder implements Decoder {
  private readonly _format: Format;
  private readonly _options: DecoderOptions;
  private readonly _framer: Framer;
  private readonly _limitBytes: number;
  private _adapter: Adapter;
  private _faultsInARow = 0;
  private _isOver = false;
  private _lastNonJsonLine: string | undefined;

  constructor(format: Format, options: DecoderOptions) {
    this._format = format;
    this._options = options;
    this._limitBytes = options.limits?.maxLineBytes ?? DEFAULT_WIRE_LIMITS.maxLineBytes;
    this._framer = createFramer(format.framing, options.limits);
    this._adapter = this._createAdapter();
  }

  get isOver(): boolean {
    return this._isOver;
  }

  get lastNonJsonLine(): string | undefined {
    return this._lastNonJsonLine;
  }

  push(bytes: Uint8Array): Chunk[] {
    return this._isOver ? [] : this._decode(this._framer.push(bytes));
  }

  rest(): Chunk[] {
    const chunks: Chunk[] = [];
    if (!this._isOver) this._add(chunks, () => this._adapter.rest?.() ?? []);
    return chunks;
  }

  end(): Chunk[] {
    if (this._isOver) return [];
    const chunks = this._decode(this._framer.end());
    if (!this._isOver) this._add(chunks, () => this._adapter.flush());
    this._isOver = true;
    return chunks;
  }

  reset(): void {
    this._framer.reset();
    try {
      this._adapter.reset();
    } catch {
      this._adapter = this._createAdapter();
    }
    this._faultsInARow = 0;
    this._isOver = false;
    this._lastNonJsonLine = undefined;
  }

  private _createAdapter(): Adapter {
    const { adapter, keepRaw } = this._options;
    return this._format.createAdapter(keepRaw === true ? { ...adapter, keepRaw } : adapter);
  }

  /**
   * Passes good frames to the adapter in batches as large as possible, or one by one if every chunk needs its frame.
   */
  private _decode(frames: readonly Frame[]): Chunk[] {
    const keepRaw = this._options.keepRaw === true;
    if (!keepRaw && isAllGood(frames)) return this._decodeGood(frames);
    const chunks: Chunk[] = [];
    let start = 0;
    for (let index = 0; index < frames.length; index += 1) {
      const frame = frames[index] as Frame;
      if (frame.kind !== "fault" && !keepRaw) continue;
      this._feed(chunks, frames, start, index);
      if (!this._isOver) {
        if (frame.kind === "fault") this._addFault(chunks, frame);
        else this._feed(chunks, frames, index, index + 1, frame);
      }
      if (this._isOver) return chunks;
      start = index + 1;
    }
    this._feed(chunks, frames, start, frames.length);
    return chunks;
  }

  /** The usual case, without a copy: all frames are good. */
  private _decodeGood(frames: readonly Frame[]): Chunk[] {
    this._faultsInARow = 0;
    try {
      const chunks = this._adapter.feed(frames);
      const end = findTerminal(chunks);
      if (end === -1) return chunks;
      this._isOver = true;
      return chunks.slice(0, end + 1);
    } catch (thrown) {
      return [this._breakOff(thrown)];
    }
  }

  private _feed(chunks: Chunk[], frames: readonly Frame[], start: number, end: number, rawFrame?: Frame): void {
    if (start === end) return;
    this._faultsInARow = 0;
    const batch = end - start === frames.length ? frames : frames.slice(start, end);
    this._add(chunks, () => this._adapter.feed(batch), rawFrame);
  }

  private _addFault(chunks: Chunk[], frame: FaultyFrame): void {
    const isCounted = frame.code !== "buffer-overflow" && frame.code !== "incomplete-last-line";
    if (isCounted) this._faultsInARow += 1;
    if (frame.code !== "buffer-overflow") this._lastNonJsonLine = cutText(frame.text, SEEN_LENGTH);
    const isOneTooMany = isCounted && this._faultsInARow >= MAX_CONSECUTIVE_FAULTS;
    const chunk = isOneTooMany ? tooManyFaultsError(frame) : faultChunk(frame, this._limitBytes);
    chunks.push(chunk);
    if (isTerminal(chunk)) this._isOver = true;
    else this._noteGap(chunks);
  }

  private _noteGap(chunks: Chunk[]): void {
    try {
      this._adapter.noteGap?.();
    } catch (thrown) {
      chunks.push(this._breakOff(thrown));
    }
  }

  /** Adds the adapter's chunks, up to a terminal error. If the adapter throws, the stream ends with an error. */
  private _add(chunks: Chunk[], make: () => readonly Chunk[], rawFrame?: Frame): void {
    let raw: Raw | undefined;
    try {
      for (const chunk of make()) {
        if (rawFrame !== undefined) raw ??= rawOf(rawFrame);
        this._isOver = isTerminal(chunk);
        chunks.push(raw === undefined || chunk.raw !== undefined ? chunk : { ...chunk, raw });
        if (this._isOver) return;
      }
    } catch (thrown) {
      chunks.push(this._breakOff(thrown));
    }
  }

  private _breakOff(thrown: unknown): Chunk {
    this._isOver = true;
    return errorItem({
      code: "source-failed",
      message: `The format "${this._format.name}" threw while decoding: ${describeThrown(thrown)}`,
      terminal: true,
      diagnostic: { hint: "This is a fault of the format, not of the stream. Report it to the format's author." },
    });
  }
}

// Loops, not `every` and `findIndex`: this runs for each batch, and a call per frame is measurable.

function isAllGood(frames: readonly Frame[]): boolean {
  for (let index = 0; index < frames.length; index += 1) if ((frames[index] as Frame).kind === "fault") return false;
  return frames.length > 0;
}

function findTerminal(chunks: readonly Chunk[]): number {
  for (let index = 0; index < chunks.length; index += 1) if (isTerminal(chunks[index] as Chunk)) return index;
  return -1;
}

function isTerminal(chunk: Chunk): boolean {
  return chunk.type === "error" && chunk.terminal;
}
