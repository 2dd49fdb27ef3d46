export type { OuterRun } from "./leg.ts";
export { runNested } from "./nested-run.ts";
export type { InputMessage, RunInput } from "./input.ts";
export { checkSendable } from "./check-blocks.ts";
export { readInput, repairPairs } from "./input.ts";
export type { RetryOptions } from "./retry.ts";
export { agentSettings } from "./agent-settings.ts";
export type { RunLimits } from "./budget.ts";
export type { KeptFiles } from "./leg.ts";
export { HANDOFF_TOOL } from "./handoff.ts";
export type {
  AgentLeg,
  AgentEnvironment,
  Conversations,
  Leg,
  Price,
} from "./leg.ts";
export { findMissingAgent } from "./past-calls.ts";
export { readPastRun } from "./past-run.ts";
export type { RunPlan } from "./swarm.ts";
export { createRunSource } from "./swarm.ts";
export { isWrappedOutput } from "./structured.ts";
