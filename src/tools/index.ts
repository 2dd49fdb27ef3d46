export type { FailureReason, Outcome } from "./outcome.ts";
export { MAX_RESULT_CHARACTERS, toOutcome } from "./outcome.ts";
export type { ToolRun } from "./run-tool.ts";
export { DEFAULT_TOOL_MS, runTool } from "./run-tool.ts";
export type { JsonSchema, Parsed, Schema, SchemaInput, StandardSchema } from "./schema.ts";
export { readSchema } from "./schema.ts";
export type { FieldType, Shorthand, ShorthandValue } from "./shorthand.ts";
export type { InputOf, Tool, ToolContext, ToolDefinition, ToolOptions } from "./tool.ts";
export { tool } from "./tool.ts";
