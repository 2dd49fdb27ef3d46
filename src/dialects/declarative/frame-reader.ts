import type { DataFrame } from "#wire";
import { compileFramePath, type FramePath } from "./frame-path.ts";
import type { DeclarativeFormatConfig, DefaultSchema, EventKind, Extract, Match, Scalar } from "./schema.ts";

/** The values that a schema extracted, under the names that its author chose. */
export type Fields = Readonly<Record<string, unknown>>;

/** How a config reads one frame. */
export interface FrameReading {
  readonly kind: EventKind;
  readonly fields: Fields;
  /** The schema that matched; absent if none did. */
  readonly schema?: DefaultSchema;
  /** The fields of the end signal, if the frame is one. */
  readonly end?: Fields;
}

/** Reads frames according to a config. Stateless: the same frame always gives the same reading. */
export type FrameReader = (frame: DataFrame) => FrameReading;

const NO_FIELDS: Fields = {};

/** Compiles all paths of a checked config. */
export function createFrameReader(config: DeclarativeFormatConfig): FrameReader {
  const schemas = config.events.map((schema) => ({
    schema,
    matches: compileMatch(schema.match),
    extract: compileExtract(schema.extract),
  }));
  const readUnmatched = compileUnmatched(config);
  const isEnd = config.end === undefined ? undefined : compileMatch(config.end.match);
  const extractEnd = compileExtract(config.end?.extract ?? {});

  return (frame) => {
    const end = isEnd?.(frame) === true ? extractEnd(frame) : undefined;
    for (const { schema, matches, extract } of schemas) {
      if (!matches(frame)) continue;
      const fields = extract(frame);
      return end === undefined ? { kind: schema.kind, fields, schema } : { kind: schema.kind, fields, schema, end };
    }
    if (end !== undefined) return { kind: "metadata", fields: end, end };
    return readUnmatched(frame);
  };
}

/** A default schema that extracts nothing has not understood the frame. */
function compileUnmatched(config: DeclarativeFormatConfig): FrameReader {
  const schema = config.defaultSchema;
  if (schema !== undefined) {
    const extract = compileExtract(schema.extract);
    return (frame) => {
      const fields = extract(frame);
      return Object.keys(fields).length > 0
        ? { kind: schema.kind, fields, schema }
        : { kind: "unknown", fields: NO_FIELDS };
    };
  }
  if (config.framing === "text") return (frame) => ({ kind: "message", fields: { text: frame.text } });
  return () => ({ kind: "unknown", fields: NO_FIELDS });
}

function compileMatch(match: Match): (frame: DataFrame) => boolean {
  const conditions = Object.entries(match).map(([path, expected]) => compileCondition(path, expected));
  return (frame) => {
    for (const holds of conditions) if (!holds(frame)) return false;
    return true;
  };
}

function compileCondition(source: string, expected: Scalar | readonly Scalar[]): (frame: DataFrame) => boolean {
  const path = compileFramePath(source, source);
  const accepted: ReadonlySet<unknown> = new Set<unknown>(isList(expected) ? expected : [expected]);
  return (frame) => {
    const value = path.read(frame);
    if (accepted.has(value)) return true;
    return path.collects && Array.isArray(value) && value.some((item) => accepted.has(item));
  };
}

// `Array.isArray` does not separate a readonly list from the scalars.
function isList(expected: Scalar | readonly Scalar[]): expected is readonly Scalar[] {
  return Array.isArray(expected);
}

function compileExtract(extract: Extract): (frame: DataFrame) => Fields {
  const readers = Object.entries(extract).map(([field, source]) => {
    const sources = typeof source === "string" ? [source] : source;
    return { field, paths: sources.map((path) => compileFramePath(path, path)) };
  });
  return (frame) => {
    // The field names were checked: none of them reaches a prototype.
    const fields: Record<string, unknown> = {};
    for (const { field, paths } of readers) {
      const value = readFirst(paths, frame);
      if (value !== undefined) fields[field] = value;
    }
    return fields;
  };
}

function readFirst(paths: readonly FramePath[], frame: DataFrame): unknown {
  for (const path of paths) {
    const value = path.read(frame);
    if (value !== undefined) return value;
  }
  return undefined;
}
