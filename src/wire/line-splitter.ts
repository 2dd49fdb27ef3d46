import { NOTHING, viewBytes } from "./bytes.ts";
import type { WireLimits } from "./frame.ts";
import { SEEN_BYTES } from "./limits.ts";
import { LONG_LINE } from "./line-ahead.ts";
import { readUtf8 } from "./utf8.ts";

const LONE_CR = /\r(?!\n)/g;
const LF = 0x0a;
const CR = 0x0d;
const LINE_FEED = Uint8Array.of(LF);
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);
// Most lines that are split by a read are completed by the next one; a kilobyte holds a usual line.
const FIRST_CAPACITY = 1024;
// At this size, allocated but unwritten memory costs nothing, while repeated copying does.
const LARGE_LINE = 1_048_576;
// Below this size a loop is cheaper than the view that `set` needs: a line may come byte by byte.
const FEW_BYTES = 48;

/**
 * Which bytes end a line. `lf`: a line feed; a carriage return directly before it belongs to the line end, any other is
 * part of the line. `any`: CR, LF and CRLF alike, as in SSE.
 */
export type LineEnds = "lf" | "any";

/** Receives the lines. Called during `push`, in the order of the bytes. */
export interface LineReader {
  /** One or more whole lines. Each ends in LF or CRLF, and none is over the limit. With `any` there is no other CR. */
  readLines(text: string): void;
  /**
   * A line that is not UTF-8, without its line end. The bytes are valid until the caller of `push` reuses its buffer.
   */
  readBadLine(bytes: Uint8Array): void;
  /**
   * A long line has arrived up to `end`. Called with growing parts of it, the last time when it is whole, directly
   * before `readLines` is called with it.
   */
  readAhead?(line: Uint8Array, end: number): void;
  /** A line is over the limit. `head` is its beginning. Called once per line, as soon as this is known. */
  readOverflow(head: Uint8Array): void;
}

/**
 * Splits bytes into lines, including blank ones, and skips a byte order mark at the start of the stream.
 *
 * A read is cut after its last line end while it is still bytes, so that no character is split. An unfinished line is
 * copied into a growing buffer: this is linear in the size of the line however small the pieces are, and needs at most
 * the limit plus one push.
 *
 * A class, because V8 optimises closures anew for every stream (measured: 2.5 × the cost).
 */
export class LineSplitter {
  private readonly _limits: WireLimits;
  private readonly _ends: LineEnds;
  private readonly _reader: LineReader;
  private _tail: Uint8Array = NOTHING;
  private _tailLength = 0;
  private _markSeen = 0;
  private _isSkipping = false;
  private _isOver = false;
  private _isAfterCr = false;
  // The positions of the next line feed and carriage return in the pushed bytes; searched for once, not once per line.
  private _nextLf = -1;
  private _nextCr = -1;

  constructor(limits: WireLimits, ends: LineEnds, reader: LineReader) {
    this._limits = limits;
    this._ends = ends;
    this._reader = reader;
  }

  push(bytes: Uint8Array): void {
    if (this._isOver || bytes.length === 0) return;
    let start = this._passStart(bytes);
    if (this._isSkipping || this._tailLength > 0) {
      const end = this._findEnd(bytes, start);
      if (end !== -1) {
        if (this._isSkipping) this._isSkipping = false;
        else this._finishTail(bytes, start, end);
        start = this._passEnd(bytes, end);
      }
    }
    const isWithinLine = this._isSkipping || this._tailLength > 0;
    const wholeEnd = isWithinLine || this._isOver ? start : bytes.lastIndexOf(LF) + 1;
    const text = this._readWhole(bytes, start, wholeEnd);
    if (text !== undefined) {
      this._reader.readLines(text);
      start = wholeEnd;
    }
    start = this._readByLine(bytes, start, isWithinLine ? -1 : this._findEnd(bytes, start));
    if (start < bytes.length && !this._isSkipping && !this._isOver) this._keepTail(bytes, start);
  }

  /** The text of all whole lines; `undefined` if they have to be read one by one. */
  private _readWhole(bytes: Uint8Array, start: number, end: number): string | undefined {
    if (end <= start || end - start > this._limits.maxLineBytes) return undefined;
    const text = readUtf8(bytes, start, end);
    return this._ends === "any" && text?.includes("\r") === true ? text.replaceAll(LONE_CR, "\n") : text;
  }

  /** Returns the start of the first incomplete line. */
  private _readByLine(bytes: Uint8Array, from: number, firstEnd: number): number {
    const maxLineBytes = this._limits.maxLineBytes;
    const isLf = this._ends === "lf";
    let start = from;
    let end = firstEnd;
    while (end !== -1 && !this._isOver) {
      const contentEnd = isLf && end > start && bytes[end - 1] === CR ? end - 1 : end;
      if (contentEnd - start > maxLineBytes) this._overflow(bytes, start, true);
      else {
        const text = readUtf8(bytes, start, end);
        if (text === undefined) this._reader.readBadLine(viewBytes(bytes, start, contentEnd));
        else this._reader.readLines(`${text}\n`);
      }
      start = this._passEnd(bytes, end);
      end = this._findEnd(bytes, start);
    }
    return start;
  }

  /** Ends the stream: returns what follows the last line end, possibly nothing. */
  end(): Uint8Array {
    this._restoreMark();
    // Without its line feed the last carriage return is part of the line, which is then one byte over the limit.
    if (this._tailLength > this._limits.maxLineBytes) this._overflow(NOTHING, 0, false);
    const rest = viewBytes(this._tail, 0, this._tailLength);
    this._forgetTail();
    return rest;
  }

