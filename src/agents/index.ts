export { ChunkMask } from "./chunk-mask.ts";
export type { Accumulator, Ending } from "./accumulator.ts";
export { createAccumulator } from "./accumulator.ts";
export type {
  HandleJson,
  ResponseOptions,
  Run,
  RunSource,
  RunWriter,
  TextResponseOptions,
  Topic,
  TopicEvent,
} from "./run.ts";
export type { RunHandleOptions } from "./run-handle.ts";
export type { OuterRun } from "./leg.ts";
export { runNested } from "./nested-run.ts";
export { createRun, describeHandle, INSPECT, RUN_LIMITS } from "./run-handle.ts";
export type { InputMessage, RunInput } from "./input.ts";
export { checkSendable } from "./check-blocks.ts";
export { readInput, repairPairs } from "./input.ts";
export type { RetryOptions } from "./retry.ts";
export { agentSettings, createShortConversations } from "./agent-leg.ts";
export type { LimitReached, RunLimits } from "./budget.ts";
export { RUN_BUDGET } from "./budget.ts";
export { HANDOFF_TOOL } from "./handoff.ts";
export type { AgentLeg, AgentPlace, Conversations, Leg, LegLimits, ModelLeg, Price } from "./leg.ts";
export { LEG_LIMITS } from "./leg.ts";
export type { RunPlan } from "./swarm.ts";
export { createRunSource } from "./swarm.ts";
export { isWrappedOutput, OUTPUT_TOOL_NAME } from "./structured.ts";
export { canMergeDeltas, mergeDeltas } from "./merge-deltas.ts";
