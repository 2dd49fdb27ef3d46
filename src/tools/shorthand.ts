import { StartError } from "#domain";
import type { JsonSchema } from "./json-schema.ts";
import type { StandardSchema } from "./standard-schema.ts";

/**
 * Fields and their types in the short notation: `{ a: "number", name: "string?", tags: "string[]", unit: ["cm", "in"]
 * }`.
 *
 * A `?` after the type or the name makes a field optional. A list gives the allowed values. An object is a nested
 * object or, with a `type`, one field's JSON Schema (`{ type: "number", description: "in metres" }`). A field may also
 * be a schema of another library (`{ a: z.number() }`).
 */
export interface Shorthand {
  readonly [field: string]: FieldType;
}

type Simple = "string" | "number" | "integer" | "boolean" | "object" | "any";

type FieldName = Simple | `${Simple}[]` | `${Simple}?` | `${Simple}[]?`;

export type FieldType = FieldName | readonly (string | number | boolean)[] | StandardSchema | JsonSchema | Shorthand;

interface SimpleTypes {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  object: Record<string, unknown>;
  any: unknown;
}

type FieldValue<Type> =
  Type extends StandardSchema<infer _Input, infer Output>
    ? Output
    : Type extends `${infer Rest}?`
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
    : Fields[Name] extends StandardSchema<infer _Input, infer Output>
      ? undefined extends Output
        ? Name
        : never
      : never;

type BareName<Name> = Name extends `${infer Bare}?` ? Bare : Name;

/** Expanded by the compiler, so that an editor shows the fields and not the names of these types. */
type Flat<Type> = { [Name in keyof Type]: Type[Name] } & {};

/** The value that a short notation describes. */
export type ShorthandValue<Fields> = Flat<
  {
    -readonly [Name in keyof Fields as Name extends OptionalField<Fields, Name> ? never : Name]: FieldValue<
      Fields[Name]
    >;
  } & {
    -readonly [Name in keyof Fields as Name extends OptionalField<Fields, Name>
      ? BareName<Name> & PropertyKey
      : never]?: FieldValue<Fields[Name]>;
  }
>;

/** Whether an object is the JSON Schema of a simple value, by the same rule as `isShorthand`. */
export type IsSimpleSchema<Given> = Given extends { readonly type: Simple }
  ? keyof Given extends TypeKeyword
    ? Given extends { readonly [Name in keyof Given]: FieldName }
      ? false
      : true
    : false
  : false;

/** The value that such a schema describes. */
export type SimpleValue<Given> = Given extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Given extends { readonly type: infer Type extends Simple }
    ? SimpleTypes[Type]
    : unknown;

/** The field names that mark an object as JSON Schema rather than short notation. */
type SchemaMark = (typeof SCHEMA_MARKS)[number];

/** No string has this type, so the compiler's message shows what was written, and the remedy. */
interface NoSuchType<Given, Remedy> {
  readonly given: Given;
  readonly remedy: Remedy;
}

/** One field of the short notation as written, or an error in its place. */
type CheckedField<Type> = Type extends StandardSchema
  ? Type
  : Type extends string
    ? string extends Type
      ? Type
      : Type extends FieldName
        ? Type
        : NoSuchType<Type, "use string, number, integer, boolean, object or any, with [] for a list and ? if optional">
    : Type extends readonly unknown[]
      ? Type
      : Type extends { readonly type: string }
        ? Type
        : Type extends object
          ? CheckedShorthand<Type>
          : Type;

/** A short notation with every field checked: an unknown type is a compile error at its place. */
export type CheckedShorthand<Fields> = string extends keyof Fields
  ? Fields
  : Fields extends { readonly type: "object" | "array" | "null" | readonly string[] }
    ? Fields
    : keyof Fields & SchemaMark extends never
      ? { readonly [Name in keyof Fields]: CheckedField<Fields[Name]> }
      : Fields;

const SIMPLE: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean", "object", "any"]);

/** Keywords that mark an object as a JSON Schema, whatever else it contains. */
const SCHEMA_MARKS = ["$schema", "$ref", "$defs", "properties", "anyOf", "oneOf", "allOf"] as const;

/** Type names that only JSON Schema has. */
const SCHEMA_TYPES: readonly unknown[] = ["object", "array", "null"];

/** Keywords that may accompany a simple `type`. */
const TYPE_KEYWORD_NAMES = [
  "type",
  "title",
  "description",
  "default",
  "examples",
  "enum",
  "const",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
] as const;

type TypeKeyword = (typeof TYPE_KEYWORD_NAMES)[number];

const TYPE_KEYWORDS: ReadonlySet<string> = new Set(TYPE_KEYWORD_NAMES);

/**
 * Whether an object is the short notation. A JSON Schema has a schema type, or keywords that are unlikely field names.
 * `{ type: "number" }` alone is an object with the field `type`; `{ type: "number", minimum: 0 }` is a number.
 */
export function isShorthand(input: object): input is Shorthand {
  const schema = input as JsonSchema;
  if (SCHEMA_TYPES.includes(schema.type) || Array.isArray(schema.type)) return false;
  if (SCHEMA_MARKS.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  if (typeof schema.type !== "string" || !SIMPLE.has(schema.type)) return true;
  const entries = Object.entries(schema);
  return !entries.every(([name]) => TYPE_KEYWORDS.has(name)) || entries.every(([, value]) => isTypeName(value));
}

function isTypeName(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const bare = value.endsWith("?") ? value.slice(0, -1) : value;
  return SIMPLE.has(bare.endsWith("[]") ? bare.slice(0, -2) : bare);
}

/** Converts the short notation to JSON Schema. `field` names it in the error. */
export function shorthandToJsonSchema(fields: Shorthand, field: string): JsonSchema {
  const properties: [string, JsonSchema][] = [];
  const required: string[] = [];
  for (const [key, type] of Object.entries(fields)) {
    const name = key.endsWith("?") ? key.slice(0, -1) : key;
    const optional = key.endsWith("?") || (typeof type === "string" && type.endsWith("?"));
    properties.push([name, fieldToJsonSchema(type, `${field}.${name}`)]);
    if (!optional) required.push(name);
  }
  // `fromEntries` defines properties instead of assigning them: a field called "__proto__" stays a field.
  return { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
}

function fieldToJsonSchema(type: FieldType, field: string): JsonSchema {
  if (typeof type === "string") return simpleToJsonSchema(type, field);
  if (isList(type)) {
    if (type.length > 0) return { enum: type };
  } else if (typeof type === "object" && type !== null) {
    // `{ type: "number", … }` is the schema of one field, which is usually what is meant. A nested object with a field
    // called "type" can be written with "type?" or in JSON Schema.
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
    `${field} is ${JSON.stringify(type)}, which is not a type. Use one of ${[...SIMPLE].join(", ")}, with [] for a list and ? for optional, a list of allowed values, or a nested object.`,
  );
}
