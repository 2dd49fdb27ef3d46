import { isRecord, type JsonRecord, ownArray, ownNumber, ownRecord, ownString, ownValue } from "#wire";

/** One property of an object schema. */
export interface Property {
  readonly name: string;
  readonly schema: JsonRecord;
  readonly isRequired: boolean;
}

/** The properties of an object schema, in their order. */
export function readProperties(schema: JsonRecord): Property[] {
  const properties = ownRecord(schema, "properties") ?? {};
  const required = new Set(ownArray(schema, "required") ?? []);
  return Object.entries(properties).map(([name, value]) => ({
    name,
    schema: isRecord(value) ? value : {},
    isRequired: required.has(name),
  }));
}

/** The type of a schema in lower case (Gemini writes it in capitals). If it has several, the first that is not null. */
export function readType(schema: JsonRecord): string | undefined {
  const type = ownValue(schema, "type");
  const name = Array.isArray(type) ? type.find((entry) => entry !== "null") : type;
  return typeof name === "string" ? name.toLowerCase() : undefined;
}

export function isNumeric(schema: JsonRecord): boolean {
  const type = readType(schema);
  return type === "number" || type === "integer";
}

export function isText(schema: JsonRecord): boolean {
  return readType(schema) === "string";
}

/** The strings that a property may have; `undefined` if it may have any. */
export function readChoices(schema: JsonRecord): readonly string[] | undefined {
  const only = ownString(schema, "const");
  if (only !== undefined) return [only];
  const choices = (ownArray(schema, "enum") ?? []).filter((choice) => typeof choice === "string");
  return choices.length === 0 ? undefined : choices;
}

/** The source of the values in an instance. Each text and number is used once; then the last one is repeated. */
export interface Source {
  readonly question: string;
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  /** For fields that contain the answer itself. */
  readonly answer: string | undefined;
  readonly answerNumber: number | undefined;
  /** Whether the instance is the answer itself: then its only number is the requested one. */
  readonly isAnswer?: boolean;
}

const MAX_DEPTH = 12;
const ANSWER_FIELDS =
  /^(answer|result|response|summary|message|text|output|reply|explanation|total|sum|value|content)$/i;

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["date", "2026-01-01"],
  ["date-time", "2026-01-01T00:00:00Z"],
  ["time", "00:00:00Z"],
  ["email", "someone@example.com"],
  ["uri", "https://example.com/"],
  ["url", "https://example.com/"],
  ["uuid", "00000000-0000-4000-8000-000000000000"],
  ["ipv4", "192.0.2.1"],
]);

/**
 * Builds the smallest value that matches a JSON Schema, with words and numbers from the question where possible.
 *
 * Only required fields are filled, or all fields if the schema requires none. Patterns are ignored.
 */
export function buildInstance(schema: JsonRecord, source: Source): unknown {
  const used = { texts: 0, numbers: 0 };

  const nextText = (): string => source.texts[Math.min(used.texts++, source.texts.length - 1)] ?? source.question;
  const nextNumber = (): number => source.numbers[Math.min(used.numbers++, source.numbers.length - 1)] ?? 1;

  const build = (part: JsonRecord, name: string, depth: number): unknown => {
    const actual = addNotes(resolve(part, schema));
    if (Object.hasOwn(actual, "const")) return actual.const;
    const choices = ownArray(actual, "enum");
    if (choices !== undefined && choices.length > 0) return choose(choices, source.question);
    const variants = ownArray(actual, "anyOf") ?? ownArray(actual, "oneOf") ?? ownArray(actual, "allOf");
    const variant = variants?.find((entry) => isRecord(entry) && entry.type !== "null") ?? variants?.[0];
    if (isRecord(variant) && depth < MAX_DEPTH) return build(variant, name, depth + 1);
    switch (readType(actual) ?? (Object.hasOwn(actual, "properties") ? "object" : "string")) {
      case "object":
        return depth < MAX_DEPTH ? buildObject(actual, depth) : {};
      case "array":
        return buildList(actual, name, depth);
      case "number":
      case "integer":
        return fitNumber(
          actual,
          ANSWER_FIELDS.test(name) && source.answerNumber !== undefined ? source.answerNumber : nextNumber(),
        );
      case "boolean":
        return true;
      case "null":
        return null;
      default:
        return fitText(actual, ANSWER_FIELDS.test(name) && source.answer !== undefined ? source.answer : nextText());
    }
  };

  const buildObject = (part: JsonRecord, depth: number): unknown => {
    const properties = readProperties(part);
    const required = properties.filter((property) => property.isRequired);
    const chosen = ownArray(part, "required") === undefined ? properties : [...required, ...readUnnamed(part)];
    const numbers = chosen.filter((property) => isNumeric(property.schema));
    const only = source.isAnswer === true && numbers.length === 1 ? numbers[0] : undefined;
    return Object.fromEntries(
      chosen.map((property) => {
        const name = property === only ? "answer" : property.name;
        return [property.name, build(property.schema, name, depth + 1)];
      }),
    );
  };

  const buildList = (part: JsonRecord, name: string, depth: number): unknown[] => {
    const least = Math.min(Number(ownValue(part, "minItems") ?? 0) || 0, 100);
    const places = ownArray(part, "prefixItems") ?? [];
    const rest = ownRecord(part, "items") ?? {};
    return Array.from({ length: least }, (_, index) => {
      const place = places[index];
      return depth < MAX_DEPTH ? build(isRecord(place) ? place : rest, name, depth + 1) : null;
    });
  };

  return build(schema, "", 0);
}

