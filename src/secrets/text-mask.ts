import type { SecretMatcher } from "./matcher.ts";
import { coverSpans, joinSpans, MASK, type Span } from "./span.ts";

/** If a text is torn off within a possible secret, it is masked from this length on. */
const SHORTEST_TORN = 3;

/** Every form of a secret in a text, including one that the end of the text has cut off. The spans may overlap. */
export function findForms(text: string, matcher: SecretMatcher): Span[] {
  if (matcher.skip(0, text) !== undefined) return [];
  const spans: Span[] = [];
  const state = scan(text, 0, matcher, spans);
  const cut = matcher.cut[state] as number;
  if (cut > 0) spans.push({ start: text.length - cut, end: text.length });
  return spans;
}

function scan(text: string, from: number, matcher: SecretMatcher, spans: Span[]): number {
  const { found } = matcher;
  let state = from;
  for (let at = 0; at < text.length; at += 1) {
    state = matcher.step(state, text.charCodeAt(at));
    if (state === 0) continue;
    const length = found[state] as number;
    if (length > 0) spans.push({ start: at + 1 - length, end: at + 1 });
  }
  return state;
}

/**
 * Masks the secrets of one text that arrives in pieces. The returned pieces join to the same text as masking the whole.
 * Only a suffix that may be the beginning of a secret is held back.
 */
export class TextMask {
  private readonly _matcher: SecretMatcher;
  private _state: number;
  /** The text that was held back, with known secrets in it masked. */
  private _held = "";

  constructor(matcher: SecretMatcher, state = 0) {
    this._matcher = matcher;
    this._state = state;
  }

  /** The mask of a text that continues this one. Take what is held back here with `tear` first. */
  next(): TextMask {
    return new TextMask(this._matcher, this._state);
  }

  /**
   * Accepts the next piece if it can be shown unchanged. Otherwise returns `false` and does nothing; call `push`
   * instead.
   */
  takeClean(text: string): boolean {
    const skipped = this._matcher.skip(this._state, text);
    if (skipped === undefined) return false;
    this._state = skipped;
    return true;
  }

  /** The next piece together with the text that was held back, as far as it can be shown. */
  push(text: string): string {
    if (this.takeClean(text)) return text;
    const spans: Span[] = [];
    this._state = scan(text, this._state, this._matcher, spans);
    const held = this._matcher.held[this._state] as number;
    if (held === 0 && spans.length === 0 && this._held === "") return text;
    const before = this._held.length;
    const moved = spans.map(({ start, end }) => ({ start: Math.max(0, start + before), end: end + before }));
    const covered = coverSpans(this._held + text, joinSpans(moved));
    const shown = Math.max(0, covered.length - held);
    this._held = covered.slice(shown);
    return covered.slice(0, shown);
  }

  /** The text is complete: returns the rest of it. */
  end(): string {
    return this._release(this._matcher.cut[this._state] as number, 0);
  }

  /**
   * Returns the text that was held back although more may follow. Enough of it is masked that no secret can be pieced
   * together.
   */
  tear(): string {
    const held = this._matcher.held[this._state] as number;
    return this._release(held < SHORTEST_TORN ? 0 : held, this._state);
  }

  private _release(covered: number, state: number): string {
    const kept = this._held.slice(0, Math.max(0, this._held.length - covered));
    const rest = kept + MASK.repeat(this._held.length - kept.length);
    this._held = "";
    this._state = state;
    return rest;
  }
}
