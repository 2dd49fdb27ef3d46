import type { ParsedJson } from "#domain";
import type { FaultCode, Frame, Framer, WireLimits } from "./frame.ts";
import { SimilarJsonReader } from "./json-shapes.ts";
import { resolveLimits } from "./limits.ts";
import { LineAhead } from "./line-ahead.ts";
import { type LineReader, LineSplitter } from "./line-splitter.ts";
import { overflowFault } from "./overflow-fault.ts";
import { readLoosely, readUtf8 } from "./utf8.ts";

const encoder = new TextEncoder();
const CR = 0x0d;
/** Never written to. */
const NO_FRAMES: Frame[] = [];

/**
 * A framer for `ndjson`: one JSON value per line.
 *
 * Lines end in LF or CRLF. Blank lines are ignored. A line that is not UTF-8 or not JSON is a fault with its exact
 * bytes, and the next line is read as usual. The `bytes` of a fault may be a view of the pushed bytes.
 *
 * @example
 * const framer = createNdjsonFramer();
 * framer.push(new TextEncoder().encode('{"a":1}\n')); // [{ kind: "data", value: { a: 1 }, … }]
 */
export function createNdjsonFramer(limits: Partial<WireLimits> = {}): Framer {
  const framer = new NdjsonFramer(resolveLimits(limits));
  // Separate functions, so that each also works when it is detached from the object.
  return { push: (bytes) => framer.push(bytes), end: () => framer.end(), reset: () => framer.reset() };
}

class NdjsonFramer implements Framer, LineReader {
  private readonly _limits: WireLimits;
  private readonly _splitter: LineSplitter;
  private readonly _json = new SimilarJsonReader();
  /**
   * The frames of the current push or end. A new array for each: one created in advance would be in the old generation
   * by the time it is used, and its contents would survive until the next full collection.
   */
  private _frames: Frame[] = NO_FRAMES;
  /** The long line that is being read. */
  private _ahead: LineAhead | undefined;

  constructor(limits: WireLimits) {
    this._limits = limits;
    this._splitter = new LineSplitter(limits, "lf", this);
  }

  push(bytes: Uint8Array): Frame[] {
    this._frames = [];
    this._splitter.push(bytes);
    return this._take();
  }

  end(): Frame[] {
    this._frames = [];
    const tail = this._splitter.end();
    if (tail.length > 0) this._readTail(tail);
    return this._take();
  }

  reset(): void {
    this._splitter.reset();
    this._ahead = undefined;
  }

  readLines(text: string): void {
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf("\n", start);
      const stop = end > start && text.charCodeAt(end - 1) === CR ? end - 1 : end;
      if (stop > start) this._readLine(text.slice(start, stop));
      start = end + 1;
    }
  }

  readAhead(line: Uint8Array, end: number): void {
    this._ahead ??= new LineAhead(0);
    this._ahead.readTo(line, end);
  }

  readBadLine(bytes: Uint8Array): void {
    this._ahead = undefined;
    this._addFault("utf8-decode", "The line is not UTF-8.", bytes, readLoosely(bytes));
  }

  readOverflow(head: Uint8Array): void {
    this._ahead = undefined;
    this._frames.push(overflowFault(head, this._limits));
  }

  private _parse(text: string): ParsedJson {
    const parsed = this._ahead?.end();
    this._ahead = undefined;
    return parsed ?? this._json.parse(text);
  }

  private _readLine(text: string): void {
    const { value, fault } = this._parse(text);
    if (fault === undefined) this._frames.push({ kind: "data", name: "", id: "", text, value });
    else if (!isBlank(text)) {
      this._addFault("json-decode", `The line is not JSON: ${fault}`, encoder.encode(text), text);
    }
  }

  /**
   * Reads the last line of a stream without a line end. It is a frame if it is JSON: truncated JSON would not parse.
   */
  private _readTail(tail: Uint8Array): void {
    this._ahead?.readTo(tail, tail.length);
    const text = readUtf8(tail, 0, tail.length);
    const parsed = text === undefined ? undefined : this._parse(text);
    if (text !== undefined && parsed?.fault === undefined) {
      this._frames.push({ kind: "data", name: "", id: "", text, value: parsed?.value });
    } else if (text === undefined || !isBlank(text)) {
      const shown = text ?? readLoosely(tail, tail.length);
      this._addFault("incomplete-last-line", "The stream ended within a line.", tail, shown);
    }
  }

  private _addFault(code: FaultCode, message: string, bytes: Uint8Array, text: string): void {
    this._frames.push({ kind: "fault", code, message, text, bytes });
  }

  private _take(): Frame[] {
    const taken = this._frames;
    this._frames = NO_FRAMES;
    return taken;
  }
}

/** Whether a text is only JSON white space. Checked only for text that did not parse. */
function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code !== 0x20 && code !== 0x09 && code !== 0x0d) return false;
  }
  return true;
}
