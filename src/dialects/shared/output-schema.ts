import type { JsonSchema } from "#tools";
import { isRecord } from "#wire";

/** A schema in a vendor's dialect, or why that is impossible. */
type Fitted = { readonly schema: JsonSchema } | { readonly why: string };

/**
 * Rewrites a schema so that a vendor can enforce it, as strictly as possible: objects are closed, annotations are
 * dropped, and constraints that the vendor does not enforce go into the description. The answer must still be checked
 * against the original schema.
 */
export function fitSchema(schema: JsonSchema, dialect: SchemaDialect): Fitted {
  const fitting: Fitting = {
    dialect,
    why: undefined,
    optional: 0,
    unions: 0,
    owner: ROOT,
    references: new Map([[ROOT, new Set()]]),
  };
  const fitted = fitPart(schema, "#", 0, fitting);
  const why = fitting.why ?? (fitted.type === "object" ? findLimit(fitting) : "it does not describe an object");
  return why === undefined ? { schema: fitted } : { why };
}

const ROOT = "#";

/** Keywords that inform readers and constrain nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set(
  "$schema $id $comment $anchor default examples deprecated readOnly writeOnly".split(" "),
);

/** Constraints that can be described in words if the vendor does not enforce them. */
const CONSTRAINTS: ReadonlySet<string> = new Set(
  (
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format " +
    "minItems maxItems uniqueItems minProperties maxProperties contentEncoding contentMediaType"
  ).split(" "),
);

/** The state of one rewrite. */
interface Fitting {
  readonly dialect: SchemaDialect;
  /** The first reason why the schema cannot be rewritten. */
  why: string | undefined;
  optional: number;
  unions: number;
  /** The definition that is being rewritten, to which its references are attributed. */
  owner: string;
  readonly references: Map<string, Set<string>>;
}

function refuse(fitting: Fitting, why: string): JsonSchema {
  fitting.why ??= why;
  return {};
}

function fitPart(part: unknown, path: string, depth: number, fitting: Fitting): JsonSchema {
  if (fitting.why !== undefined) return {};
  if (!isRecord(part)) return refuse(fitting, `${path} is ${JSON.stringify(part)}, which is not a schema`);
  if (depth > fitting.dialect.maxDepth) {
    return refuse(fitting, `it is nested more than ${fitting.dialect.maxDepth} levels deep`);
  }
  if (Object.hasOwn(part, "$ref")) return fitReference(part, path, depth, fitting);
  const fields: [string, unknown][] = [];
  const notes: string[] = [];
  for (const [keyword, value] of Object.entries(part)) {
    if (ANNOTATIONS.has(keyword) || keyword === "description") continue;
    if (CONSTRAINTS.has(keyword)) {
      if (isEnforced(keyword, value, fitting.dialect)) fields.push([keyword, value]);
      else notes.push(`${keyword}: ${JSON.stringify(value)}`);
    } else fields.push(...fitKeyword(keyword, value, { path, depth, fitting }));
  }
  const description = [...(typeof part.description === "string" ? [part.description] : []), notes.join(", ")]
    .filter((line) => line !== "")
    .join("\n");
  if (description !== "") fields.push(["description", description]);
  return finishPart(Object.fromEntries(fields), path, fitting);
}

interface SchemaPosition {
  readonly path: string;
  readonly depth: number;
  readonly fitting: Fitting;
}

function fitKeyword(keyword: string, value: unknown, { path, depth, fitting }: SchemaPosition): [string, unknown][] {
  const within = (key: string): string => `${path}/${keyword}${key === "" ? "" : `/${key}`}`;
  switch (keyword) {
    case "type":
    case "title":
    case "required":
      return [[keyword, value]];
    case "enum":
      if (!Array.isArray(value) || value.length === 0 || !value.every(isPrimitive)) {
        refuse(fitting, `${within("")} is not a list of strings and numbers`);
      }
      return [[keyword, value]];
    case "const":
      if (!isPrimitive(value)) refuse(fitting, `${within("")} is neither a string nor a number`);
      return [fitting.dialect.hasConst ? [keyword, value] : ["enum", [value]]];
    case "properties":
    case "$defs":
    case "definitions":
      return [[keyword, fitEach(keyword, value, { path, depth, fitting })]];
    case "items":
      return [[keyword, fitPart(value, within(""), depth + 1, fitting)]];
    case "anyOf":
    case "oneOf":
      if (!Array.isArray(value)) refuse(fitting, `${within("")} is not a list`);
      fitting.unions += 1;
      // Vendors do not enforce that exactly one matches; that is checked afterwards.
      return [
        [
          "anyOf",
          (Array.isArray(value) ? value : []).map((one, index) => fitPart(one, within(`${index}`), depth + 1, fitting)),
        ],
      ];
    case "additionalProperties":
      if (value !== false) refuse(fitting, `${path} has fields that are not named in it`);
      return [[keyword, false]];
    default:
      refuse(fitting, `${path} has the keyword "${keyword}"`);
      return [];
  }
}

function fitEach(keyword: string, value: unknown, { path, depth, fitting }: SchemaPosition): JsonSchema {
  if (!isRecord(value)) return refuse(fitting, `${path}/${keyword} is not an object`);
  const isDefinitions = keyword !== "properties";
  if (isDefinitions && path !== "#") return refuse(fitting, `${path} has "${keyword}", which belong to the top`);
  const fitted: [string, JsonSchema][] = [];
  for (const [name, part] of Object.entries(value)) {
    if (isDefinitions) {
      fitting.owner = `#/${keyword}/${name}`;
      addOwner(fitting, fitting.owner);
    }
    fitted.push([name, fitPart(part, `${path}/${keyword}/${name}`, isDefinitions ? 1 : depth + 1, fitting)]);
    if (isDefinitions) fitting.owner = ROOT;
  }
  return Object.fromEntries(fitted);
}

