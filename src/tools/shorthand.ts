import { StartError } from "#domain";
import type { JsonSchema } from "./json-schema.ts";

/**
 * Fields and their types, the short way: `{ a: "number", name: "string?", tags: "string[]", unit: ["cm", "in"] }`.
 *
 * A `?` behind the type or the name makes a field optional. A list gives the allowed values. An object is a nested
 * object, or, with a `type`, one field's JSON Schema (`{ type: "number", description: "in metres" }`).
 */
export interface Shorthand {
  readonly [field: string]: FieldType;
}

type Simple = "string" | "number" | "integer" | "boolean" | "object" | "any";

export type FieldType =
  | Simple
  | `${Simple}[]`
  | `${Simple}?`
  | `${Simple}[]?`
  | readonly (string | number | boolean)[]
  | JsonSchema
  | Shorthand;

interface SimpleTypes {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  object: Record<string, unknown>;
  any: unknown;
}

type FieldValue<Type> = Type extends `${infer Rest}?`
  ? FieldValue<Rest>
  : Type extends `${infer Rest}[]`
    ? FieldValue<Rest>[]
    : Type extends keyof SimpleTypes
      ? SimpleTypes[Type]
      : Type extends readonly (infer Value)[]
        ? Value
        : Type extends { readonly type: string }
          ? unknown
          : Type extends Shorthand
            ? ShorthandValue<Type>
            : unknown;

type OptionalField<Fields, Name extends keyof Fields> = Name extends `${string}?`
  ? Name
  : Fields[Name] extends `${string}?`
    ? Name
    : never;

type BareName<Name> = Name extends `${infer Bare}?` ? Bare : Name;

/** The value a shorthand describes. */
export type ShorthandValue<Fields> = {
  [Name in keyof Fields as Name extends OptionalField<Fields, Name> ? never : Name]: FieldValue<Fields[Name]>;
} & {
  [Name in keyof Fields as Name extends OptionalField<Fields, Name>
    ? BareName<Name> & PropertyKey
    : never]?: FieldValue<Fields[Name]>;
};

const SIMPLE: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean", "object", "any"]);

/** Whether an object is the short notation. A JSON Schema for a tool's input says that it is an object, or refers on. */
export function isShorthand(input: object): input is Shorthand {
  const schema = input as JsonSchema;
  if (schema.type === "object" || Array.isArray(schema.type)) return false;
  return !["$schema", "$ref", "$defs", "properties", "anyOf", "oneOf", "allOf"].some((keyword) => keyword in schema);
}

/** Writes the short notation out as JSON Schema. `field` names it in the error. */
export function shorthandToJsonSchema(fields: Shorthand, field: string): JsonSchema {
  const properties: [string, JsonSchema][] = [];
  const required: string[] = [];
  for (const [key, type] of Object.entries(fields)) {
    const name = key.endsWith("?") ? key.slice(0, -1) : key;
    const optional = key.endsWith("?") || (typeof type === "string" && type.endsWith("?"));
    properties.push([name, fieldToJsonSchema(type, `${field}.${name}`)]);
    if (!optional) required.push(name);
  }
  // `fromEntries` defines properties instead of setting them: a field called "__proto__" stays a field.
  return { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
}

function fieldToJsonSchema(type: FieldType, field: string): JsonSchema {
  if (typeof type === "string") return simpleToJsonSchema(type, field);
  if (isList(type)) {
    if (type.length > 0) return { enum: type };
  } else if (typeof type === "object" && type !== null) {
    // `{ type: "number", … }` is one field's schema. A nested object with a field called "type" says so with "type?"
    // or in JSON Schema; the schema is what people mean far more often.
    if (typeof (type as JsonSchema).type === "string") return type as JsonSchema;
    return shorthandToJsonSchema(type as Shorthand, field);
  }
  throw unknownType(type, field);
}

function simpleToJsonSchema(type: string, field: string): JsonSchema {
  const bare = type.endsWith("?") ? type.slice(0, -1) : type;
  const element = bare.endsWith("[]") ? bare.slice(0, -2) : bare;
  if (!SIMPLE.has(element)) throw unknownType(type, field);
  const schema: JsonSchema = element === "any" ? {} : { type: element };
  return element === bare ? schema : { type: "array", items: schema };
}

function isList(type: FieldType): type is readonly (string | number | boolean)[] {
  return Array.isArray(type);
}

function unknownType(type: unknown, field: string): StartError {
  return new StartError(
    "invalid-option",
    `${field} is ${JSON.stringify(type)}, which is no type. Use one of ${[...SIMPLE].join(", ")}, with [] for a list and ? for optional, a list of allowed values, or a nested object.`,
  );
}
