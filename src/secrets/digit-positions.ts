import type { Span } from "./span.ts";

/** More digits than any form has need not be remembered. */
export const MANY_DIGITS = 4096;

/** Where the digits of an encoded form stand in a text, in their order: breaks between them are left out. */
export class DigitPositions {
  private _starts: number[] = [];
  /** Whether the digit is masked when the form is found. */
  private readonly _areMasked: boolean[] = [];
  /** The digits before this position are masked already. */
  private _maskedTo = 0;

  get length(): number {
    return this._starts.length;
  }

  add(start: number, isMasked: boolean): void {
    this._starts.push(start);
    this._areMasked.push(isMasked);
  }

  /** Forgets all but the last ones. */
  keep(count: number): void {
    this._starts.splice(0, this._starts.length - count);
    this._areMasked.splice(0, this._areMasked.length - count);
  }

  /** The positions of the last ones. */
  last(count: number): readonly number[] {
    return count > 0 ? this._starts.slice(-count) : [];
  }

  /** The position of the last digit but so many; without one, the given end of the text. */
  startOf(count: number, end: number): number {
    return count <= 0 ? end : (this._starts.at(-count) as number);
  }

  /** Masks the last digits, not the breaks between them: lines stay lines, and JSON stays JSON. */
  mask(count: number, spans: Span[]): void {
    const { length } = this._starts;
    let first = length;
    while (first > length - count && (this._starts[first - 1] as number) >= this._maskedTo) first -= 1;
    for (let at = first; at < length; at += 1) {
      const start = this._starts[at] as number;
      this._maskedTo = start + 1;
      if (this._areMasked[at] === true) spans.push({ start, end: start + 1 });
    }
  }

  /** Counts all positions from this one on. */
  moveTo(start: number): void {
    this._maskedTo = Math.max(0, this._maskedTo - start);
    this._starts = this._starts.map((at) => at - start);
  }

  clear(): void {
    this.keep(0);
    this._maskedTo = 0;
  }
}
