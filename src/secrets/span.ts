/** Replaces each character of a secret, so that nothing else moves. */
export const MASK = "*";

/** A range of a text that must not be shown: from `start` up to, but not including, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The same ranges in order, without overlaps. */
export function joinSpans(spans: Span[]): readonly Span[] {
  if (spans.length < 2) return spans;
  spans.sort((left, right) => left.start - right.start);
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last === undefined || span.start > last.end) joined.push(span);
    else if (span.end > last.end) joined[joined.length - 1] = { start: last.start, end: span.end };
  }
  return joined;
}

/** The text with these ranges masked. They must be in order, without overlaps. */
export function coverSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let covered = "";
  let at = 0;
  for (const { start, end } of spans) {
    covered += text.slice(at, start) + MASK.repeat(end - start);
    at = end;
  }
  return covered + text.slice(at);
}
