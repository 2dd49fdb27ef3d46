import { isSameBytes, joinBytes, NOTHING, viewBytes, Viewer } from "./bytes.ts";
import type { Frame, Framer, WireLimits } from "./frame.ts";
import { parseJson } from "./json.ts";
import { resolveLimits, SEEN_BYTES } from "./limits.ts";
import type { LineReader } from "./line-splitter.ts";
import { LineSplitter } from "./line-splitter.ts";
import { overflowFault } from "./overflow-fault.ts";
import { isField, startOfValue } from "./sse-field.ts";
import { createStrictDecoder, readLoosely } from "./utf8.ts";

const encoder = new TextEncoder();
const DATA = encoder.encode("data");
const EVENT = encoder.encode("event");
const ID = encoder.encode("id");
const LINE_FEED = Uint8Array.of(0x0a);
const COLON = 0x3a;

/**
 * A framer for `sse`: one frame per event of a `text/event-stream`.
 *
 * `text` is the event's data, its lines joined by a line feed; `value` is `undefined` when that is not JSON (`[DONE]`).
 * Comments, `retry` and unknown fields give nothing, nor does an event without data. An event with bytes that are not
 * UTF-8 is a fault with its data as bytes; nothing is replaced. The limit holds for every line, and for the data lines
 * of an event together.
 *
 * @example
 * const framer = createSseFramer();
 * framer.push(new TextEncoder().encode('data: {"a":1}\n\n')); // [{ kind: "data", value: { a: 1 }, … }]
 */
export function createSseFramer(limits?: Partial<WireLimits>): Framer {
  const framer = new SseFramer(resolveLimits(limits));
  // Functions of their own, so that they work taken out of the object too.
  return { push: (bytes) => framer.push(bytes), end: () => framer.end(), reset: () => framer.reset() };
}

class SseFramer implements Framer, LineReader {
  readonly #limits: WireLimits;
  readonly #splitter: LineSplitter;
  readonly #decoder = createStrictDecoder();
  readonly #viewer = new Viewer();
  #frames: Frame[] = [];
  // The event being read. Its first line of data stands alone, because hardly any event has a second.
  #text: string | undefined;
  #moreLines: string[] = [];
  #dataBytes = 0;
  #name = "";
  #id = "";
  /** From the first field on that is not UTF-8: the data as pieces of bytes. */
  #badParts: Uint8Array[] | undefined;
  #isSkipping = false;
  #isOver = false;
  // A stream repeats a handful of names; comparing the last one is cheaper than reading it again.
  #lastName = "";
  #lastNameBytes: Uint8Array = NOTHING;

  constructor(limits: WireLimits) {
    this.#limits = limits;
    this.#splitter = new LineSplitter(limits, "any", this);
  }