/** Fields that are required without a schema of their own, such as those of a record whose keys are listed. */
function readUnnamed(part: JsonRecord): Property[] {
  const named = ownRecord(part, "properties") ?? {};
  const schema = ownRecord(part, "additionalProperties") ?? {};
  return (ownArray(part, "required") ?? [])
    .filter((name): name is string => typeof name === "string" && !Object.hasOwn(named, name))
    .map((name) => ({ name, schema, isRequired: true }));
}

const NOTE =
  /\b(minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|minLength|maxLength|pattern|format|minItems|maxItems|prefixItems|items): /g;

/**
 * Adds the constraints that stand in the last line of the description (`minimum: 3, format: "email"`), where a client
 * writes those that a vendor does not enforce. A model reads them there.
 */
function addNotes(part: JsonRecord): JsonRecord {
  const line = ownString(part, "description")?.split("\n").at(-1) ?? "";
  const starts = [...line.matchAll(NOTE)];
  const notes = starts.flatMap((found, index) => {
    const value = line.slice(found.index + found[0].length, starts[index + 1]?.index).replace(/, $/, "");
    try {
      return [[found[1], JSON.parse(value)]];
    } catch {
      return []; // It is prose, or a part of another value.
    }
  });
  return notes.length === 0 ? part : { ...Object.fromEntries(notes), ...part };
}

/** Follows references within the schema, with a limit, because they may be circular. */
function resolve(part: JsonRecord, root: JsonRecord): JsonRecord {
  let current = part;
  for (let steps = 0; steps < MAX_DEPTH; steps += 1) {
    const reference = ownString(current, "$ref");
    if (reference === undefined || !reference.startsWith("#")) return current;
    let target: unknown = root;
    for (const key of reference.split("/").slice(1)) target = isRecord(target) ? ownValue(target, key) : undefined;
    if (!isRecord(target)) return current;
    current = target;
  }
  return {};
}

/** The first choice that the question mentions, or else the first one. */
function choose(choices: readonly unknown[], question: string): unknown {
  const words = question.toLowerCase();
  return choices.find((choice) => typeof choice === "string" && words.includes(choice.toLowerCase())) ?? choices[0];
}

function fitNumber(schema: JsonRecord, wanted: number): number {
  const isWhole = readType(schema) === "integer";
  const step = ownNumber(schema, "multipleOf") ?? (isWhole ? 1 : 0);
  const above = ownNumber(schema, "exclusiveMinimum");
  const below = ownNumber(schema, "exclusiveMaximum");
  const least = Math.max(
    ownNumber(schema, "minimum") ?? -Infinity,
    above === undefined ? -Infinity : above + (step || 1e-6),
  );
  const most = Math.min(
    ownNumber(schema, "maximum") ?? Infinity,
    below === undefined ? Infinity : below - (step || 1e-6),
  );
  const within = Math.min(Math.max(wanted, least), most);
  if (step <= 0) return within;
  const down = Math.floor(within / step) * step;
  return down < least ? down + step : down;
}

function fitText(schema: JsonRecord, wanted: string): string {
  const format = FORMATS.get(ownString(schema, "format") ?? "");
  if (format !== undefined) return format;
  const least = Math.min(Number(ownValue(schema, "minLength") ?? 0) || 0, 10_000);
  const most = Number(ownValue(schema, "maxLength") ?? Infinity) || Infinity;
  return wanted.padEnd(least, ".").slice(0, most);
}
