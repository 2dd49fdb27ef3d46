import { FrameTexts } from "./frame-texts.ts";
import type { SecretMatcher } from "./matcher.ts";
import { coverSpans, joinSpans } from "./span.ts";
import { findForms } from "./text-mask.ts";

/**
 * Masks secrets in lines of JSON that are passed on at once, including secrets that are spread over several lines with
 * a string at the same path, such as `delta.text`. Nothing is held back: a possible beginning of a secret at the end of
 * such a string is masked after a few characters.
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
      // Earlier lines were already passed on.
      .filter(({ start }) => start >= offset)
      .map(({ start, end }) => ({ start: start - offset, end: end - offset }));
    return coverSpans(line, joinSpans([...spans, ...findForms(line, this._matcher)]));
  }

  /**
   * The same for a frame with its text and its bytes. A frame without a secret is returned unchanged (the same object).
   */
  coverFrame<Frame extends { readonly json: string; readonly bytes: Uint8Array }>(frame: Frame): Frame {
    const json = this.cover(frame.json);
    return json === frame.json ? frame : { ...frame, json, bytes: new TextEncoder().encode(json) };
  }
}
