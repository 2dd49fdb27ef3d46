import { checkOptionNames, unreachable } from "#domain";
import type { DataFrame } from "#wire";
import { readTimestamp } from "./fields.ts";
import type { Fields, FrameReading } from "./frame-reader.ts";
import type { DefaultSchema, EventKind, EventTemplates, Visibility } from "./schema.ts";
import { compileTemplate, type Template } from "./template.ts";

/** One frame as a declarative format reads it: its kind, its fields, and its rendered templates. */
export interface ParsedEvent {
  readonly kind: EventKind;
  readonly fields: Fields;
  readonly visibility: Visibility;
  /** Rendered when read; `{}` if the schema has none. */
  readonly templates: EventTemplates;
  /** The frame's JSON value, or its text if it is not JSON. */
  readonly raw?: unknown;
  /** Milliseconds since 1970, from the field `timestamp`. */
  readonly timestamp?: number;
}

/** What to show in addition to messages and errors. */
export interface ShowOptions {
  readonly showThinking?: boolean;
  readonly showTools?: boolean;
  readonly showMetadata?: boolean;
  readonly showAll?: boolean;
}

const SHOW_NAMES = ["showThinking", "showTools", "showMetadata", "showAll"] satisfies (keyof ShowOptions)[];

/**
 * Whether an event is shown: `always` and `hidden` are fixed; `optional` is shown if its switch or `showAll` is on.
 *
 * @example
 * isVisible({ kind: "tool-use", visibility: "optional" }, { showTools: true }) // true
 */
export function isVisible(event: Pick<ParsedEvent, "kind" | "visibility">, show: ShowOptions = {}): boolean {
  checkOptionNames(show, SHOW_NAMES, "isVisible");
  if (event.visibility !== "optional") return event.visibility === "always";
  if (show.showAll === true) return true;
  switch (event.kind) {
    case "thinking":
      return show.showThinking === true;
    case "tool-use":
    case "tool-result":
      return show.showTools === true;
    case "message":
    case "error":
      return true;
    case "metadata":
    case "unknown":
      return show.showMetadata === true;
    default:
      return unreachable(event.kind);
  }
}

/** The compiled templates of a schema. */
export type CompiledTemplates = Readonly<Partial<Record<keyof EventTemplates, Template>>>;

export function compileTemplates(schema: DefaultSchema): CompiledTemplates {
  const { text, ansi, json } = schema.templates ?? {};
  // Without an `ansi` template, a terminal gets the plain one with its markers removed.
  const terminal = ansi === undefined ? text : ansi;
  return {
    ...(text !== undefined && { text: compileTemplate(text, "text") }),
    ...(terminal !== undefined && { ansi: compileTemplate(terminal, ansi === undefined ? "text" : "ansi") }),
    ...(json !== undefined && { json: compileTemplate(json, "json") }),
  };
}

export function parsedEvent(frame: DataFrame, reading: FrameReading, templates: CompiledTemplates): ParsedEvent {
  const timestamp = readTimestamp(reading.fields);
  return {
    kind: reading.kind,
    fields: reading.fields,
    visibility: visibilityOf(reading),
    templates: renderLazily(templates, reading.fields),
    raw: frame.value === undefined ? frame.text : frame.value,
    ...(timestamp !== undefined && { timestamp }),
  };
}

export function visibilityOf(reading: FrameReading): Visibility {
  return reading.schema?.visibility ?? (reading.kind === "message" || reading.kind === "error" ? "always" : "optional");
}

/** Most readers need one of the three, and a value can be megabytes long: each is rendered on first use. */
function renderLazily(templates: CompiledTemplates, fields: Fields): EventTemplates {
  const rendered: EventTemplates = {};
  for (const [style, template] of Object.entries(templates)) {
    Object.defineProperty(rendered, style, { enumerable: true, get: () => template.render(fields) });
  }
  return rendered;
}
