import type { ParsedJson } from "#domain";
import { joinBytes, NOTHING, viewBytes } from "./bytes.ts";
import type { Frame, Framer, WireLimits } from "./frame.ts";
import { parseJson } from "./json.ts";
import { SimilarJsonReader } from "./json-shapes.ts";
import { resolveLimits, SEEN_BYTES } from "./limits.ts";
import { LineAhead } from "./line-ahead.ts";
import { type LineReader, LineSplitter } from "./line-splitter.ts";
import { overflowFault } from "./overflow-fault.ts";
import { readLoosely, readUtf8 } from "./utf8.ts";

const encoder = new TextEncoder();
const LINE_FEED = Uint8Array.of(0x0a);
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
/** Longer than every known field name with its colon and space. */
const HEAD_BYTES = 8;
/** Never written to. */
const NO_FRAMES: Frame[] = [];

/**
 * A framer for `sse`: one frame per event of a `text/event-stream`.
 *
 * `text` is the event's data, its lines joined by a line feed; `value` is `undefined` if that is not JSON (`[DONE]`).
 * Comments, `retry`, unknown fields and events without data are ignored. An event with bytes that are not UTF-8 is a
 * fault with its data as bytes, unchanged. The limit applies to every line, and to the data lines of an event together.
 *
 * @example
 * const framer = createSseFramer();
 * framer.push(new TextEncoder().encode('data: {"a":1}\n\n')); // [{ kind: "data", value: { a: 1 }, … }]
 */
export function createSseFramer(limits: Partial<WireLimits> = {}): Framer {
  const framer = new SseFramer(resolveLimits(limits));
  // Separate functions, so that each also works when it is detached from the object.
  return { push: (bytes) => framer.push(bytes), end: () => framer.end(), reset: () => framer.reset() };
}

class SseFramer implements Framer, LineReader {
  private readonly _limits: WireLimits;
  private readonly _splitter: LineSplitter;
  private readonly _json = new SimilarJsonReader();
  /**
   * The frames of the current push or end. A new array for each: one created in advance would be in the old generation
   * by the time it is used, and its contents would survive until the next full collection.
   */
  private _frames: Frame[] = NO_FRAMES;
  // The current event. Its first data line is stored separately, because few events have a second.
  private _text: string | undefined;
  private _moreLines: string[] = [];
  /** The total length of its data lines; counted from the second one on. */
  private _dataBytes = 0;
  /** The length of the prefix before the value in its first data line. */
  private _prefix = 0;
  private _name = "";
  private _id = "";
  /** From the first field that is not UTF-8 on: the data as pieces of bytes. */
  private _badParts: Uint8Array[] | undefined;
  /** The long data line that is being read, and its JSON value once it is whole. */
  private _ahead: LineAhead | undefined;
  private _parsed: ParsedJson | undefined;
  private _isSkipping = false;
  private _isOver = false;

  constructor(limits: WireLimits) {
    this._limits = limits;
    this._splitter = new LineSplitter(limits, "any", this);
  }

  push(bytes: Uint8Array): Frame[] {
    this._frames = [];
    if (!this._isOver) this._splitter.push(bytes);
    return this._take();
  }

  end(): Frame[] {
    this._frames = [];
    const tail = this._splitter.end();
    if (!this._isOver && !this._isSkipping) this._readEnd(tail);
    this._forgetEvent();
    return this._take();
  }

  reset(): void {
    this._splitter.reset();
    this._forgetEvent();
    this._isOver = false;
  }

  readLines(text: string): void {
    for (let start = 0; start < text.length && !this._isOver; ) {
      const end = text.indexOf("\n", start);
      const stop = end > start && text.charCodeAt(end - 1) === CR ? end - 1 : end;
      if (stop === start) this._finishEvent();
      else if (!this._isSkipping) this._readField(text, start, stop);
      start = end + 1;
    }
  }

  readAhead(line: Uint8Array, end: number): void {
    if (this._ahead === undefined) {
      const value = valueStart(headOf(line), "data", 0, end);
      if (this._text !== undefined || value === -1) return;
      this._ahead = new LineAhead(value);
    }
    this._ahead.readTo(line, end);
  }

  /** A line that is not UTF-8 makes its event a fault, unless it is an ignored field. */
  readBadLine(bytes: Uint8Array): void {
    if (this._isOver || this._isSkipping) return;
    // Field names are ASCII.
    const head = headOf(bytes);
    const value = valueStart(head, "data", 0, bytes.length);
    if (value !== -1) {
      this._markBad();
      this._addMore(viewBytes(bytes, value, bytes.length).slice(), "", value);
    } else if (valueStart(head, "event", 0, bytes.length) !== -1 || valueStart(head, "id", 0, bytes.length) !== -1) {
      this._markBad();
    }
  }

  readOverflow(head: Uint8Array): void {
    // The event was already rejected because of its total length: one fault per event.
    if (this._isOver || this._isSkipping) return;
    this._frames.push(overflowFault(head, this._limits));
    this._forgetEvent();
    if (this._limits.overflow === "end") this._isOver = true;
    else this._isSkipping = true;
  }

