import { describeThrown, isStartError, StartError } from "#domain";
import { type JsonRecord, parseJson } from "#wire";
import {
  checkDepth,
  checkFieldName,
  readBoolean,
  readEither,
  readEntries,
  readList,
  readObject,
  readOwn,
  readString,
  readWord,
  shorten,
} from "./config-reader.ts";
import { compileFramePath } from "./frame-path.ts";
import { MAX_CONFIG_BYTES, MAX_DESCRIPTION_LENGTH, MAX_FIELDS, MAX_NAME_LENGTH, MAX_SCHEMAS } from "./limits.ts";
import { refuse, show } from "./refusal.ts";
import {
  type DeclarativeFormatConfig,
  type DefaultSchema,
  type EndSchema,
  EVENT_KINDS,
  type EventSchema,
  type EventTemplates,
  type Extract,
  FRAMINGS,
  type Match,
  type Scalar,
  VISIBILITIES,
} from "./schema.ts";
import { compileTemplate, type TemplateStyle } from "./template.ts";

const CONFIG_KEYS = [
  ...["name", "framing", "format", "description", "version"],
  ...["events", "schemas", "defaultSchema", "end"],
];
const DEFAULT_KEYS = ["kind", "extract", "templates", "visibility", "terminal"];
const MATCH_KEYS = ["match", "matchPath", "matchValue"];
const STYLES = ["text", "ansi", "json"] as const satisfies readonly TemplateStyle[];
/** Names appear on command lines and in messages: letters, digits and `@ . _ / -`, no blanks. */
const NAME = /^[@A-Za-z0-9][A-Za-z0-9@._/-]*$/;

/**
 * Checks a config, given as a value or as JSON text, and returns it typed. All paths and templates are compiled here
 * once, so a config that passes works.
 *
 * Alternative spellings are accepted: `format` for `framing`, `schemas` for `events`, `matchPath` with `matchValue` for
 * a `match` with one path. Unknown keys are refused. Text may have at most 256 KB.
 *
 * @throws StartError `invalid-format`: the message names the field (`events[2].extract.text`), the value and the remedy
 * @example
 * const config = parseFormatConfig(await readFile("my-agent.json", "utf8"));
 */
export function parseFormatConfig(value: unknown): DeclarativeFormatConfig {
  try {
    return readConfig(typeof value === "string" ? readText(value) : value);
  } catch (thrown) {
    if (isStartError(thrown)) throw thrown;
    // A getter or a proxy in the caller's object threw.
    throw new StartError("invalid-format", `config: could not be read: ${describeThrown(thrown)}. Give plain data.`, {
      cause: thrown,
    });
  }
}

function readText(text: string): unknown {
  if (text.length > MAX_CONFIG_BYTES || new TextEncoder().encode(text).length > MAX_CONFIG_BYTES) {
    refuse("config", text, `is ${text.length} characters long`, `A config has at most ${MAX_CONFIG_BYTES} bytes.`);
  }
  const parsed = parseJson(text);
  if (parsed.fault !== undefined) refuse("config", text, `is not JSON: ${parsed.fault}`, "Write one JSON object.");
  return parsed.value;
}

function readConfig(value: unknown): DeclarativeFormatConfig {
  checkDepth(value, "config");
  const record = readObject(value, "config", CONFIG_KEYS);
  const [framing, framingWhere] = readEither(record, ["framing", "format"], "config");
  const [events, eventsWhere] = readEither(record, ["events", "schemas"], "config");
  const config = {
    name: readName(readOwn(record, "name"), "name"),
    framing: readWord(framing, unrooted(framingWhere), FRAMINGS),
  };
  const description = readOwn(record, "description");
  const version = readOwn(record, "version");
  const defaultSchema = readOwn(record, "defaultSchema");
  const end = readOwn(record, "end");
  // Plain text needs no schemas: every piece of it is a message. The other framings would give nothing without any.
  const needsEvents = config.framing !== "text" && defaultSchema === undefined;
  return {
    ...config,
    ...(description !== undefined && {
      description: readString(description, "description", MAX_DESCRIPTION_LENGTH),
    }),
    ...(version !== undefined && { version: readString(version, "version", MAX_NAME_LENGTH) }),
    events: events === undefined && !needsEvents ? [] : readSchemas(events, unrooted(eventsWhere)),
    ...(defaultSchema !== undefined && { defaultSchema: readDefaultSchema(defaultSchema, "defaultSchema") }),
    ...(end !== undefined && { end: readEnd(end, "end") }),
  };
}

/** Messages name the path as in the file: `events`, not `config.events`. */
function unrooted(where: string): string {
  return where.slice("config.".length);
}

