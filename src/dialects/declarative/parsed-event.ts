import { checkOptionNames, unreachable } from "#domain";
import type { DataFrame } from "#wire";
import { readTimestamp } from "./fields.ts";
import type { Fields, FrameReading } from "./frame-reader.ts";
import type { DefaultSchema, EventKind, EventTemplates, Visibility } from "./schema.ts";
import { compileTemplate, type Template } from "./template.ts";

/** One frame as a declarative format reads it: what it is, its fields, and how it is written out. */
export interface ParsedEvent {
  readonly kind: EventKind;
  readonly fields: Fields;
  readonly visibility: Visibility;
  /** Rendered when read; `{}` when the schema has none. */
  readonly templates: EventTemplates;
  /** The frame's JSON value, or its text when it is not JSON. */
  readonly raw?: unknown;
  /** Milliseconds since 1970, from the field `timestamp`. */
  readonly timestamp?: number;
}

/** What a person wants to see besides messages and errors. */
export interface ShowOptions {
  readonly showThinking?: boolean;
  readonly showTools?: boolean;
  readonly showMetadata?: boolean;
  readonly showAll?: boolean;
}

const SHOW_NAMES = ["showThinking", "showTools", "showMetadata", "showAll"] satisfies (keyof ShowOptions)[];

/**
 * Whether an event is shown. `always` is, `hidden` is not; `optional` is shown when its switch or `showAll` is on.
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

/** The templates of a schema, compiled. */
export type CompiledTemplates = Readonly<Partial<Record<keyof EventTemplates, Template>>>;

export function compileTemplates(schema: DefaultSchema): CompiledTemplates {
  const { text, ansi, json } = schema.templates ?? {};
  // Without a template of its own a terminal gets the plain one, markers left out.
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

/** Most readers want one of the three, and a value can be megabytes: each is rendered when it is asked for. */
function renderLazily(templates: CompiledTemplates, fields: Fields): EventTemplates {
  const rendered: EventTemplates = {};
  for (const [style, template] of Object.entries(templates)) {
    Object.defineProperty(rendered, style, { enumerable: true, get: () => template.render(fields) });
  }
  return rendered;
}
