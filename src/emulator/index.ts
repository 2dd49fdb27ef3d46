/**
 * An offline model server that implements the protocols of Anthropic, OpenAI and Google, with scripted or rule-based
 * answers.
 *
 * @module
 */
export type { Emulator, EmulatorOptions } from "./emulator.ts";
export { createEmulator } from "./emulator.ts";
export type { Fault } from "./fault.ts";
export { FAULT_HEADER } from "./header-fault.ts";
export type { Reply, ReplyCall } from "./reply.ts";
export type { ReceivedRequest } from "./request-log.ts";
export type { EmulatorScript, ScriptMatch, ScriptRule } from "./script.ts";
export { parseScript } from "./script-check.ts";
export type { ListeningServer, ListenOptions } from "./server.ts";