/** Reads a name under which a format can be registered. */
export function readName(value: unknown, where: string): string {
  const name = readString(value, where, MAX_NAME_LENGTH);
  if (!NAME.test(name)) refuse(where, name, "is not a name", "Use letters, digits, and @ . _ / - between them.");
  return name;
}

function readSchemas(value: unknown, where: string): EventSchema[] {
  const list = readList(value, where, { min: 0, max: MAX_SCHEMAS });
  return list.map((entry, index) => {
    const place = `${where}[${index}]`;
    const record = readObject(entry, place, [...DEFAULT_KEYS, ...MATCH_KEYS]);
    return { ...readSchema(record, place), match: readMatch(record, place) };
  });
}

function readDefaultSchema(value: unknown, where: string): DefaultSchema {
  return readSchema(readObject(value, where, DEFAULT_KEYS), where);
}

function readSchema(record: JsonRecord, where: string): DefaultSchema {
  const kind = readWord(readOwn(record, "kind"), `${where}.kind`, EVENT_KINDS);
  const templates = readOwn(record, "templates");
  const visibility = readOwn(record, "visibility");
  const terminal = readOwn(record, "terminal");
  if (terminal !== undefined && kind !== "error") {
    refuse(`${where}.terminal`, terminal, `makes no sense on ${show(kind)}`, "Only errors end a stream.");
  }
  return {
    kind,
    extract: readExtract(readOwn(record, "extract"), `${where}.extract`),
    ...(templates !== undefined && { templates: readTemplates(templates, `${where}.templates`) }),
    ...(visibility !== undefined && { visibility: readWord(visibility, `${where}.visibility`, VISIBILITIES) }),
    ...(terminal !== undefined && { terminal: readBoolean(terminal, `${where}.terminal`) }),
  };
}

function readEnd(value: unknown, where: string): EndSchema {
  const record = readObject(value, where, [...MATCH_KEYS, "extract"]);
  return {
    match: readMatch(record, where),
    extract: readExtract(readOwn(record, "extract"), `${where}.extract`),
  };
}

function readMatch(record: JsonRecord, where: string): Match {
  const [match, place] = readEither(record, ["match", "matchPath"], where);
  if (place.endsWith(".matchPath")) {
    const path = readPath(match, place);
    if (!Object.hasOwn(record, "matchValue")) refuse(`${where}.matchValue`, undefined, "is given", "Say which value.");
    return Object.fromEntries([[path, readExpected(readOwn(record, "matchValue"), `${where}.matchValue`)]]);
  }
  if (Object.hasOwn(record, "matchValue")) {
    refuse(`${where}.matchValue`, readOwn(record, "matchValue"), "is set without matchPath", "Put it into match.");
  }
  if (match === undefined)
    refuse(place, match, "is given", 'Write { "type": "…" }: a path and the value to find there.');
  const entries = readEntries(match, place);
  if (entries.length === 0) refuse(place, match, "without a path matches everything", "Use defaultSchema for that.");
  return Object.fromEntries(
    entries.map(([path, expected]) => {
      const entryPlace = `${place}.${shorten(path)}`;
      return [readPath(path, entryPlace), readExpected(expected, entryPlace)];
    }),
  );
}

function readExpected(value: unknown, where: string): Scalar | readonly Scalar[] {
  if (!Array.isArray(value)) return readScalar(value, where);
  const list = readList(value, where, { min: 1, max: MAX_FIELDS });
  return list.map((entry, index) => readScalar(entry, `${where}[${index}]`));
}

function readScalar(value: unknown, where: string): Scalar {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  return refuse(where, value, "cannot be compared", "Use a string, a number, true, false, null, or a list of these.");
}

function readExtract(value: unknown, where: string): Extract {
  if (value === undefined) return {};
  return Object.fromEntries(
    readEntries(value, where).map(([field, source]) => {
      const place = `${where}.${shorten(field)}`;
      checkFieldName(field, place);
      if (!Array.isArray(source)) return [field, readPath(source, place)];
      const paths = readList(source, place, { min: 1, max: MAX_FIELDS });
      return [field, paths.map((path, index) => readPath(path, `${place}[${index}]`))];
    }),
  );
}

function readPath(value: unknown, where: string): string {
  const source = readString(value, where, Number.POSITIVE_INFINITY);
  compileFramePath(source, where);
  return source;
}

function readTemplates(value: unknown, where: string): EventTemplates {
  const record = readObject(value, where, STYLES);
  const templates: { -readonly [Style in keyof EventTemplates]: EventTemplates[Style] } = {};
  for (const style of STYLES) {
    const source = readOwn(record, style);
    if (source === undefined) continue;
    if (typeof source !== "string") refuse(`${where}.${style}`, source, "is not a string", "Write a string in quotes.");
    compileTemplate(source, style, `${where}.${style}`);
    templates[style] = source;
  }
  return templates;
}
