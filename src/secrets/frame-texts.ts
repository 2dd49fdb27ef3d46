import { readFrameStrings } from "./frame-strings.ts";
import type { SecretMatcher } from "./matcher.ts";
import type { Span } from "./span.ts";

/** A text that has not gone on for so many frames is taken to be over. */
const PATIENCE = 32;
/** A text that stops within what may be a secret is covered from so many characters on: it may go on after all. */
const SUSPICIOUS = 4;

/** The end of one text that frames write on, as far as it may be the beginning of a secret: its characters and their places. */
interface FrameText {
  state: number;
  codes: number[];
  places: number[];
  lastFrame: number;
}

/**
 * Finds secrets that are spread over several frames of a stream: each holds a string at the same place, such as
 * `delta.text`, and only joined are they a secret. Knows no format: what stands at the same place of several frames is
 * taken for one text.
 */
export class FrameTexts {
  private readonly _texts = new Map<string, FrameText>();
  private _matcher: SecretMatcher | undefined;
  private _frames = 0;

  /** The next whole line, which begins at `offset`. Gives what is a secret, in places of the stream. */
  takeLine(line: string, offset: number, matcher: SecretMatcher): readonly Span[] {
    const strings = matcher.isEmpty ? undefined : readFrameStrings(line);
    if (strings === undefined) return [];
    const spans: Span[] = [];
    if (this._matcher !== matcher) this._startAnew(matcher, spans);
    this._frames += 1;
    for (const { key, start, end } of strings) {
      const text = this._texts.get(key) ?? { state: 0, codes: [], places: [], lastFrame: 0 };
      for (let at = start; at < end; at += 1) goOn(text, line.charCodeAt(at), offset + at, { matcher, spans });
      text.lastFrame = this._frames;
      // A secret may have begun without anything that has to be covered.
      if (text.state === 0) this._texts.delete(key);
      else this._texts.set(key, text);
    }
    this._giveUpOld(spans);
    return spans;
  }

  /** From here on something may still turn out to be part of a secret. */
  get openFrom(): number {
    let open = Number.POSITIVE_INFINITY;
    for (const { places } of this._texts.values()) open = Math.min(open, places[0] ?? open);
    return open;
  }

  /** Everything so far has to be written now: what of it must be covered. What goes on stays known. */
  tear(): readonly Span[] {
    return [...this._texts.values()].flatMap(coverTail);
  }

  clear(): void {
    this._texts.clear();
  }

  /** States belong to one matcher, and another secret has become known meanwhile. */
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
      if (this._frames - text.lastFrame <= PATIENCE) continue;
      spans.push(...coverTail(text));
      this._texts.delete(key);
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
