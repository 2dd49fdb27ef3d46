import { describeThrown } from "#domain";
import { Viewer } from "./bytes.ts";
import type { FaultCode, Frame, Framer, WireLimits } from "./frame.ts";
import { isTooDeep, TOO_DEEP } from "./json.ts";
import { resolveLimits } from "./limits.ts";
import type { LineReader } from "./line-splitter.ts";
import { LineSplitter } from "./line-splitter.ts";
import { overflowFault } from "./overflow-fault.ts";
import { createStrictDecoder, readLoosely } from "./utf8.ts";

/**
 * A framer for `ndjson`: one JSON value per line.
 *
 * Lines end in LF or CRLF. Blank lines give nothing. A line that is not UTF-8 or not JSON is a fault with its exact
 * bytes, and the next line is read as usual. The `bytes` of a frame may be a view of the pushed bytes.
 *
 * @example
 * const framer = createNdjsonFramer();
 * framer.push(new TextEncoder().encode('{"a":1}\n')); // [{ kind: "data", value: { a: 1 }, … }]
 */
export function createNdjsonFramer(limits?: Partial<WireLimits>): Framer {
  const framer = new NdjsonFramer(resolveLimits(limits));
  // Functions of their own, so that they work taken out of the object too.
  return { push: (bytes) => framer.push(bytes), end: () => framer.end(), reset: () => framer.reset() };
}

class NdjsonFramer implements Framer, LineReader {
  readonly #limits: WireLimits;
  readonly #splitter: LineSplitter;
  readonly #decoder = createStrictDecoder();
  readonly #viewer = new Viewer();
  #frames: Frame[] = [];

  constructor(limits: WireLimits) {
    this.#limits = limits;
    this.#splitter = new LineSplitter(limits, "lf", this);
  }

  push(bytes: Uint8Array): Frame[] {
    this.#splitter.push(bytes);
    return this.#take();
  }

  end(): Frame[] {
    const tail = this.#splitter.end();
    if (tail.length > 0) this.#readTail(tail);
    return this.#take();
  }

  reset(): void {
    this.#splitter.reset();
    this.#frames = [];
  }

  readLine(bytes: Uint8Array, start: number, end: number): void {
    if (start === end) return;
    const line = this.#viewer.view(bytes, start, end);
    let text: string | undefined;
    // One `try` for the usual case, in which nothing is wrong; what was wrong is found out afterwards.
    try {
      text = this.#decoder.decode(line);
      const value: unknown = JSON.parse(text);
      if (isTooDeep(text, value)) this.#readFault(line, text, TOO_DEEP);
      else this.#frames.push({ kind: "data", name: "", id: "", text, value, bytes: line });
    } catch (thrown) {
      this.#readFault(line, text, describeThrown(thrown));
    }
  }

  readOverflow(head: Uint8Array): void {
    this.#frames.push(overflowFault(head, this.#limits));
  }

  #readFault(line: Uint8Array, text: string | undefined, reason: string): void {
    if (text === undefined) {
      this.#addFault("utf8-decode", "The line is not UTF-8.", line, readLoosely(line));
    } else if (!isBlank(text)) {
      this.#addFault("json-decode", `The line is not JSON: ${reason}`, line, text);
    }
  }

  #readTail(tail: Uint8Array): void {
    const before = this.#frames.length;
    this.readLine(tail, 0, tail.length);
    const last = this.#frames[before];
    if (last?.kind !== "fault") return;
    const text = last.code === "utf8-decode" ? readLoosely(tail, tail.length) : last.text;
    this.#frames.length = before;
    this.#addFault("incomplete-last-line", "The stream ended within a line.", tail, text);
  }

  #addFault(code: FaultCode, message: string, bytes: Uint8Array, text: string): void {
    this.#frames.push({ kind: "fault", code, message, text, bytes });
  }

  #take(): Frame[] {
    this.#viewer.forget();
    const taken = this.#frames;
    this.#frames = [];
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
