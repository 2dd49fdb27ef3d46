/**
 * Consumers of events that print, write or send them, and their building blocks.
 *
 * @module
 */
export type { AskOptions, TerminalAnswer, TerminalQuestion } from "./ask-in-terminal.ts";
export { askInTerminal, createTerminalAsk } from "./ask-in-terminal.ts";
export { displayWidth, plainLine } from "./display-width.ts";
export type { FormattedEvent, FormattedOptions } from "./formatted.ts";
export { createFormattedSink } from "./formatted.ts";
export type { LogOptions } from "./log.ts";
export { createLogSink, logFileName } from "./log.ts";
export type { MarkdownOptions, MarkdownWriter } from "./markdown/markdown-writer.ts";
export { createMarkdownWriter } from "./markdown/markdown-writer.ts";
export { createNdjsonSink } from "./ndjson.ts";
export type { Telemetry, TelemetryOptions } from "./otel.ts";
export { createTelemetry, loadTelemetry } from "./otel.ts";
export { wantsColor } from "./palette.ts";
export type { ProgressOptions, ProgressSink } from "./progress.ts";
export { createProgressSink } from "./progress.ts";
export type { SafeText } from "./safe-text.ts";
export { createSafeText, plainText } from "./safe-text.ts";
export type { Sink } from "./sink.ts";
export { joinSinks, selectSinks } from "./sink.ts";
export { createSseSink } from "./sse.ts";
export type { TerminalOptions, TerminalSink } from "./terminal.ts";
export { createTerminalSink } from "./terminal.ts";
export { foldLine } from "./word-wrap.ts";
export type {
  TelemetryApi,
  TelemetryAttributes,
  TelemetryMeter,
  TelemetrySpan,
  TelemetryTracer,
} from "./telemetry-api.ts";
