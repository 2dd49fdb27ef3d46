import type { Chunk, ChunkOf, PermissionItem, WarningItem } from "#domain";
import { type CallToCheck, createPolicy, type Decision, type PolicySettings, type RunPolicy } from "#policy";
import { createVirtualClock, type VirtualClock } from "#testing";

/** A policy in a run that is played by the test. */
export interface Trial {
  readonly policy: RunPolicy;
  readonly clock: VirtualClock;
  readonly controller: AbortController;
  /** What the policy wrote. */
  readonly written: Chunk[];
  /** The permission events as short lines: `asked by rule`, `denied by hook: why`. */
  steps(): readonly string[];
  permissions(): readonly ChunkOf<PermissionItem>[];
  warnings(): readonly ChunkOf<WarningItem>[];
  /** Answers a question, as `run.answer` does. */
  answer(callId: string, decision: Decision): boolean;
}

/** `canAnswer`: whether somebody is there to answer questions. */
export function openTrial(
  settings: Partial<PolicySettings> = {},
  canAnswer = true,
  nextTurn?: () => Promise<void>,
): Trial {
  const clock = createVirtualClock();
  const controller = new AbortController();
  const written: Chunk[] = [];
  const questions = new Map<string, (decision: Decision) => void>();
  const policy = createPolicy(
    { hooks: [], rules: [], permission: undefined, guards: [], outputMode: undefined, ...settings },
    {
      runId: "run-1",
      agent: "worker",
      context: { user: 7 },
      signal: controller.signal,
      clock,
      write: (chunks) => written.push(...chunks),
      canAnswer: () => canAnswer,
      nextTurn,
      ask: (callId) =>
        new Promise((resolve) => {
          questions.set(callId, resolve);
        }),
    },
  );
  const permissions = (): readonly ChunkOf<PermissionItem>[] => written.filter((chunk) => chunk.type === "permission");
  controller.signal.addEventListener("abort", () => {
    for (const resolve of questions.values()) resolve({ allow: false, reason: "aborted" });
  });
  return {
    policy,
    clock,
    controller,
    written,
    permissions,
    warnings: () => written.filter((chunk) => chunk.type === "warning"),
    steps: () => permissions().map(({ state, by }) => `${state} by ${by}`),
    answer(callId, decision) {
      const resolve = questions.get(callId);
      questions.delete(callId);
      resolve?.(decision);
      return resolve !== undefined;
    },
  };
}

export function callOf(input: unknown, more: Partial<CallToCheck> = {}): CallToCheck {
  return { callId: "c1", name: "Bash", input, executedBy: "millrace", ...more };
}
