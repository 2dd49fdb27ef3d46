import type { SecretMatcher } from "./matcher.ts";
import { coverSpans, joinSpans, type Span } from "./span.ts";
import { TextReader } from "./text-reader.ts";

/** If a text is torn off within a possible secret, it is masked from this length on. */
const SHORTEST_TORN = 2;

/** Every form of a secret in a text, including one that the end of the text has cut off. The spans may overlap. */
export function findForms(text: string, matcher: SecretMatcher): Span[] {
  if (!matcher.mayBeIn(text)) return [];
  const { found, cut } = readForms(text, matcher);
  return cut.length === 0 ? found : [...found, ...cut];
}

interface FoundForms {
  readonly found: Span[];
  /** What is a form that the end of the text has cut off. */
  readonly cut: readonly Span[];
  /** The position from which on a form may have begun that later text completes. */
  readonly openFrom: number;
}

export function readForms(text: string, matcher: SecretMatcher): FoundForms {
  const reader = new TextReader(matcher);
  const found = reader.takeClean(text) ? [] : reader.read(text);
  const openFrom = text.length - reader.open.length;
  const cut = reader.cut().map(({ start, end }) => ({ start: start + text.length, end: end + text.length }));
  return { found, cut, openFrom };
}

/**
 * Masks the secrets of one text that arrives in pieces. The returned pieces join to the same text as masking the whole.
 * Only a suffix that may be the beginning of a secret is held back.
 */
export class TextMask {
  private readonly _matcher: SecretMatcher;
  private _reader: TextReader;
  /** The text that was held back, with known secrets in it masked. */
  private _held = "";

  constructor(matcher: SecretMatcher, reader = new TextReader(matcher)) {
    this._matcher = matcher;
    this._reader = reader;
  }

  /** The mask of a text that continues this one. Take what is held back here with `tear` first. */
  next(): TextMask {
    return new TextMask(this._matcher, this._reader.copy());
  }

  /**
   * Accepts the next piece if it can be shown unchanged. Otherwise returns `false` and does nothing; call `push`
   * instead.
   */
  takeClean(text: string): boolean {
    return this._reader.takeClean(text);
  }

  /** The next piece together with the text that was held back, as far as it can be shown. */
  push(text: string): string {
    if (this._reader.takeClean(text)) return text;
    const spans = this._reader.read(text);
    const { held } = this._reader;
    if (held === 0 && spans.length === 0 && this._held === "") return text;
    const covered = cover(this._held + text, spans, this._held.length);
    const shown = Math.max(0, covered.length - held);
    this._held = covered.slice(shown);
    return covered.slice(0, shown);
  }

  /** The text is complete: returns the rest of it. */
  end(): string {
    const rest = cover(this._held, this._reader.cut(), this._held.length);
    this._held = "";
    this._reader = new TextReader(this._matcher);
    return rest;
  }

  /**
   * Returns the text that was held back although more may follow. Enough of it is masked that no secret can be pieced
   * together.
   */
  tear(): string {
    const { held } = this._reader;
    const rest = held < SHORTEST_TORN ? this._held : cover(this._held, this._reader.begun(), this._held.length);
    this._held = "";
    return rest;
  }
}

/** Masks spans whose positions count from `origin`, as far as they are in the text. */
function cover(text: string, spans: readonly Span[], origin: number): string {
  const moved = spans.map(({ start, end }) => ({ start: Math.max(0, start + origin), end: end + origin }));
  return coverSpans(text, joinSpans(moved.filter(({ end }) => end > 0)));
}
