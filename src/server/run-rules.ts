import type { AgentEvent } from "#domain";
import type { RunOptions } from "#runtime";
import { CHAT_TENANT, type StoredRun } from "#sessions";
import { ApiError } from "./api-error.ts";
import { countCrashes } from "./waiting-runs.ts";

export function runActive(threadId: string): ApiError {
  return new ApiError("run-active", `A run of thread ${threadId} is not over. Wait for it, or abort it.`);
}

/** Whether a server works on this run. Runs of a library or a chat in the same store are left to them. */
export function isServed({ threadId, tenant }: StoredRun): boolean {
  return threadId !== undefined && tenant !== CHAT_TENANT;
}

/** A caller may ask for less than the server allows, never for more. */
export function tighten(
  own: RunOptions["limits"] = {},
  asked: RunOptions["limits"] = {},
): NonNullable<RunOptions["limits"]> {
  const limits: Record<string, number> = { ...(own as Record<string, number>) };
  for (const [name, value] of Object.entries(asked)) {
    const bound = Object.hasOwn(limits, name) ? limits[name] : undefined;
    limits[name] = bound === undefined ? value : Math.min(bound, value);
  }
  return limits;
}

/** A run that keeps ending its process is not continued for ever. */
const MOST_CRASHES = 20;

/** Throws if a run was continued too often. */
export function requireNotTooOften(events: readonly AgentEvent[]): void {
  if (countCrashes(events) >= MOST_CRASHES) throw new Error("it was continued too often");
}
