import { readFrameStrings } from "./frame-strings.ts";
import type { SecretMatcher } from "./matcher.ts";
import type { Span } from "./span.ts";
import { TextReader } from "./text-reader.ts";

/** A text that was not continued for this many frames is considered finished. */
const MAX_IDLE_FRAMES = 32;
/** If a text stops within a possible secret, it is masked from this length on, because it may continue later. */
const SUSPICIOUS = 4;

/**
 * A text that frames continue, with the positions of its end, as far as it may be the beginning of a secret.
 */
interface FrameText {
  readonly path: string;
  reader: TextReader;
  /** The positions of the characters of `reader.open`. */
  places: readonly number[];
  lastFrame: number;
}

/**
 * Finds secrets that are spread over several frames of a stream: each frame has a string at the same path, such as
 * `delta.text`, and only joined do they form a secret. Independent of formats: strings at the same path of several
 * frames count as one text. The texts of several blocks count as one, too: each new one continues the last.
 */
export class FrameTexts {
  private readonly _texts = new Map<string, FrameText>();
  /** By path: the text that was written last. */
  private readonly _last = new Map<string, FrameText>();
  private _matcher: SecretMatcher | undefined;
  private _frames = 0;

  /** Processes the next whole line, which begins at `offset`. Returns the secrets as positions in the stream. */
  takeLine(line: string, offset: number, matcher: SecretMatcher): readonly Span[] {
    const strings = matcher.isEmpty ? undefined : readFrameStrings(line);
    if (strings === undefined) return [];
    const spans: Span[] = [];
    if (this._matcher !== matcher) this._startAnew(matcher, spans);
    this._frames += 1;
    for (const { key, path, start, end } of strings) {
      if (start === end) continue;
      const text = this._texts.get(key) ?? this._begin(path, matcher);
      goOn(text, line.slice(start, end), offset + start, spans);
      text.lastFrame = this._frames;
      // A secret may have begun without any character that must be masked yet.
      if (text.reader.open === "") this._forget(key, text);
      else {
        this._texts.set(key, text);
        this._last.set(path, text);
      }
    }
    this._giveUpOld(spans);
    return spans;
  }

  /** The position from which on something may still turn out to be part of a secret. */
  get openFrom(): number {
    let open = Number.POSITIVE_INFINITY;
    for (const text of this._texts.values()) open = Math.min(open, heldPlaces(text)[0] ?? open);
    return open;
  }

  /** Everything so far has to be written now: returns what must be masked of it. Unfinished texts stay known. */
  tear(): readonly Span[] {
    return [...this._texts.values()].flatMap(coverTail);
  }

  clear(): void {
    this._texts.clear();
    this._last.clear();
  }

  private _begin(path: string, matcher: SecretMatcher): FrameText {
    const last = this._last.get(path);
    const reader = last?.reader.copy() ?? new TextReader(matcher);
    return { path, reader, places: endOf(last?.places ?? [], reader.open.length), lastFrame: 0 };
  }

  private _forget(key: string, text: FrameText): void {
    this._texts.delete(key);
    if (this._last.get(text.path) === text) this._last.delete(text.path);
  }

  /** States belong to one matcher, and a new one was created because another secret became known. */
  private _startAnew(matcher: SecretMatcher, spans: Span[]): void {
    this._matcher = matcher;
    for (const text of this._texts.values()) {
      const { open } = text.reader;
      text.reader = new TextReader(matcher);
      for (const { start, end } of text.reader.read(open)) spans.push(...spansOf(text.places.slice(start, end)));
      text.places = endOf(text.places, text.reader.open.length);
    }
  }

  private _giveUpOld(spans: Span[]): void {
    for (const [key, text] of this._texts) {
      if (this._frames - text.lastFrame <= MAX_IDLE_FRAMES) continue;
      spans.push(...coverTail(text));
      this._forget(key, text);
    }
  }
}

/** Reads the next piece of a text, which is at `place`. */
function goOn(text: FrameText, piece: string, place: number, spans: Span[]): void {
  const { reader, places } = text;
  if (reader.takeClean(piece)) {
    text.places = placesOf(places, place, piece.length, reader.open.length);
    return;
  }
  const found = reader.read(piece);
  for (const { start, end } of found) {
    if (start < 0) spans.push(...spansOf(places.slice(start, end < 0 ? end : undefined)));
    if (end > 0) spans.push({ start: place + Math.max(0, start), end: place + end });
  }
  text.places = placesOf(places, place, piece.length, reader.open.length);
}

/** The positions of the last `count` characters, the last `length` of which are at `place`. */
function placesOf(before: readonly number[], place: number, length: number, count: number): readonly number[] {
  const added = Math.min(count, length);
  const last = Array.from({ length: added }, (_, at) => place + length - added + at);
  return count > length ? [...endOf(before, count - length), ...last] : last;
}

function endOf(places: readonly number[], count: number): readonly number[] {
  return places.slice(places.length - count);
}

function heldPlaces({ reader, places }: FrameText): readonly number[] {
  return endOf(places, reader.held);
}

function coverTail(text: FrameText): readonly Span[] {
  const held = heldPlaces(text);
  return held.length < SUSPICIOUS ? [] : spansOf(held);
}

function spansOf(places: readonly number[]): readonly Span[] {
  return places.map((place) => ({ start: place, end: place + 1 }));
}
