/** A JSON Schema, as models and MCP are shown it. */
export type JsonSchema = { readonly [Keyword: string]: unknown };
