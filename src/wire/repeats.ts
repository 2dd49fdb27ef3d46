import type { DataFrame, FindSaying, Frame, RepeatFrame, Saying } from "./frame.ts";
import { isRecord } from "./json.ts";

/** Where a unit of the stream stands in a text: `from` … `to` with its line ends, its JSON at `lineFrom` … `lineTo`. */
export interface UnitPlace {
  readonly from: number;
  readonly lineFrom: number;
  readonly lineTo: number;
  readonly to: number;
}

/** A unit cut around its text: `head`, the text, `tail`. With noise: `head`, the text, `middle`, the noise, `tail`. */
interface Pattern {
  readonly head: string;
  readonly middle: string;
  readonly tail: string;
  /** The tail of a unit and the head of the next one. */
  readonly seam: string;
  /** Where the JSON begins, counted back from the text, and where it ends, counted from the tail. */
  readonly lineBefore: number;
  readonly lineBehind: number;
  readonly name: string;
  readonly like: Saying;
}

/** What it costs to make a pattern, in frames that a pattern saves the parsing of. */
const PATTERN_COST = 4;
/** Patterns are no longer made when they have cost so much more than they saved: some hosts write every frame anew. */
const MOST_LOST = 32;
const BACKSLASH = 0x5c;
const FIRST_PLAIN = 0x20;
/** A longer part of a text is no copy of it, and would keep all of the text alive. */
const LONGEST_COPY = 12;
const SAID_MARK = "what the frame says";
const NOISE_MARK = "what nobody reads";

/**
 * Knows the next frame before it is parsed. Streams of models say the same again and again but for a few letters: id,
 * model, index and the rest are in every frame. A frame that begins and ends like one that was parsed has its value, but
 * for the one string in between; so only that string is read. Exact: a pattern is used only when a parse has shown that
 * what it leaves open is the whole of one string, and only for what is the whole of one string again.
 */
export class Repeats {
  private readonly _find: FindSaying;
  private _pattern: Pattern | undefined;
  /** What patterns have cost beyond what they saved. */
  private _lost = 0;

  constructor(find: FindSaying) {
    this._find = find;
  }

  /** Reads the repeats that stand in a row at `from`; returns where they end. `text` is whole lines. */
  read(text: string, from: number, frames: Frame[]): number {
    const pattern = this._pattern;
    if (pattern === undefined || !standsAt(text, from, pattern.head)) return from;
    const before = frames.length;
    const end = readRow(text, from + pattern.head.length, pattern, frames);
    this._lost = Math.max(0, this._lost - (frames.length - before));
    return end;
  }

  /** Looks at a unit that was parsed: the next ones may repeat it. */
  learn(text: string, place: UnitPlace, frame: DataFrame): void {
    if (this._lost >= MOST_LOST) return;
    const like = this._find(frame.value, frame.name);
    if (like === undefined) return;
    this._lost += PATTERN_COST;
    this._pattern = this._cut(text.slice(place.from, place.to), place, frame, like);
  }

  forget(): void {
    this._pattern = undefined;
    this._lost = 0;
  }

  private _cut(unit: string, place: UnitPlace, frame: DataFrame, like: Saying): Pattern | undefined {
    const lineFrom = place.lineFrom - place.from;
    const said = findString(unit, lineFrom, like.key);
    if (said === undefined) return undefined;
    const noise = like.noiseKey === undefined ? undefined : findString(unit, said.end, like.noiseKey);
    const parts = {
      head: copyOf(unit.slice(0, said.start)),
      middle: noise === undefined ? "" : copyOf(unit.slice(said.end, noise.start)),
      tail: copyOf(unit.slice((noise ?? said).end)),
    };
    const lineTo = unit.length - (place.to - place.lineTo);
    const line = parts.head.slice(lineFrom) + SAID_MARK + (noise === undefined ? "" : parts.middle + NOISE_MARK);
    if (!this._holds(line + unit.slice((noise ?? said).end, lineTo), frame.name, like, noise !== undefined)) {
      return undefined;
    }
    return {
      ...parts,
      seam: [parts.tail, parts.head].join(""),
      lineBefore: said.start - lineFrom,
      lineBehind: lineTo - (noise ?? said).end,
      name: copyOf(frame.name),
      like,
    };
  }

