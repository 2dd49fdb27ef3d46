export { createNdjsonSink } from "./ndjson.ts";
export { plainLine, plainText } from "./plain-text.ts";
export type { Sink } from "./sink.ts";
export type { TerminalOptions } from "./terminal.ts";
export { createTerminalSink } from "./terminal.ts";
