import type { NextTurn } from "#domain";

/** A JSON Schema, as models and MCP receive it. */
export type JsonSchema = { readonly [Keyword: string]: unknown };

/** A value that matches, or a sentence that says what does not; the sentence goes back to the model. */
export type Parsed =
  | { readonly fits: true; readonly value: unknown }
  | { readonly fits: false; readonly problem: string };

/** One schema with its two uses: to be shown to a model, and to check a value. */
export interface Schema {
  readonly jsonSchema: JsonSchema;
  /** A matching value is returned unchanged; a schema of a library may transform it. */
  readonly keepsValue?: boolean | undefined;
  /** Never rejects. A large value is checked in several turns of the event loop. */
  parse(value: unknown, nextTurn?: NextTurn): Promise<Parsed>;
}
