import { FrameTexts } from "./frame-texts.ts";
import type { SecretMatcher } from "./matcher.ts";
import { coverSpans, joinSpans } from "./span.ts";
import { findForms } from "./text-mask.ts";

/**
 * Covers secrets in lines of JSON that are passed on at once, those among it that only several lines together hold:
 * each has a string at the same place, such as `delta.text`. Nothing is held back. What may be the beginning of a
 * secret at the end of such a string is covered after a few characters.
 */
export class LineMask {
  private readonly _matcher: SecretMatcher;
  private readonly _texts = new FrameTexts();
  private _offset = 0;

  constructor(matcher: SecretMatcher) {
    this._matcher = matcher;
  }

  cover(line: string): string {
    const offset = this._offset;
    this._offset += line.length + 1;
    const spans = [...this._texts.takeLine(line, offset, this._matcher), ...this._texts.tear()]
      // The lines before it are gone.
      .filter(({ start }) => start >= offset)
      .map(({ start, end }) => ({ start: start - offset, end: end - offset }));
    return coverSpans(line, joinSpans([...spans, ...findForms(line, this._matcher)]));
  }

  /** The same for a frame that keeps its text and its bytes. One without a secret stays the very same. */
  coverFrame<Frame extends { readonly json: string; readonly bytes: Uint8Array }>(frame: Frame): Frame {
    const json = this.cover(frame.json);
    return json === frame.json ? frame : { ...frame, json, bytes: new TextEncoder().encode(json) };
  }
}
