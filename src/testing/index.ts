/**
 * For tests of code that uses Millrace: scripted models, processes and HTTP, a virtual clock, and checks of logs,
 * formats, stores and queues. Needs no test framework.
 *
 * @module
 */
export type { AgentSituation } from "./agent-conformance.ts";
export { checkAgentBackend } from "./agent-conformance.ts";
export type { Violation } from "./assert-run-log.ts";
export { assertRunLog, findViolation, RunLogViolation } from "./assert-run-log.ts";
export { closeRunLog } from "./close-run-log.ts";
export type { Failure } from "./conformance.ts";
export type { FilesPlace } from "./files-conformance.ts";
export { checkFiles } from "./files-conformance.ts";
export type { FormatSample } from "./format-conformance.ts";
export { checkFormat } from "./format-conformance.ts";
export { createMemoryFiles } from "./memory-files.ts";
export type { ModelSituation } from "./model-conformance.ts";
export { checkModelBackend } from "./model-conformance.ts";
export type { Invariant } from "./run-log/invariants.ts";
export { RUN_LOG_INVARIANTS } from "./run-log/invariants.ts";
export { checkQueue } from "./queue-conformance.ts";
export type { QueuePlace } from "./queue-place.ts";
export type { BodyStep, FetchReply, FetchScript, RecordedRequest, ScriptedFetch } from "./scripted-fetch.ts";
export { createScriptedFetch } from "./scripted-fetch.ts";
export type { ScriptedSpawn, SpawnScript } from "./scripted-spawn.ts";
export { createScriptedSpawn } from "./scripted-spawn.ts";
export type { Bytes, SpawnCall, SpawnStep } from "./scripted-steps.ts";
export { createSeededRandom } from "./seeded-random.ts";
export type { StoreTrialOptions } from "./store-conformance.ts";
export { checkStore } from "./store-conformance.ts";
export type { VirtualClock } from "./virtual-clock.ts";
export { createVirtualClock } from "./virtual-clock.ts";
// The types that the suites and scripts use, so that a test needs one import.
export type { RunQueue, RunStore, Store } from "#sessions";
export type { ScriptedBackend, ScriptedReply } from "./scripted-backend.ts";
export { createScriptedBackend } from "./scripted-backend.ts";