  private _readField(text: string, start: number, end: number): void {
    let value = valueStart(text, "data", start, end);
    if (value !== -1) {
      this._addData(text.slice(value, end), value - start);
      return;
    }
    value = valueStart(text, "event", start, end);
    if (value !== -1) {
      this._name = text.slice(value, end);
      return;
    }
    value = valueStart(text, "id", start, end);
    const id = value === -1 ? "\0" : text.slice(value, end);
    // An id that contains NUL is ignored, as the specification requires.
    if (!id.includes("\0")) this._id = id;
  }

  private _addData(line: string, prefix: number): void {
    if (this._text === undefined && this._badParts === undefined) {
      this._text = line;
      this._prefix = prefix;
      this._parsed = this._ahead?.end();
      this._ahead = undefined;
    } else this._addMore(encoder.encode(line), line, prefix);
  }

  /** A data line that is not the first, or belongs to an unreadable event. */
  private _addMore(bytes: Uint8Array, line: string, prefix: number): void {
    const isFirst = this._text === undefined;
    if (this._dataBytes === 0 && !isFirst) this._dataBytes = this._prefix + this._dataAsBytes().length;
    this._dataBytes += prefix + bytes.length + (isFirst ? 0 : 1);
    if (this._dataBytes > this._limits.maxLineBytes) {
      this.readOverflow(this._dataAsBytes().slice(0, SEEN_BYTES));
      return;
    }
    if (this._badParts === undefined) this._moreLines.push(line);
    else this._badParts.push(...(isFirst ? [bytes] : [LINE_FEED, bytes]));
    this._text ??= "";
  }

  private _markBad(): Uint8Array[] {
    this._badParts ??= this._text === undefined ? [] : [encoder.encode(this._dataText())];
    return this._badParts;
  }

  private _finishEvent(): void {
    if (this._badParts !== undefined) {
      const bytes = joinBytes(this._badParts);
      const message = "The event is not UTF-8.";
      this._frames.push({ kind: "fault", code: "utf8-decode", message, text: readLoosely(bytes), bytes });
    } else if (this._text !== undefined) {
      const text = this._dataText();
      const parsed = this._moreLines.length === 0 ? this._parsed : undefined;
      const value = parsed === undefined ? this._readValue(text) : parsed.value;
      this._frames.push({ kind: "data", name: this._name, id: this._id, text, value });
    }
    this._forgetEvent();
  }

  /**
   * Reads what follows the last blank line. An event whose data is JSON is complete: truncated JSON would not parse. An
   * unfinished line counts as data or not at all, because half a field name is another name.
   */
  private _readEnd(tail: Uint8Array): void {
    let rest = tail[0] === COLON ? NOTHING : tail;
    if (readLoosely(tail, "data:".length) === "data:" && !this._isWhole()) {
      const line = readUtf8(tail, 0, tail.length);
      if (line === undefined) this.readBadLine(tail);
      else this._readField(line, 0, line.length);
      rest = NOTHING;
      if (this._isOver || this._isSkipping) return;
    }
    if (this._isWhole()) this._finishEvent();
    const unread = this._text === undefined ? [] : [this._dataAsBytes()];
    if (rest.length > 0) unread.push(...(unread.length > 0 ? [LINE_FEED, rest] : [rest]));
    const bytes = joinBytes(unread);
    if (bytes.length === 0) return;
    const message = "The stream ended within an event.";
    const text = readLoosely(bytes, bytes.length);
    this._frames.push({ kind: "fault", code: "incomplete-last-line", message, text, bytes });
  }

  private _isWhole(): boolean {
    return this._badParts === undefined && this._text !== undefined && parseJson(this._dataText()).fault === undefined;
  }

  private _dataText(): string {
    const text = this._text ?? "";
    return this._moreLines.length === 0 ? text : `${text}\n${this._moreLines.join("\n")}`;
  }

  private _dataAsBytes(): Uint8Array {
    return this._badParts === undefined ? encoder.encode(this._dataText()) : joinBytes(this._badParts);
  }

  private _readValue(text: string): unknown {
    return text === END_MARK ? undefined : this._json.parse(text).value;
  }

  private _forgetEvent(): void {
    this._text = undefined;
    if (this._moreLines.length > 0) this._moreLines = [];
    this._dataBytes = 0;
    this._name = "";
    this._id = "";
    this._badParts = undefined;
    this._ahead = undefined;
    this._parsed = undefined;
    this._isSkipping = false;
  }

  private _take(): Frame[] {
    const taken = this._frames;
    this._frames = NO_FRAMES;
    return taken;
  }
}

/** The end mark of many senders. It is not JSON, and finding that out by an exception costs more than a whole event. */
const END_MARK = "[DONE]";

/** The beginning of a line, which contains the field name. */
function headOf(bytes: Uint8Array): string {
  return String.fromCharCode(...viewBytes(bytes, 0, Math.min(bytes.length, HEAD_BYTES)));
}

/** The start of a field's value: after the colon and one space. -1: the line is another field. */
function valueStart(text: string, name: string, start: number, end: number): number {
  const nameEnd = start + name.length;
  if (nameEnd > end || !text.startsWith(name, start)) return -1;
  if (nameEnd === end) return end;
  if (text.charCodeAt(nameEnd) !== COLON) return -1;
  return nameEnd + 1 < end && text.charCodeAt(nameEnd + 1) === SPACE ? nameEnd + 2 : nameEnd + 1;
}
