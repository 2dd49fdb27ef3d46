/**
 * Bytes of a stream to chunks: the built-in dialects, formats of your own, and the makers of chunks for backends of your own.
 *
 * @module
 */
export type { Chunk, ChunkOf } from "#domain";
export {
  errorItem,
  messageItem,
  noticeItem,
  permissionItem,
  resultItem,
  retractNotice,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
  warningItem,
} from "#domain";
export type { DataFrame, FaultCode, FaultyFrame, Frame, Framing } from "#wire";
export type {
  Adapter,
  AdapterOptions,
  ClaudeCodeAdapter,
  DeclarativeFormat,
  DeclarativeFormatConfig,
  Decoder,
  DecoderOptions,
  DefaultSchema,
  EndSchema,
  EventKind,
  EventSchema,
  EventTemplates,
  Extract,
  Format,
  FormatDescription,
  FormatEntry,
  FormatRegistry,
  Match,
  MissingVerdict,
  ParsedEvent,
  Path,
  Scalar,
  ShowOptions,
  Template,
  TemplateStyle,
  Visibility,
} from "#dialects";
export {
  anthropicMessages,
  builtInFormats,
  claudeCode,
  compilePath,
  compileTemplate,
  createDeclarativeFormat,
  createDecoder,
  createFormatRegistry,
  createMissingVerdict,
  gemini,
  isVisible,
  ndjson,
  openAiChat,
  parseFormatConfig,
  plainText,
} from "#dialects";
