export type { AgentResultNotice, Ending } from "./accumulator.ts";
export { createAccumulator } from "./accumulator.ts";
export { ActiveTime } from "./active-time.ts";
export { ChunkMask } from "./chunk-mask.ts";
export type { RunHandleOptions } from "./handle.ts";
export { createRun, describeHandle, INSPECT } from "./handle.ts";
export { StoredMark } from "./stored-mark.ts";
export { canMergeDeltas, mergeDeltas } from "./merge-deltas.ts";
export { OUTPUT_TOOL_NAME } from "./partial-output.ts";
export type { GivenAnswer, GivenResult, Wait } from "./open-waits.ts";
export { alsoEndedBy, mayTakeEffect, writeInTurns } from "./run.ts";
export { RunCalls } from "./run-calls.ts";
export type {
  HandleJson,
  ParkedRun,
  ResponseOptions,
  Run,
  RunSource,
  RunWriter,
  TextResponseOptions,
  Topic,
  TopicEvent,
} from "./run.ts";