  push(bytes: Uint8Array): Frame[] {
    if (!this.#isOver) this.#splitter.push(bytes);
    return this.#take();
  }

  end(): Frame[] {
    const tail = this.#splitter.end();
    if (!this.#isOver && !this.#isSkipping) this.#readEnd(tail);
    this.#forgetEvent();
    return this.#take();
  }

  reset(): void {
    this.#splitter.reset();
    this.#forgetEvent();
    this.#frames = [];
    this.#isOver = false;
  }

  readLine(bytes: Uint8Array, start: number, end: number): void {
    if (this.#isOver) return;
    if (start === end) this.#finishEvent();
    else if (this.#isSkipping) return;
    else if (isField(bytes, start, end, DATA)) this.#addData(bytes, start, end);
    else if (isField(bytes, start, end, EVENT)) this.#readName(bytes, startOfValue(bytes, start, end, EVENT), end);
    else if (isField(bytes, start, end, ID)) this.#readId(bytes, startOfValue(bytes, start, end, ID), end);
  }

  readOverflow(head: Uint8Array): void {
    // The event was given up already, for its lines together: one fault per event.
    if (this.#isOver || this.#isSkipping) return;
    this.#frames.push(overflowFault(head, this.#limits));
    this.#forgetEvent();
    if (this.#limits.overflow === "end") this.#isOver = true;
    else this.#isSkipping = true;
  }

  #addData(bytes: Uint8Array, start: number, end: number): void {
    const isFirst = this.#text === undefined;
    this.#dataBytes += isFirst ? end - start : end - start + 1;
    if (this.#dataBytes > this.#limits.maxLineBytes) {
      this.readOverflow(this.#dataAsBytes().slice(0, SEEN_BYTES));
      return;
    }
    const valueStart = startOfValue(bytes, start, end, DATA);
    const line = this.#badParts === undefined ? this.#read(bytes, valueStart, end) : undefined;
    if (line === undefined) this.#addBadLine(viewBytes(bytes, valueStart, end).slice(), isFirst);
    else if (isFirst) this.#text = line;
    else this.#moreLines.push(line);
  }

  #addBadLine(line: Uint8Array, isFirst: boolean): void {
    const parts = this.#markBad();
    if (!isFirst) parts.push(LINE_FEED);
    parts.push(line);
    this.#text ??= "";
  }

  #markBad(): Uint8Array[] {
    this.#badParts ??= this.#text === undefined ? [] : [encoder.encode(this.#dataText())];
    return this.#badParts;
  }

  #readName(bytes: Uint8Array, start: number, end: number): void {
    if (!isSameBytes(bytes, start, end, this.#lastNameBytes)) {
      const name = this.#read(bytes, start, end);
      if (name === undefined) {
        this.#markBad();
        return;
      }
      this.#lastName = name;
      this.#lastNameBytes = viewBytes(bytes, start, end).slice();
    }
    this.#name = this.#lastName;
  }

  #readId(bytes: Uint8Array, start: number, end: number): void {
    const id = this.#read(bytes, start, end);
    if (id === undefined) this.#markBad();
    // An id with a NUL is ignored, as the specification has it.
    else if (!id.includes("\0")) this.#id = id;
  }

  #read(bytes: Uint8Array, start: number, end: number): string | undefined {
    try {
      return this.#decoder.decode(this.#viewer.view(bytes, start, end));
    } catch {
      return undefined;
    }
  }

  #finishEvent(): void {
    if (this.#badParts !== undefined) {
      const bytes = joinBytes(this.#badParts);
      const message = "The event is not UTF-8.";
      this.#frames.push({ kind: "fault", code: "utf8-decode", message, text: readLoosely(bytes), bytes });
    } else if (this.#text !== undefined) {
      const text = this.#dataText();
      this.#addFrame(text, parseJson(text).value);
    }
    this.#forgetEvent();
  }

  #addFrame(text: string, value: unknown): void {
    this.#frames.push({ kind: "data", name: this.#name, id: this.#id, text, value, bytes: undefined });
  }

  /**
   * Reads what stands after the last blank line. An event whose data is JSON is whole: JSON that goes on would not be
   * JSON. An unfinished line counts as data or not at all, because half a name is another name.
   */
  #readEnd(tail: Uint8Array): void {
    let rest = tail[0] === COLON ? NOTHING : tail;
    if (tail[DATA.length] === COLON && isField(tail, 0, tail.length, DATA) && !this.#isWhole()) {
      this.#addData(tail, 0, tail.length);
      rest = NOTHING;
      if (this.#isOver || this.#isSkipping) return;
    }
    if (this.#isWhole()) this.#finishEvent();
    const unread = this.#text === undefined ? [] : [this.#dataAsBytes()];
    if (rest.length > 0) unread.push(...(unread.length > 0 ? [LINE_FEED, rest] : [rest]));
    const bytes = joinBytes(unread);
    if (bytes.length === 0) return;
    const message = "The stream ended within an event.";
    const text = readLoosely(bytes, bytes.length);
    this.#frames.push({ kind: "fault", code: "incomplete-last-line", message, text, bytes });
  }

  #isWhole(): boolean {
    return this.#badParts === undefined && this.#text !== undefined && parseJson(this.#dataText()).fault === undefined;
  }

  #dataText(): string {
    const text = this.#text ?? "";
    return this.#moreLines.length === 0 ? text : `${text}\n${this.#moreLines.join("\n")}`;
  }

  #dataAsBytes(): Uint8Array {
    return this.#badParts === undefined ? encoder.encode(this.#dataText()) : joinBytes(this.#badParts);
  }

  #forgetEvent(): void {
    this.#text = undefined;
    if (this.#moreLines.length > 0) this.#moreLines = [];
    this.#dataBytes = 0;
    this.#name = "";
    this.#id = "";
    this.#badParts = undefined;
    this.#isSkipping = false;
  }

  #take(): Frame[] {
    this.#viewer.forget();
    const taken = this.#frames;
    this.#frames = [];
    return taken;
  }
}
