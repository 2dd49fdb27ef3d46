/** What a vendor takes of JSON Schema when it promises to keep to it. Data: vendors differ in the rows. */
export interface SchemaDialect {
  /** The constraints it enforces. */
  readonly constraints: ReadonlySet<string>;
  /** The values of `format` it knows. */
  readonly formats: ReadonlySet<string>;
  /** The largest `minItems` it takes. */
  readonly mostMinItems: number;
  /** Knows `const`; else a list of one value says the same. */
  readonly hasConst: boolean;
  /** Whether a schema may refer to itself. */
  readonly isRecursive: boolean;
  /** Whether every field of an object has to be required. */
  readonly allRequired: boolean;
  readonly maxDepth: number;
  readonly maxOptional: number;
  readonly maxUnions: number;
}

/** Whether the vendor enforces a constraint as it is written. */
export function isEnforced(keyword: string, value: unknown, dialect: SchemaDialect): boolean {
  if (keyword === "format") return typeof value === "string" && dialect.formats.has(value);
  if (!dialect.constraints.has(keyword)) return false;
  if (keyword === "minItems") return typeof value === "number" && value <= dialect.mostMinItems;
  // Vendors compile patterns to automata, which cannot look ahead or behind.
  return keyword !== "pattern" || (typeof value === "string" && !value.includes("(?"));
}
