import { claimLost, runOver, unknownRun } from "../sequence.ts";
import { StoreError } from "../store-error.ts";

/** What one of the SQL functions answers: no code if it did what was asked. */
export interface Verdict {
  readonly code: string | null;
  readonly detail: string | null;
}

/** The error for an entry of an append that the database refused. */
export function refusalOf(
  runId: string,
  epoch: number | undefined,
  verdict: Verdict | undefined,
): StoreError | undefined {
  switch (verdict?.code) {
    case null:
      return undefined;
    case "out-of-sequence": {
      const { lastSeq } = JSON.parse(verdict.detail ?? "{}") as { lastSeq?: number };
      return new StoreError(
        "out-of-sequence",
        `Run ${runId} continues with seq ${(lastSeq ?? -1) + 1}. Another writer may have taken it over.`,
      );
    }
    default:
      return refusal(runId, epoch, verdict);
  }
}

/** The error for a code that one of the SQL functions returned. */
export function refusal(runId: string, epoch: number | undefined, verdict: Verdict | undefined): StoreError {
  switch (verdict?.code) {
    case "unknown-run":
      return unknownRun(runId);
    case "run-over":
      return runOver(runId);
    case "claim-lost": {
      const held = JSON.parse(verdict.detail ?? "{}") as { epoch: number; worker: string | null };
      const { worker } = held;
      const holder = worker === null ? undefined : { epoch: held.epoch, worker: JSON.parse(worker) as string };
      return claimLost(runId, epoch, holder);
    }
    default:
      return new StoreError("store-failed", `The database answered ${JSON.stringify(verdict)}.`);
  }
}

export function unknownThread(threadId: string): StoreError {
  return new StoreError("unknown-thread", `There is no thread ${threadId}.`);
}

export function busy(threadId: string, runId: string | null): StoreError {
  return new StoreError("thread-busy", `Run ${runId} of thread ${threadId} is not over. Wait for it, or abort it.`);
}