  /** Clears all state, for another stream. */
  reset(): void {
    this._forgetTail();
    this._markSeen = 0;
    this._isSkipping = false;
    this._isOver = false;
    this._isAfterCr = false;
  }

  private _findEnd(bytes: Uint8Array, start: number): number {
    if (this._ends === "lf") return bytes.indexOf(LF, start);
    // An SSE event ends in a blank line, so every other search ends at once.
    if (start < bytes.length && (bytes[start] === LF || bytes[start] === CR)) return start;
    if (this._nextLf < start) this._nextLf = indexOrEnd(bytes, LF, start);
    // Searched only up to the line feed: most streams have no CR, and would be searched to the end each time.
    if (this._nextCr < start) this._nextCr = start + indexOrEnd(viewBytes(bytes, start, this._nextLf), CR, 0);
    const end = this._nextLf < this._nextCr ? this._nextLf : this._nextCr;
    return end === bytes.length ? -1 : end;
  }

  private _passEnd(bytes: Uint8Array, end: number): number {
    if (this._ends === "lf" || bytes[end] === LF) return end + 1;
    if (end + 1 === bytes.length) {
      this._isAfterCr = true;
      return end + 1;
    }
    return bytes[end + 1] === LF ? end + 2 : end + 1;
  }

  private _finishTail(bytes: Uint8Array, start: number, end: number): void {
    const total = this._tailLength + end - start;
    const last = end > start ? bytes[end - 1] : this._tail[this._tailLength - 1];
    const length = this._ends === "lf" && last === CR ? total - 1 : total;
    if (length > this._limits.maxLineBytes) {
      this._overflow(bytes, start, true);
      return;
    }
    this._append(bytes, start, end);
    this._append(LINE_FEED, 0, 1);
    const line = this._tail;
    const text = readUtf8(line, 0, total + 1);
    // The buffer now belongs to the reader, which may keep views of it.
    this._forgetTail();
    if (length > LONG_LINE) this._reader.readAhead?.(line, length);
    if (text === undefined) this._reader.readBadLine(viewBytes(line, 0, length));
    else this._reader.readLines(text);
  }

  private _keepTail(bytes: Uint8Array, start: number): void {
    const total = this._tailLength + bytes.length - start;
    if (total > this._allowed(bytes[bytes.length - 1])) this._overflow(bytes, start, false);
    else {
      this._append(bytes, start, bytes.length);
      // Its last byte may turn out to belong to the line end.
      if (this._tailLength > LONG_LINE) this._reader.readAhead?.(this._tail, this._tailLength - 1);
    }
  }

  /**
   * The maximum length of an unfinished line: one byte more while its last byte may turn out to belong to the line end.
   */
  private _allowed(lastByte: number | undefined): number {
    const { maxLineBytes } = this._limits;
    return this._ends === "lf" && lastByte === CR ? maxLineBytes + 1 : maxLineBytes;
  }

  private _append(bytes: Uint8Array, start: number, end: number): void {
    const length = this._tailLength + end - start;
    if (length > this._tail.length) {
      const wanted = Math.max(FIRST_CAPACITY, length * (length < LARGE_LINE ? 4 : 16));
      // A finished line takes up to two bytes more than the limit, for its line end.
      const grown = new Uint8Array(Math.max(length, Math.min(wanted, this._limits.maxLineBytes + 2)));
      grown.set(viewBytes(this._tail, 0, this._tailLength));
      this._tail = grown;
    }
    const tail = this._tail;
    const offset = this._tailLength - start;
    if (end - start > FEW_BYTES) tail.set(viewBytes(bytes, start, end), this._tailLength);
    else for (let index = start; index < end; index += 1) tail[offset + index] = bytes[index] as number;
    this._tailLength = length;
  }

  private _overflow(bytes: Uint8Array, start: number, isEnded: boolean): void {
    // Never longer than the limit, so that it does not depend on where the stream was split.
    const head = new Uint8Array(Math.min(SEEN_BYTES, this._limits.maxLineBytes));
    const kept = Math.min(this._tailLength, head.length);
    head.set(viewBytes(this._tail, 0, kept));
    head.set(viewBytes(bytes, start, start + head.length - kept), kept);
    this._forgetTail();
    if (this._limits.overflow === "end") this._isOver = true;
    else this._isSkipping = !isEnded;
    this._reader.readOverflow(head);
  }

  /** The start of the lines in newly pushed bytes: after a byte order mark, and after the LF of a split CRLF. */
  private _passStart(bytes: Uint8Array): number {
    this._nextLf = -1;
    this._nextCr = -1;
    const start = this._markSeen < BYTE_ORDER_MARK.length ? this._passMark(bytes) : 0;
    if (!this._isAfterCr) return start;
    this._isAfterCr = false;
    return bytes[start] === LF ? start + 1 : start;
  }

  /** The mark may come in pieces; bytes that only began like one are put back. */
  private _passMark(bytes: Uint8Array): number {
    let start = 0;
    while (this._markSeen < BYTE_ORDER_MARK.length && start < bytes.length) {
      if (bytes[start] !== BYTE_ORDER_MARK[this._markSeen]) {
        this._restoreMark();
        return start;
      }
      this._markSeen += 1;
      start += 1;
    }
    return start;
  }

  private _restoreMark(): void {
    const begun = this._markSeen % BYTE_ORDER_MARK.length;
    this._markSeen = BYTE_ORDER_MARK.length;
    if (begun > 0) this._keepTail(viewBytes(BYTE_ORDER_MARK, 0, begun), 0);
  }

  private _forgetTail(): void {
    this._tail = NOTHING;
    this._tailLength = 0;
  }
}

function indexOrEnd(bytes: Uint8Array, byte: number, start: number): number {
  const index = bytes.indexOf(byte, start);
  return index === -1 ? bytes.length : index;
}
