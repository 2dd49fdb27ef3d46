import type { ParsedJson } from "#domain";
import { parseJson } from "./json.ts";

/** A longer text is parsed as usual: it is rarely one of many similar ones. */
const MAX_LENGTH = 16_384;
/** Only shapes up to these sizes are learned. */
const MAX_LEARNED_LENGTH = 4096;
const MAX_VALUES = 64;
const MAX_DEPTH = 32;
const MAX_SHAPES = 32;
/** How many shapes a reader tries before it parses as usual. */
const MAX_TRIED = 4;
/** A shape whose texts differ in ever more places is not worth learning again. */
const MAX_VERSIONS = 8;
/** The texts of a stream that are parsed as usual first: for a short reply, learning would cost more than it saves. */
const FIRST_PLAIN = 4;
// A text that has a known shape earns credit, a text that was compared in vain costs it. Without credit, a number of
// texts are parsed as usual before the next attempt, each time twice as many.
const START_CREDIT = 64;
const MAX_CREDIT = 256;
const MISS_COST = 8;
const FIRST_PAUSE = 512;
const LONGEST_PAUSE = 65_536;
const CREDIT_AFTER_PAUSE = 16;
/** V8 represents longer parts of a text as a reference to the whole, which would then be kept in memory. */
const LONGEST_COPIED_SLICE = 12;

const STRING = String.raw`([^"\\\x00-\x1f]*(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*)*)`;
const NUMBER = String.raw`(-?(?:0|[1-9]\d{0,14}))`;
const SPACE = String.raw`[ \t\r\n]*`;

/** One value of a shape. A `string` or `number` differs from text to text, a `constant` is the same in all. */
interface Part {
  kind: "constant" | "string" | "number" | "object" | "list";
  value: unknown;
  readonly names: string[];
  readonly members: Part[];
}

/** A text split at its strings and numbers: `gaps[n]` stands before the n-th, and the last gap after all of them. */
interface SplitText {
  readonly root: Part;
  /** The strings and numbers in their order. Keys are not among them. */
  readonly values: readonly Part[];
  readonly texts: readonly string[];
  readonly gaps: readonly string[];
  /** What all texts of the same shape have in common: the gaps without white space. */
  readonly skeleton: string;
}

class Shape {
  pattern: RegExp | undefined;
  versions = 0;
  private readonly _first: SplitText;
  private readonly _isOpen: boolean[];
  private readonly _isLoose: boolean[];

  constructor(first: SplitText) {
    this._first = first;
    this._isOpen = first.values.map(() => false);
    this._isLoose = first.gaps.map(() => false);
  }

  /** Widens the shape so that it includes this text too. */
  include(other: SplitText): void {
    this.versions += 1;
    for (let at = 0; at < this._isOpen.length; at += 1) {
      if (this._first.texts[at] !== other.texts[at]) this._isOpen[at] = true;
    }
    for (let at = 0; at < this._isLoose.length; at += 1) {
      if (this._first.gaps[at] !== other.gaps[at]) this._isLoose[at] = true;
    }
    for (const [at, part] of this._first.values.entries()) {
      if (this._isOpen[at] === true) part.kind = typeof part.value === "string" ? "string" : "number";
    }
    this.pattern = this._isOpen.includes(true) || this._isLoose.includes(true) ? this._write() : undefined;
  }

  /** The value of a text; `undefined` if the text has another shape. */
  read(text: string): ParsedJson | undefined {
    const found = this.pattern?.exec(text);
    if (found === null || found === undefined) return undefined;
    try {
      return { value: build(this._first.root, { texts: found, next: 1 }) };
    } catch {
      // An invalid escape in a string. The message is that of the whole text.
      return undefined;
    }
  }

  private _write(): RegExp {
    let source = "^";
    for (let at = 0; at < this._first.gaps.length; at += 1) {
      const gap = this._first.gaps[at] as string;
      source += this._isLoose[at] === true ? writeLooseGap(gap) : escape(gap);
      const part = this._first.values[at];
      if (part === undefined) break;
      if (this._isOpen[at] !== true) source += escape(this._first.texts[at] as string);
      else source += part.kind === "string" ? `"${STRING}"` : NUMBER;
    }
    return new RegExp(`${source}$`);
  }
}

/** The texts of the open places, and the number of the next one. */
interface Found {
  readonly texts: RegExpExecArray;
  next: number;
}

/** Creates the value anew each time: nothing is shared between two texts. */
function build(part: Part, found: Found): unknown {
  switch (part.kind) {
    case "constant":
      return part.value;
    case "string":
      return readString(found.texts[found.next++] as string);
    case "number":
      return Number(found.texts[found.next++]);
    case "list": {
      const list: unknown[] = [];
      for (const member of part.members) list.push(build(member, found));
      return list;
    }
    default: {
      const record: Record<string, unknown> = {};
      const { names, members } = part;
      for (let at = 0; at < names.length; at += 1) record[names[at] as string] = build(members[at] as Part, found);
      return record;
    }
  }
}

function readString(found: string): string {
  if (found.includes("\\")) return JSON.parse(`"${found}"`) as string;
  return found.length > LONGEST_COPIED_SLICE ? ` ${found}`.slice(1) : found;
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/** A gap with any white space where JSON allows it. Its keys are kept as they are. */
function writeLooseGap(gap: string): string {
  const tokens = gap.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[a-z]+/g) ?? [];
  return SPACE + tokens.map((token) => escape(token) + SPACE).join("");
}

