import { readFrameStrings } from "./frame-strings.ts";
import type { SecretMatcher } from "./matcher.ts";
import type { Span } from "./span.ts";

/** A text that was not continued for this many frames is considered finished. */
const MAX_IDLE_FRAMES = 32;
/** If a text stops within a possible secret, it is masked from this length on, because it may continue later. */
const SUSPICIOUS = 4;

/**
 * The end of a text that frames continue, as far as it may be the beginning of a secret: its characters and their
 * positions.
 */
interface FrameText {
  readonly path: string;
  state: number;
  codes: number[];
  places: number[];
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
      const text = this._texts.get(key) ?? this._begin(path);
      for (let at = start; at < end; at += 1) goOn(text, line.charCodeAt(at), offset + at, { matcher, spans });
      text.lastFrame = this._frames;
      // A secret may have begun without any character that must be masked yet.
      if (text.state === 0) this._forget(key, text);
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
    for (const { places } of this._texts.values()) open = Math.min(open, places[0] ?? open);
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

  private _begin(path: string): FrameText {
    const { state = 0, codes = [], places = [] } = this._last.get(path) ?? {};
    return { path, state, codes: [...codes], places: [...places], lastFrame: 0 };
  }

  private _forget(key: string, text: FrameText): void {
    this._texts.delete(key);
    if (this._last.get(text.path) === text) this._last.delete(text.path);
  }

  /** States belong to one matcher, and a new one was created because another secret became known. */
  private _startAnew(matcher: SecretMatcher, spans: Span[]): void {
    this._matcher = matcher;
    for (const text of this._texts.values()) {
      const { codes, places } = text;
      Object.assign(text, { state: 0, codes: [], places: [] });
      codes.forEach((code, at) => goOn(text, code, places[at] as number, { matcher, spans }));
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

interface Finding {
  readonly matcher: SecretMatcher;
  readonly spans: Span[];
}

function goOn(text: FrameText, code: number, place: number, { matcher, spans }: Finding): void {
  text.state = matcher.step(text.state, code);
  const { codes, places } = text;
  codes.push(code);
  places.push(place);
  const found = matcher.found[text.state] as number;
  if (found > 0) spans.push(...spansOf(places.slice(-found)));
  const dropped = places.length - (matcher.held[text.state] as number);
  if (dropped === 0) return;
  codes.splice(0, dropped);
  places.splice(0, dropped);
}

function coverTail({ places }: FrameText): readonly Span[] {
  return places.length < SUSPICIOUS ? [] : spansOf(places);
}

function spansOf(places: readonly number[]): readonly Span[] {
  return places.map((place) => ({ start: place, end: place + 1 }));
}
