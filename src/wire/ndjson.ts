import { viewBytes } from "./bytes.ts";
import type { DataFrame, FaultCode, FindSaying, Frame, Framer, FramerOptions, ReadText, WireLimits } from "./frame.ts";
import { parseJson } from "./json.ts";
import { resolveLimits } from "./limits.ts";
import type { LineReader } from "./line-splitter.ts";
import { LineSplitter } from "./line-splitter.ts";
import { overflowFault } from "./overflow-fault.ts";
import { Repeats } from "./repeats.ts";
import { readLoosely, readUtf8 } from "./utf8.ts";

const encoder = new TextEncoder();
const CR = 0x0d;
/** Never written to. */
const NO_FRAMES: Frame[] = [];

/**
 * A framer for `ndjson`: one JSON value per line.
 *
 * Lines end in LF or CRLF. Blank lines give nothing. A line that is not UTF-8 or not JSON is a fault with its exact
 * bytes, and the next line is read as usual. The `bytes` of a fault may be a view of the pushed bytes.
 *
 * @example
 * const framer = createNdjsonFramer();
 * framer.push(new TextEncoder().encode('{"a":1}\n')); // [{ kind: "data", value: { a: 1 }, … }]
 */
export function createNdjsonFramer(options: FramerOptions = {}): Framer {
  const framer = new NdjsonFramer(resolveLimits(options), options.readText ?? readUtf8, options.findSaying);
  // Functions of their own, so that they work taken out of the object too.
  return { push: (bytes) => framer.push(bytes), end: () => framer.end(), reset: () => framer.reset() };
}

class NdjsonFramer implements Framer, LineReader {
  private readonly _limits: WireLimits;
  private readonly _decode: ReadText;
  private readonly _splitter: LineSplitter;
  private readonly _repeats: Repeats | undefined;
  /**
   * What this push or end has given so far. A new list for each: one that was made beforehand would be old by the time
   * it is used, and what an old list holds outlives it until the next full collection.
   */
  private _frames: Frame[] = NO_FRAMES;

  constructor(limits: WireLimits, readText: ReadText, findSaying: FindSaying | undefined) {
    this._limits = limits;
    this._decode = readText;
    this._repeats = findSaying === undefined ? undefined : new Repeats(findSaying);
    this._splitter = new LineSplitter(limits, "lf", this, readText);
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
    this._repeats?.forget();
  }

  readLines(text: string): void {
    const repeats = this._repeats;
    for (let start = 0; start < text.length; ) {
      if (repeats !== undefined) start = repeats.read(text, start, this._frames);
      const end = text.indexOf("\n", start);
      if (end === -1) return;
      const stop = end > start && text.charCodeAt(end - 1) === CR ? end - 1 : end;
      const frame = stop > start ? this._readText(text.slice(start, stop)) : undefined;
      if (frame !== undefined) repeats?.learn(text, { from: start, lineFrom: start, lineTo: stop, to: end + 1 }, frame);
      start = end + 1;
    }
  }

  readLine(bytes: Uint8Array, start: number, end: number): void {
    if (start === end) return;
    const text = this._decode(bytes, start, end);
    if (text !== undefined) {
      this._readText(text);
      return;
    }
    const line = viewBytes(bytes, start, end);
    this._addFault("utf8-decode", "The line is not UTF-8.", line, readLoosely(line));
  }

  readOverflow(head: Uint8Array): void {
    this._frames.push(overflowFault(head, this._limits));
  }

  /** The line's frame, if it is JSON. */
  private _readText(text: string): DataFrame | undefined {
    const { value, fault } = parseJson(text);
    if (fault === undefined) {
      const frame: DataFrame = { kind: "data", name: "", id: "", text, value, like: undefined };
      this._frames.push(frame);
      return frame;
    }
    if (!isBlank(text)) this._addFault("json-decode", `The line is not JSON: ${fault}`, encoder.encode(text), text);
    return undefined;
  }

  private _readTail(tail: Uint8Array): void {
    const before = this._frames.length;
    this.readLine(tail, 0, tail.length);
    const last = this._frames[before];
    if (last?.kind !== "fault") return;
    const text = last.code === "utf8-decode" ? readLoosely(tail, tail.length) : last.text;
    this._frames.length = before;
    this._addFault("incomplete-last-line", "The stream ended within a line.", tail, text);
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

/** Nothing but JSON's own white space. Asked only of what did not parse. */
function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code !== 0x20 && code !== 0x09 && code !== 0x0d) return false;
  }
  return true;
}
