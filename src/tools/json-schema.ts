/** A JSON Schema, as models and MCP are shown it. */
export type JsonSchema = { readonly [Keyword: string]: unknown };

/** A value that fits, or a sentence that tells what does not: it goes back to the model. */
export type Parsed =
  | { readonly fits: true; readonly value: unknown }
  | { readonly fits: false; readonly problem: string };

/** One schema with its two uses: to be shown, and to check a value. */
export interface Schema {
  readonly jsonSchema: JsonSchema;
  /** Never rejects. */
  parse(value: unknown): Promise<Parsed>;
}