  /** Whether what a pattern leaves open is what it is taken for: with other strings put there, it says those. */
  private _holds(line: string, name: string, { key, noiseKey }: Saying, hasNoise: boolean): boolean {
    try {
      const value: unknown = JSON.parse(line);
      const found = this._find(value, name);
      if (found?.said !== SAID_MARK || found.key !== key) return false;
      return !hasNoise || (isRecord(value) && noiseKey !== undefined && value[noiseKey] === NOISE_MARK);
    } catch {
      return false;
    }
  }
}

/** The frame as it would have been read without the pattern. */
export function expandRepeat({ name, id, text }: RepeatFrame): DataFrame {
  return { kind: "data", name, id, text, value: JSON.parse(text), like: undefined };
}

/**
 * Reads the units in a row of which the first has its text at `from`; returns where the first one begins that is no
 * repeat. The hot path of every stream, in one piece: what it calls is optimised once for itself and once for it.
 */
function readRow(text: string, from: number, pattern: Pattern, frames: Frame[]): number {
  const { head, middle, tail, seam, lineBefore, lineBehind, name, like } = pattern;
  for (let start = from; ; ) {
    const stop = endOfString(text, start);
    const last = middle === "" ? stop : passNoise(text, stop, middle);
    const isFollowed = standsAt(text, last, seam);
    if (last === -1 || stop === start || !(isFollowed || standsAt(text, last, tail))) return start - head.length;
    const value = readString(text, start, stop);
    if (value === undefined) return start - head.length;
    frames.push({ kind: "repeat", name, id: "", text: text.slice(start - lineBefore, last + lineBehind), value, like });
    if (!isFollowed) return last + tail.length;
    start = last + seam.length;
  }
}

/** `startsWith`, which is made for short strings: optimised, it takes ten times as long for long ones. */
function standsAt(text: string, at: number, part: string): boolean {
  return text.slice(at, at + part.length) === part;
}

/** Where the string that starts at `start` is closed; -1 when it is not. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end > start && text.charCodeAt(end - 1) === BACKSLASH && isEscaped(text, start, end)) {
    end = text.indexOf('"', end + 1);
  }
  return end;
}

/** Whether the character at `at` has an odd number of backslashes before it. */
function isEscaped(text: string, start: number, at: number): boolean {
  let first = at;
  while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/** Where the noise ends before which `middle` stands at `from`; -1 when there is none. */
function passNoise(text: string, from: number, middle: string): number {
  if (!standsAt(text, from, middle)) return -1;
  const start = from + middle.length;
  const end = text.indexOf('"', start);
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code < FIRST_PLAIN || code === BACKSLASH) return -1;
  }
  return end;
}

/** The string that stands between two quotes; `undefined` when it is none. */
function readString(text: string, start: number, stop: number): string | undefined {
  if (stop - start > LONGEST_COPY) return unescape(text.slice(start, stop));
  for (let at = start; at < stop; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) return unescape(text.slice(start, stop));
    if (code < FIRST_PLAIN) return undefined;
  }
  return text.slice(start, stop);
}

function unescape(inner: string): string | undefined {
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    return undefined;
  }
}

/** Where the string stands that is the first one under `key` behind `from`. */
function findString(
  unit: string,
  from: number,
  key: string,
): { readonly start: number; readonly end: number } | undefined {
  const label = `"${key}"`;
  const at = unit.indexOf(label, from);
  if (at === -1) return undefined;
  const opening = /^\s*:\s*"/.exec(unit.slice(at + label.length));
  if (opening === null) return undefined;
  const start = at + label.length + opening[0].length;
  const end = endOfString(unit, start);
  return end === -1 ? undefined : { start, end };
}

/** A copy: a part of a text would keep all of it alive for as long as the stream lasts. Texts that are joined are copied. */
function copyOf(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join("");
}
