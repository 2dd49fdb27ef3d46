import { isRecord, type JsonRecord, ownString, ownValue } from "#wire";
import { Refusal } from "./refusal.ts";

/** Refuses a tool whose name the vendor does not accept, or that was offered before. */
export function checkToolName(
  name: unknown,
  { path, pattern, seen }: { readonly path: string; readonly pattern: RegExp; readonly seen: Set<string> },
): string {
  if (typeof name !== "string" || !pattern.test(name)) {
    throw new Refusal(
      "invalid",
      `${path}: ${JSON.stringify(name) ?? "nothing"} is not a tool name. It has to match ${pattern.source}.`,
      {
        param: path,
      },
    );
  }
  if (seen.has(name))
    throw new Refusal("invalid", `${path}: the tool name "${name}" is used twice. Tool names have to be unique.`, {
      param: path,
    });
  seen.add(name);
  return name;
}

/** Refuses a schema of arguments that does not describe an object. */
export function checkToolSchema(schema: unknown, path: string): void {
  if (!isRecord(schema)) throw new Refusal("invalid", `${path}: a JSON Schema is required.`, { param: path });
  const type = ownString(schema, "type");
  if (type?.toLowerCase() !== "object") {
    const given = JSON.stringify(ownValue(schema, "type")) ?? "missing";
    throw new Refusal("invalid", `${path}: the type is ${given}, and must be "object".`, { param: path });
  }
  const properties = ownValue(schema, "properties");
  if (properties !== undefined && !isRecord(properties)) {
    throw new Refusal("invalid", `${path}.properties: must be an object.`, { param: path });
  }
}

/** Refuses a number outside a range. The field may be missing. */
export function checkRange(
  body: JsonRecord,
  field: string,
  { least, most }: { readonly least: number; readonly most: number },
): void {
  const value = ownValue(body, field);
  if (value === undefined || value === null) return;
  if (typeof value !== "number" || value < least || value > most) {
    throw new Refusal("invalid", `${field}: ${JSON.stringify(value)} is not between ${least} and ${most}.`, {
      param: field,
    });
  }
}

/** Refuses a count that is not a whole number of at least 1. The field may be missing. */
export function checkPositive(body: JsonRecord, field: string): void {
  const value = ownValue(body, field);
  if (value === undefined || value === null) return;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1) {
    throw new Refusal("invalid", `${field}: ${JSON.stringify(value)} is not a whole number from 1 on.`, {
      param: field,
    });
  }
}
