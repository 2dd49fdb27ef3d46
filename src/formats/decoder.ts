import type { Chunk, Raw } from "#domain";
import { describeThrown, errorItem } from "#domain";
import type { FaultyFrame, Frame, Framer, WireLimits } from "#wire";
import { createFramer, DEFAULT_WIRE_LIMITS, MAX_CONSECUTIVE_FAULTS, rawOf } from "#wire";
import { cutText, faultChunk, SEEN_LENGTH, tooManyFaultsError } from "./decoder-faults.ts";
import type { Adapter, AdapterOptions, Format } from "./format.ts";

export interface DecoderOptions {
  readonly limits?: Partial<WireLimits>;
  /** Gives every chunk the exact frame it came from. Costs a copy of every frame. Off by default. */
  readonly keepRaw?: boolean;
  /** Passed to the adapter. */
  readonly adapter?: AdapterOptions;
}

/**
 * Bytes in, chunks out: a framing, an adapter and what happens to frames that cannot be read.
 *
 * A frame that cannot be read is a non-terminal `error` in its place among the chunks; the fifth in a row is a
 * terminal `too-many-decode-errors`. After a terminal `error`, its own or the adapter's, nothing more comes out until
 * `reset`. No method throws, whatever the bytes, and whatever the adapter does.
 */
export interface Decoder {
  push(bytes: Uint8Array): Chunk[];
  /** The stream is over: what was held back, and the adapter's verdict. */
  end(): Chunk[];
  /** Forgets everything; ready for another stream. */
  reset(): void;
  /** Whether nothing more comes out: there was a terminal `error`, or `end` was called. */
  readonly isOver: boolean;
  /** The last frame that could not be read, cut to a readable size: often the only trace of why a program failed. */
  readonly lastNonJsonLine: string | undefined;
}

/**
 * A decoder for one stream of that format.
 *
 * @example
 * const decoder = createDecoder(openAiChat);
 * for await (const bytes of body) show(decoder.push(bytes));
 * show(decoder.end());
 */
export function createDecoder(format: Format, options: DecoderOptions = {}): Decoder {
  const decoder = new StreamDecoder(format, options);
  // Functions of their own, so that they work taken out of the object too.
  return {
    push: (bytes) => decoder.push(bytes),
    end: () => decoder.end(),
    reset: () => decoder.reset(),
    get isOver() {
      return decoder.isOver;
    },
    get lastNonJsonLine() {
      return decoder.lastNonJsonLine;
    },
  };
}

class StreamDecoder implements Decoder {
  readonly #format: Format;
  readonly #options: DecoderOptions;
  readonly #framer: Framer;
  readonly #limitBytes: number;
  #adapter: Adapter;
  #faultsInARow = 0;
  #isOver = false;
  #lastNonJsonLine: string | undefined;

  constructor(format: Format, options: DecoderOptions) {
    this.#format = format;
    this.#options = options;
    this.#limitBytes = options.limits?.maxLineBytes ?? DEFAULT_WIRE_LIMITS.maxLineBytes;
    this.#framer = createFramer(format.framing, options.limits);
    this.#adapter = format.createAdapter(options.adapter);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get lastNonJsonLine(): string | undefined {
    return this.#lastNonJsonLine;
  }

  push(bytes: Uint8Array): Chunk[] {
    return this.#isOver ? [] : this.#decode(this.#framer.push(bytes));
  }

  end(): Chunk[] {
    if (this.#isOver) return [];
    const chunks = this.#decode(this.#framer.end());
    if (!this.#isOver) this.#add(chunks, () => this.#adapter.flush());
    this.#isOver = true;
    return chunks;
  }

  reset(): void {
    this.#framer.reset();
    try {
      this.#adapter.reset();
    } catch {
      this.#adapter = this.#format.createAdapter(this.#options.adapter);
    }
    this.#faultsInARow = 0;
    this.#isOver = false;
    this.#lastNonJsonLine = undefined;
  }

  /** Good frames go to the adapter in batches as large as can be; one by one where every chunk needs its frame. */
  #decode(frames: readonly Frame[]): Chunk[] {
    const keepRaw = this.#options.keepRaw === true;
    if (!keepRaw && frames.length > 0 && frames.every(isData)) return this.#decodeGood(frames);
    const chunks: Chunk[] = [];
    let start = 0;
    for (let index = 0; index < frames.length; index += 1) {
      const frame = frames[index] as Frame;
      if (frame.kind === "data" && !keepRaw) continue;
      this.#feed(chunks, frames, start, index);
      if (!this.#isOver) {
        if (frame.kind === "fault") this.#addFault(chunks, frame);
        else this.#feed(chunks, frames, index, index + 1, frame);
      }
      if (this.#isOver) return chunks;
      start = index + 1;
    }
    this.#feed(chunks, frames, start, frames.length);
    return chunks;
  }

  /** The usual case, without a copy: nothing but good frames, and what they give. */
  #decodeGood(frames: readonly Frame[]): Chunk[] {
    this.#faultsInARow = 0;
    try {
      const chunks = this.#adapter.feed(frames);
      const end = chunks.findIndex(isTerminal);
      if (end === -1) return chunks;
      this.#isOver = true;
      return chunks.slice(0, end + 1);
    } catch (thrown) {
      return [this.#breakOff(thrown)];
    }
  }

  #feed(chunks: Chunk[], frames: readonly Frame[], start: number, end: number, rawFrame?: Frame): void {
    if (start === end) return;
    this.#faultsInARow = 0;
    const batch = end - start === frames.length ? frames : frames.slice(start, end);
    this.#add(chunks, () => this.#adapter.feed(batch), rawFrame);
  }

  #addFault(chunks: Chunk[], frame: FaultyFrame): void {
    const isCounted = frame.code !== "buffer-overflow" && frame.code !== "incomplete-last-line";
    if (isCounted) this.#faultsInARow += 1;
    if (frame.code !== "buffer-overflow") this.#lastNonJsonLine = cutText(frame.text, SEEN_LENGTH);
    const isOneTooMany = isCounted && this.#faultsInARow >= MAX_CONSECUTIVE_FAULTS;
    const chunk = isOneTooMany ? tooManyFaultsError(frame) : faultChunk(frame, this.#limitBytes);
    chunks.push(chunk);
    if (chunk.type === "error" && chunk.terminal) this.#isOver = true;
  }

  /** Adds what the adapter makes, up to a terminal error. An adapter that throws has broken its promise; ours holds. */
  #add(chunks: Chunk[], make: () => readonly Chunk[], rawFrame?: Frame): void {
    let raw: Raw | undefined;
    try {
      for (const chunk of make()) {
        if (rawFrame !== undefined && chunk.raw === undefined) {
          raw ??= rawOf(rawFrame);
          // A chunk is not an event yet, so it may still be completed.
          (chunk as { raw?: Raw }).raw = raw;
        }
        this.#isOver = isTerminal(chunk);
        chunks.push(chunk);
        if (this.#isOver) return;
      }
    } catch (thrown) {
      chunks.push(this.#breakOff(thrown));
    }
  }

  #breakOff(thrown: unknown): Chunk {
    this.#isOver = true;
    return errorItem({
      code: "source-failed",
      message: `The format "${this.#format.name}" threw while decoding: ${describeThrown(thrown)}`,
      terminal: true,
      diagnostic: { hint: "This is a fault of the format, not of the stream. Report it to the format's author." },
    });
  }
}

function isData(frame: Frame): boolean {
  return frame.kind === "data";
}

function isTerminal(chunk: Chunk): boolean {
  return chunk.type === "error" && chunk.terminal;
}
