/**
 * Threads, chat, approvals and events over HTTP, with a chat page.
 *
 * @module
 */
export type { ApiErrorCode } from "./api-error.ts";
export type { ServerLimits } from "./limits.ts";
export { SERVER_LIMITS } from "./limits.ts";
export type { Listening, ListenOptions } from "./listen.ts";
export type { ResultLinkOptions } from "./result-link.ts";
export { resultLink } from "./result-link.ts";
export type { AccessToken, ServerOptions } from "./options.ts";
export type { Server } from "./server.ts";
export { createServer } from "./server.ts";
export type { LogRecord } from "./server-log.ts";
export { logLine } from "./server-log.ts";