/** Splits a text that is known to be JSON. `undefined`: it is too large, too deep, or has the key `__proto__`. */
export function splitJson(text: string): SplitText | undefined {
  const values: Part[] = [];
  const texts: string[] = [];
  const gaps: string[] = [];
  const open: Part[] = [];
  let root: Part | undefined;
  let name: string | undefined;
  let gapStart = 0;
  let skeleton = "";
  const token = /[ \t\r\n]*(?:("(?:[^"\\]|\\[^])*")|(-?\d[\d.eE+-]*)|(true|false|null)|([[\]{},:]))/y;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [, string, number, word, mark] = found;
    const parent = open.at(-1);
    if (mark === "," || mark === ":") skeleton += mark;
    else if (mark === "]" || mark === "}") {
      skeleton += mark;
      open.pop();
    } else if (string !== undefined && parent?.kind === "object" && name === undefined) {
      name = JSON.parse(string) as string;
      if (name === "__proto__") return undefined;
      skeleton += string;
    } else {
      const part = openPart(mark, string ?? number ?? word);
      if (parent === undefined) root = part;
      else {
        if (name !== undefined) parent.names.push(name);
        parent.members.push(part);
        name = undefined;
      }
      if (mark !== undefined) {
        open.push(part);
        if (open.length > MAX_DEPTH) return undefined;
        skeleton += mark;
      } else if (word !== undefined) skeleton += word;
      else {
        const written = (string ?? number) as string;
        const start = token.lastIndex - written.length;
        values.push(part);
        if (values.length > MAX_VALUES) return undefined;
        texts.push(written);
        gaps.push(text.slice(gapStart, start));
        gapStart = token.lastIndex;
        skeleton += string === undefined ? "0" : "_";
      }
    }
    if (token.lastIndex === text.length) break;
  }
  gaps.push(text.slice(gapStart));
  return root === undefined ? undefined : { root, values, texts, gaps, skeleton };
}

function openPart(mark: string | undefined, written: string | undefined): Part {
  const kind = mark === "{" ? "object" : mark === "[" ? "list" : "constant";
  return { kind, value: written === undefined ? undefined : JSON.parse(written), names: [], members: [] };
}

/** The shapes that the streams of a process have in common. */
export class JsonShapes {
  private readonly _shapes = new Map<string, Shape>();

  /** Learns from a text that no shape of the reader fits. Returns the shape that now fits it. */
  learn(text: string): Shape | undefined {
    const split = text.length > MAX_LEARNED_LENGTH ? undefined : splitJson(text);
    if (split === undefined || split.values.length === 0) return undefined;
    const known = this._shapes.get(split.skeleton);
    if (known === undefined) {
      this._shapes.set(split.skeleton, new Shape(split));
      const [oldest] = this._shapes.keys();
      if (this._shapes.size > MAX_SHAPES && oldest !== undefined) this._shapes.delete(oldest);
      return undefined;
    }
    this._shapes.delete(split.skeleton);
    this._shapes.set(split.skeleton, known);
    if (known.pattern?.test(text) !== true) {
      if (known.versions === MAX_VERSIONS) return undefined;
      known.include(split);
    }
    return known;
  }
}

const sharedShapes = new JsonShapes();

/**
 * Parses the texts of one stream exactly as `parseJson` does, with less work for texts that differ from an earlier one
 * in some strings, numbers and white space only, as most events of a model do. For other streams it costs next to
 * nothing more, because it stops comparing when too few texts are alike.
 *
 * @example
 * const reader = new SimilarJsonReader();
 * reader.parse('{"type":"delta","text":"a"}').value; // { type: "delta", text: "a" }
 */
export class SimilarJsonReader {
  private readonly _shapes: JsonShapes;
  private readonly _tried: Shape[] = [];
  private _plain = FIRST_PLAIN;
  private _pause = FIRST_PAUSE;
  private _credit = START_CREDIT;

  constructor(shapes: JsonShapes = sharedShapes) {
    this._shapes = shapes;
  }

  parse(text: string): ParsedJson {
    if (this._plain > 0) {
      this._plain -= 1;
      return parseJson(text);
    }
    if (text.length > MAX_LENGTH) return parseJson(text);
    for (let at = 0; at < this._tried.length; at += 1) {
      const read = (this._tried[at] as Shape).read(text);
      if (read === undefined) continue;
      if (at > 0) this._moveToFront(at);
      if (this._credit < MAX_CREDIT) this._credit += 1;
      return read;
    }
    const parsed = parseJson(text);
    if (parsed.fault === undefined) this._learn(text);
    return parsed;
  }

  private _learn(text: string): void {
    this._credit -= MISS_COST;
    if (this._credit <= 0) {
      this._plain = this._pause;
      this._pause = Math.min(2 * this._pause, LONGEST_PAUSE);
      this._credit = CREDIT_AFTER_PAUSE;
      return;
    }
    const shape = this._shapes.learn(text);
    if (shape === undefined || this._tried.includes(shape)) return;
    this._tried.unshift(shape);
    if (this._tried.length > MAX_TRIED) this._tried.pop();
  }

  private _moveToFront(at: number): void {
    const [shape] = this._tried.splice(at, 1);
    if (shape !== undefined) this._tried.unshift(shape);
  }
}
