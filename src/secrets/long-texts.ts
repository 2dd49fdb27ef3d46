import type { SecretMatcher } from "./matcher.ts";
import { coverSpans, joinSpans } from "./span.ts";
import { findForms, TextMask } from "./text-mask.ts";

/** From this length on a text is searched in several turns of the event loop, and what is found is remembered. */
export const LONG_TEXT = 16_384;

/** How many characters are searched in one turn. */
const TURN_CHARACTERS = 65_536;

/** How many characters of texts are remembered: an answer comes as blocks, as one text in the result, and at the end. */
const MOST_CHARACTERS = 40_000_000;

/** Masks long texts. The same text comes several times, so what is shown of the last ones is remembered. */
export class LongTexts {
  private readonly _matcher: SecretMatcher;
  private readonly _shown = new Map<string, string>();
  private _characters = 0;

  constructor(matcher: SecretMatcher) {
    this._matcher = matcher;
  }

  /** Searches the whole text at once if it is not known. */
  cover(text: string): string {
    const known = this._shown.get(text);
    if (known !== undefined) return known;
    const spans = findForms(text, this._matcher);
    return this._remember(text, spans.length === 0 ? text : coverSpans(text, joinSpans(spans)));
  }

  /** Searches the text in pieces, each in a turn of its own, so that `cover` need not do it. */
  async search(text: string, nextTurn: () => Promise<void>): Promise<void> {
    if (this._shown.has(text)) return;
    const mask = new TextMask(this._matcher);
    const parts: string[] = [];
    let isClean = true;
    for (let from = 0; from < text.length; from += TURN_CHARACTERS) {
      const piece = text.slice(from, from + TURN_CHARACTERS);
      const shown = mask.push(piece);
      if (shown !== piece) isClean = false;
      parts.push(shown);
      await nextTurn();
    }
    parts.push(mask.end());
    const shown = isClean ? text : parts.join("");
    this._remember(text, shown === text ? text : shown);
  }

  private _remember(text: string, shown: string): string {
    this._keep(text, shown);
    // What is shown is masked again as part of the result, and must not be searched again for that.
    if (shown !== text) this._keep(shown, shown);
    return shown;
  }

  private _keep(text: string, shown: string): void {
    if (this._shown.has(text)) return;
    this._shown.set(text, shown);
    this._characters += text.length;
    for (const [oldest] of this._shown) {
      if (this._characters <= MOST_CHARACTERS || oldest === text) break;
      this._shown.delete(oldest);
      this._characters -= oldest.length;
    }
  }
}
