export { anthropicMessages } from "./anthropic/decode.ts";
export type { FormatEntry } from "./registry.ts";
export { builtInFormats } from "./registry.ts";
export { claudeCode, type ClaudeCodeAdapter } from "./claude-code/decode.ts";
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
export type { Decoder, DecoderOptions } from "./shared/decoder.ts";
export { createDecoder } from "./shared/decoder.ts";
export { createReplyDecoder, lineBytesFor } from "./shared/reply-decoder.ts";
export type { Adapter, AdapterOptions, Format } from "./shared/format.ts";
export { gemini } from "./gemini/decode.ts";
export type { MissingVerdict } from "./shared/missing-verdict.ts";
export { createMissingVerdict } from "./shared/missing-verdict.ts";
export { ndjson } from "./ndjson.ts";
export { openAiChat } from "./openai-chat/decode.ts";
export type { FormatDescription, FormatRegistry } from "./registry.ts";
export { createFormatRegistry } from "./registry.ts";
export { text as plainText } from "./text.ts";
export { anthropicHost } from "./anthropic/profile.ts";
export { geminiHost } from "./gemini/profile.ts";
export { openaiHost, PROFILES } from "./openai-chat/profile.ts";
export type { ProviderProfile } from "./openai-chat/types.ts";
export { isMedia, outputText, splitContent } from "./shared/content.ts";
export { cannotSendToAnthropic, encodeMessagesMedia, withResults } from "./shared/media.ts";
export type { ModelHost } from "./shared/model-host.ts";
export type { ModelRequest, OutputSpec, ToolChoice, ToolSpec } from "./shared/model-request.ts";
export { finishText, type RequestText } from "./shared/request-text.ts";
