import { isRecord, type JsonRecord, ownArray, ownRecord, ownString, ownValue } from "#wire";

/** One property of an object schema. */
export interface Property {
  readonly name: string;
  readonly schema: JsonRecord;
  readonly isRequired: boolean;
}

/** The properties of an object schema in the order they are written. */
export function readProperties(schema: JsonRecord): Property[] {
  const properties = ownRecord(schema, "properties") ?? {};
  const required = new Set(ownArray(schema, "required") ?? []);
  return Object.entries(properties).map(([name, value]) => ({
    name,
    schema: isRecord(value) ? value : {},
    isRequired: required.has(name),
  }));
}

/** The type of a schema in lower case (Gemini writes it in capitals); the first that is not null when there are several. */
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

/** The texts a property may have; `undefined` when it may have any. */
export function readChoices(schema: JsonRecord): readonly string[] | undefined {
  const only = ownString(schema, "const");
  if (only !== undefined) return [only];
  const choices = (ownArray(schema, "enum") ?? []).filter((choice) => typeof choice === "string");
  return choices.length === 0 ? undefined : choices;
}
