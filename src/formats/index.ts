/**
 * Bytes of a stream to chunks: the built-in dialects, and formats of your own made of data.
 *
 * @module
 */
export { anthropicMessages } from "./anthropic/anthropic.ts";
export type { FormatEntry } from "./built-in.ts";
export { builtInFormats } from "./built-in.ts";
export { claudeCode, type ClaudeCodeAdapter } from "./claude-code/claude-code.ts";
export type { DeclarativeFormat } from "./declarative/create-format.ts";
export { createDeclarativeFormat } from "./declarative/create-format.ts";
export { parseFormatConfig } from "./declarative/parse-config.ts";
export type { ParsedEvent, ShowOptions } from "./declarative/parsed-event.ts";
export { isVisible } from "./declarative/parsed-event.ts";
export { compilePath, type Path } from "./declarative/path.ts";
export type {
  DeclarativeFormatConfig,
  DefaultSchema,
  EndSchema,
  EventKind,
  EventSchema,
  EventTemplates,
  Extract,
  Match,
  Scalar,
  Visibility,
} from "./declarative/schema.ts";
export type { Template, TemplateStyle } from "./declarative/template.ts";
export { compileTemplate } from "./declarative/template.ts";
export type { Decoder, DecoderOptions } from "./decoder.ts";
export { createDecoder } from "./decoder.ts";
export type { Adapter, AdapterOptions, Format } from "./format.ts";
export { gemini } from "./gemini/gemini.ts";
export type { MissingVerdict } from "./missing-verdict.ts";
export { createMissingVerdict } from "./missing-verdict.ts";
export { ndjson } from "./ndjson.ts";
export { openAiChat } from "./openai-chat/openai-chat.ts";
export type { FormatDescription, FormatRegistry } from "./registry.ts";
export { createFormatRegistry } from "./registry.ts";
export { text as plainText } from "./text/text.ts";
