import { describeThrown } from "#domain";
import { isStandardSchema } from "./standard-schema.ts";

/** Finds the part of a schema that cannot be converted by itself: libraries name the type, not the field. */
export function findFault(
  schema: unknown,
  convert: (schema: unknown) => unknown,
  reason: string,
): { readonly path: readonly string[]; readonly reason: string } {
  const path: string[] = [];
  let culprit = { schema, reason };
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const next = partsOf(culprit.schema)
      .map(([name, part]) => ({ name, schema: part, reason: tryConvert(part, convert) }))
      .find((part) => part.reason !== undefined);
    if (next?.reason === undefined) break;
    if (next.name !== "") path.push(next.name);
    culprit = { schema: next.schema, reason: next.reason };
  }
  return { path, reason: culprit.reason };
}

/** A recursive schema has no deepest part. */
const MAX_DEPTH = 32;

function tryConvert(schema: unknown, convert: (schema: unknown) => unknown): string | undefined {
  try {
    convert(schema);
    return undefined;
  } catch (error) {
    return describeThrown(error);
  }
}

/** The schemas within a schema, by the properties in which zod, valibot and arktype store them. */
function partsOf(schema: unknown): readonly (readonly [string, unknown])[] {
  const read = (name: string): unknown => readProperty(schema, name);
  // zod 3 has `_def` alone.
  const { innerType, valueType, in: input, schema: checked, left, right } = asRecord(read("def") ?? read("_def"));
  const parts: (readonly [string, unknown])[] = [
    ...Object.entries(asRecord(read("shape"))),
    ...Object.entries(asRecord(read("entries"))),
    ...listOf(read("props")).map((prop) => [String(asRecord(prop)["key"]), asRecord(prop)["value"]] as const),
    ["items", read("element")],
    ["items", read("item")],
    ...listEntries(read("options"), "anyOf"),
    ...listEntries(read("items"), "items"),
    ["", read("wrapped")],
    ["", innerType],
    ["", input],
    ["", checked],
    ["", left],
    ["", right],
    ["values", valueType ?? read("value")],
  ];
  return parts.filter(([, part]) => isStandardSchema(part));
}

/** Some getters of arktype throw for schemas that do not have what they get. */
function readProperty(schema: unknown, name: string): unknown {
  try {
    return asRecord(schema)[name];
  } catch {
    return undefined;
  }
}

function listEntries(list: unknown, name: string): (readonly [string, unknown])[] {
  return listOf(list).map((part, index) => [`${name}[${index}]`, part] as const);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  // The parts of an arktype schema are functions.
  const isHolder = (typeof value === "object" && value !== null) || typeof value === "function";
  return isHolder ? (value as Readonly<Record<string, unknown>>) : {};
}
