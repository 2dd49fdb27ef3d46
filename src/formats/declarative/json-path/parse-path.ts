import { refuseReserved } from "../refusal.ts";
import { type Cursor, isDigit, need, peek, refuseNext, skipBlanks, take, takeBehindBlanks } from "./cursor.ts";
import { parseBareName, parseInteger, parseString } from "./literals.ts";
import { parseTest } from "./parse-filter.ts";
import type { Segment, Selector, Slice } from "./syntax.ts";

/**
 * Parses a JSONPath: RFC 9535 without functions.
 *
 * The nesting of parentheses and filters is that of the text, whose length the caller bounds.
 *
 * @throws StartError `invalid-format` for what is no JSONPath, and for names that reach a prototype
 */
export function parsePath(source: string, where: string): readonly Segment[] {
  const cursor: Cursor = { source, where, position: 0 };
  need(cursor, "$");
  const segments = parseSegments(cursor);
  if (cursor.position < source.length) refuseNext(cursor);
  return segments;
}

function parseSegments(cursor: Cursor): readonly Segment[] {
  const segments: Segment[] = [];
  for (;;) {
    const start = takeBehindBlanks(cursor, ["..", ".", "["]);
    if (start === undefined) return segments;
    const inBrackets = start === "[" || (start === ".." && take(cursor, "["));
    segments.push({
      descends: start === "..",
      selectors: inBrackets ? parseSelectors(cursor) : [parseDotted(cursor)],
    });
  }
}

function parseDotted(cursor: Cursor): Selector {
  return take(cursor, "*") ? { kind: "wildcard" } : named(cursor, parseBareName(cursor));
}

function parseSelectors(cursor: Cursor): readonly Selector[] {
  const selectors: Selector[] = [];
  do {
    skipBlanks(cursor);
    selectors.push(parseSelector(cursor));
  } while (takeBehindBlanks(cursor, [","]) !== undefined);
  skipBlanks(cursor);
  need(cursor, "]");
  return selectors;
}

function parseSelector(cursor: Cursor): Selector {
  const next = peek(cursor);
  if (next === '"' || next === "'") return named(cursor, parseString(cursor));
  if (take(cursor, "*")) return { kind: "wildcard" };
  if (take(cursor, "?")) {
    skipBlanks(cursor);
    return { kind: "filter", test: parseTest(cursor, parseSegments) };
  }
  const start = parseBound(cursor);
  if (takeBehindBlanks(cursor, [":"]) !== undefined) return { kind: "slice", slice: parseSlice(cursor, start) };
  return start === undefined ? refuseNext(cursor) : { kind: "index", index: start };
}

/** What stands behind the first colon. */
function parseSlice(cursor: Cursor, start: number | undefined): Slice {
  skipBlanks(cursor);
  const end = parseBound(cursor);
  let step: number | undefined;
  if (takeBehindBlanks(cursor, [":"]) !== undefined) {
    skipBlanks(cursor);
    step = parseBound(cursor);
  }
  return { start, end, step: step ?? 1 };
}

function parseBound(cursor: Cursor): number | undefined {
  const next = peek(cursor);
  return isDigit(next) || next === "-" ? parseInteger(cursor) : undefined;
}

function named(cursor: Cursor, name: string): Selector {
  refuseReserved(cursor.where, cursor.source, name);
  return { kind: "name", name };
}