/** Some vendors refuse keywords next to a reference, others ignore them; dropped annotations are no loss. */
function fitReference(part: JsonSchema, path: string, depth: number, fitting: Fitting): JsonSchema {
  const { $ref: target } = part;
  const beside: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(part)) {
    if (keyword === "$ref" || keyword === "description" || keyword === "title" || ANNOTATIONS.has(keyword)) continue;
    if (keyword !== "$defs" && keyword !== "definitions") return refuse(fitting, `${path} has more beside its $ref`);
    beside.push([keyword, fitEach(keyword, value, { path, depth, fitting })]);
  }
  if (typeof target !== "string" || !/^#(\/(\$defs|definitions)\/[^/]+)?$/.test(target)) {
    return refuse(fitting, `${path} refers to ${JSON.stringify(target)}, which is not one of its own definitions`);
  }
  addOwner(fitting, fitting.owner).add(target);
  return Object.fromEntries([["$ref", target], ...beside]);
}

function addOwner({ references }: Fitting, owner: string): Set<string> {
  const known = references.get(owner) ?? new Set<string>();
  references.set(owner, known);
  return known;
}

/** Makes implied types explicit: a schema with fields is an object, and allowed values have a type. */
function finishPart(part: JsonSchema, path: string, fitting: Fitting): JsonSchema {
  const type = part.type ?? impliedType(part);
  if (type === undefined && part.anyOf === undefined) return refuse(fitting, `${path} says no type`);
  const typed = type === undefined ? part : { type, ...part };
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object"));
  if (!isObject) return typed;
  const { properties } = typed;
  // Closing it would allow only the empty object.
  if (!isRecord(properties)) return refuse(fitting, `${path} is an object that may have any fields`);
  const required = new Set(Array.isArray(typed.required) ? typed.required : []);
  for (const name of Object.keys(properties)) {
    if (required.has(name)) continue;
    fitting.optional += 1;
    if (fitting.dialect.allRequired) return refuse(fitting, `the field "${name}" of ${path} is not required`);
  }
  return { ...typed, required: [...required], additionalProperties: false };
}

function impliedType(part: JsonSchema): unknown {
  if (isRecord(part.properties)) return "object";
  const values = Array.isArray(part.enum) ? part.enum : Object.hasOwn(part, "const") ? [part.const] : [];
  const types = [...new Set(values.map((value: unknown) => (value === null ? "null" : typeof value)))];
  return types.length > 1 ? types : types[0];
}

function isPrimitive(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** What is wrong with a schema as a whole. */
function findLimit({ dialect, optional, unions, references }: Fitting): string | undefined {
  if (optional > dialect.maxOptional) {
    return `it has ${optional} fields that are not required, and ${dialect.maxOptional} is the limit`;
  }
  if (unions > dialect.maxUnions) return `it has ${unions} unions, and ${dialect.maxUnions} is the limit`;
  for (const targets of references.values()) {
    for (const target of targets) if (!references.has(target)) return `it refers to ${target}, which is not there`;
  }
  return dialect.isRecursive || !hasCircle(references) ? undefined : "it refers to itself";
}

/** Repeatedly removes definitions that refer to nothing that is left. Whatever remains is circular. */
function hasCircle(references: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const waitingFor = new Map([...references].map(([owner, targets]) => [owner, targets.size]));
  const referredBy = new Map<string, string[]>();
  for (const [owner, targets] of references) {
    for (const target of targets) referredBy.set(target, [...(referredBy.get(target) ?? []), owner]);
  }
  const free = [...references.keys()].filter((owner) => waitingFor.get(owner) === 0);
  let settled = 0;
  for (let owner = free.pop(); owner !== undefined; owner = free.pop()) {
    settled += 1;
    for (const other of referredBy.get(owner) ?? []) {
      const left = (waitingFor.get(other) ?? 0) - 1;
      waitingFor.set(other, left);
      if (left === 0) free.push(other);
    }
  }
  return settled < references.size;
}

/** The JSON Schema features that a vendor enforces. Data: vendors differ only in the values. */
export interface SchemaDialect {
  /** The constraints it enforces. */
  readonly constraints: ReadonlySet<string>;
  /** The values of `format` it enforces. */
  readonly formats: ReadonlySet<string>;
  /** The largest `minItems` it accepts. */
  readonly mostMinItems: number;
  /** Supports `const`; otherwise an `enum` with one value is used. */
  readonly hasConst: boolean;
  /** Whether a schema may refer to itself. */
  readonly isRecursive: boolean;
  /** Whether every field of an object must be required. */
  readonly allRequired: boolean;
  readonly maxDepth: number;
  readonly maxOptional: number;
  readonly maxUnions: number;
}

/** Whether the vendor enforces a constraint as it is written. */
function isEnforced(keyword: string, value: unknown, dialect: SchemaDialect): boolean {
  if (keyword === "format") return typeof value === "string" && dialect.formats.has(value);
  if (!dialect.constraints.has(keyword)) return false;
  if (keyword === "minItems") return typeof value === "number" && value <= dialect.mostMinItems;
  // Vendors compile patterns to automata, which cannot look ahead or behind.
  return keyword !== "pattern" || (typeof value === "string" && !value.includes("(?"));
}
