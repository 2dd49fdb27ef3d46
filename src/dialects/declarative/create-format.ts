import type { DataFrame, Frame } from "#wire";
import type { AdapterOptions, Format } from "../shared/format.ts";
import { createDeclarativeAdapter } from "./adapter.ts";
import { createFrameReader } from "./frame-reader.ts";
import { parseFormatConfig } from "./parse-config.ts";
import { type CompiledTemplates, compileTemplates, type ParsedEvent, parsedEvent } from "./parsed-event.ts";
import type { DeclarativeFormatConfig, DefaultSchema } from "./schema.ts";

/** A format made of data. It decodes streams, and can also show how it reads single frames. */
export interface DeclarativeFormat extends Format {
  readonly config: DeclarativeFormatConfig;
  /**
   * How one frame is read, with its templates. Stateless and lazy; an unreadable frame gives nothing. A frame that no
   * schema matches is an event of kind `unknown`.
   */
  parse(frame: Frame): ParsedEvent[];
}

const NO_TEMPLATES: CompiledTemplates = {};

/**
 * Creates a format from data. The config is checked first, so a format that exists also works.
 *
 * @throws StartError `invalid-format`, see `parseFormatConfig`
 * @example
 * const format = createDeclarativeFormat({
 *   name: "my-agent",
 *   framing: "ndjson",
 *   events: [{ kind: "message", match: { type: "text" }, extract: { text: "text" } }],
 * });
 */
export function createDeclarativeFormat(config: DeclarativeFormatConfig): DeclarativeFormat {
  const checked = parseFormatConfig(config);
  const read = createFrameReader(checked);
  const schemas: readonly DefaultSchema[] =
    checked.defaultSchema === undefined ? checked.events : [...checked.events, checked.defaultSchema];
  const templates = new Map(schemas.map((schema) => [schema, compileTemplates(schema)]));

  const parseData = (frame: DataFrame): ParsedEvent => {
    const reading = read(frame);
    const compiled = reading.schema === undefined ? undefined : templates.get(reading.schema);
    return parsedEvent(frame, reading, compiled ?? NO_TEMPLATES);
  };

  return {
    name: checked.name,
    framing: checked.framing,
    description: checked.description ?? `The declarative format ${checked.name}.`,
    config: checked,
    parse: (frame) => (frame.kind === "data" ? [parseData(frame)] : []),
    createAdapter: (options?: AdapterOptions) =>
      createDeclarativeAdapter({ name: checked.name, read, hasEnd: checked.end !== undefined }, options),
  };
}
