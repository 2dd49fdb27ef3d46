import { type AgentEvent, checkOptionNames, isId } from "#domain";
import type { ClaimWanted, NewRun, ReadOptions, RunClaim, RunsWanted, StoredAnswer, StoredRun } from "./store.ts";
import { StoreError } from "./store-error.ts";

// The rules that every driver must enforce, written once. Pure: a driver calls them inside its own transaction.

/** Rejects a run that could not be found again, or whose id has a special meaning in a path or a statement. */
export function requireRun(run: NewRun): void {
  if (!isId(run.id)) {
    throw new StoreError("invalid-run", `The run id ${show(run.id)} must be 1 to 64 letters, digits, "-" or "_".`);
  }
  if (run.tenant !== undefined && !isId(run.tenant)) {
    throw new StoreError("invalid-run", `The tenant ${show(run.tenant)} must be 1 to 64 letters, digits, "-" or "_".`);
  }
  if (!Number.isFinite(run.createdAt)) {
    throw new StoreError(
      "invalid-run",
      `createdAt of run ${run.id} must be milliseconds since 1970, not ${show(run.createdAt)}.`,
    );
  }
}

/** Rejects events that do not continue exactly where the log ends. Returns the new end of the log. */
export function requireNext(
  runId: string,
  end: { readonly lastSeq: number; readonly isOver: boolean },
  events: readonly AgentEvent[],
): { readonly lastSeq: number; readonly isOver: boolean } {
  let { lastSeq, isOver } = end;
  for (const event of events) {
    const first = event.firstSeq ?? event.seq;
    if (event.runId !== runId) {
      throw new StoreError("invalid-event", `An event of run ${show(event.runId)} cannot be added to run ${runId}.`);
    }
    if (!Number.isSafeInteger(event.seq) || !Number.isSafeInteger(first) || first > event.seq) {
      throw new StoreError(
        "invalid-event",
        `An event of run ${runId} has seq ${show(event.seq)} and firstSeq ${show(event.firstSeq)}.`,
      );
    }
    if (isOver) throw new StoreError("run-over", `Run ${runId} ended with seq ${lastSeq}; nothing can be added.`);
    if (first !== lastSeq + 1) {
      throw new StoreError(
        "out-of-sequence",
        `Run ${runId} continues with seq ${lastSeq + 1}, not with ${first}. Another writer may have taken it over.`,
      );
    }
    lastSeq = event.seq;
    isOver = event.type === "done";
  }
  return { lastSeq, isOver };
}

export function unknownRun(runId: string): StoreError {
  return new StoreError("unknown-run", `There is no run ${JSON.stringify(runId)} in this store.`);
}

export function runOver(runId: string): StoreError {
  return new StoreError("run-over", `Run ${runId} is over.`);
}

const LONGEST_WORKER = 200;

/** Rejects a claim that nobody could attribute. */
export function requireClaimant({ worker, at, seen }: ClaimWanted): void {
  const isWorker = typeof worker === "string" && worker !== "" && worker.length <= LONGEST_WORKER;
  if (!isWorker || !Number.isFinite(at) || (seen !== undefined && !isEpoch(seen))) {
    throw new StoreError(
      "invalid-claim",
      `A claim needs a worker of 1 to ${LONGEST_WORKER} characters, milliseconds since 1970 as at, and a whole number as seen; it has ${show({ worker, at, seen })}.`,
    );
  }
}

function isEpoch(epoch: number): boolean {
  return Number.isSafeInteger(epoch) && epoch >= 0;
}

/** Rejects a new claim if another one is held than the caller has seen. */
export function requireSeen(runId: string, held: RunClaim | undefined, seen: number | undefined): void {
  if (seen !== undefined && seen !== (held?.epoch ?? 0)) throw claimLost(runId, seen === 0 ? undefined : seen, held);
}

/** Rejects what a worker writes that does not hold the run, or someone who does not know that a worker holds it. */
export function requireHeld(
  runId: string,
  held: Pick<RunClaim, "epoch" | "worker"> | undefined,
  epoch: number | undefined,
): void {
  if (held?.epoch !== epoch) throw claimLost(runId, epoch, held);
}

export function claimLost(
  runId: string,
  epoch: number | undefined,
  held: Pick<RunClaim, "epoch" | "worker"> | undefined,
): StoreError {
  const given = epoch === undefined ? "without a claim" : `with claim ${show(epoch)}`;
  const holder = held === undefined ? "nobody holds it" : `${show(held.worker)} holds it with claim ${held.epoch}`;
  return new StoreError("claim-lost", `Run ${runId} cannot be written ${given}: ${holder}.`);
}

/** Checks the cursor and the limits of a read. */
export function requireCursor(options: ReadOptions = {}): Required<ReadOptions> {
  checkOptionNames(options, ["after", "limit", "maxCharacters"] satisfies (keyof ReadOptions)[], "read");
  const { after = -1, limit = Number.MAX_SAFE_INTEGER, maxCharacters = Number.MAX_SAFE_INTEGER } = options;
  if (!Number.isSafeInteger(after) || after < -1) {
    throw new StoreError("invalid-cursor", `after must be a whole number from -1 on, not ${show(after)}.`);
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new StoreError("invalid-cursor", `limit must be a whole number from 1 on, not ${show(limit)}.`);
  }
  if (!(maxCharacters >= 1)) {
    throw new StoreError("invalid-cursor", `maxCharacters must be a number from 1 on, not ${show(maxCharacters)}.`);
  }
  return { after, limit, maxCharacters };
}

/**
 * Checks which runs are wanted.
 * @throws StartError for an unknown name, because otherwise all runs would be listed.
 */
export function requireWanted(wanted: RunsWanted = {}): RunsWanted {
  checkOptionNames(wanted, ["id", "threadId", "isOver", "isWaiting"] satisfies (keyof RunsWanted)[], "listRuns");
  return wanted;
}

/** Whether a run is among those wanted. */
export function isWanted(run: StoredRun, { id, threadId, isOver, isWaiting }: RunsWanted): boolean {
  return (
    (id === undefined || run.id === id) &&
    (threadId === undefined || run.threadId === threadId) &&
    (isOver === undefined || run.isOver === isOver) &&
    (isWaiting === undefined || (run.isWaiting === true) === isWaiting)
  );
}

/** Rejects an answer that could not be found again. */
export function requireAnswer({ callId, at }: StoredAnswer): void {
  if (typeof callId !== "string" || callId === "") {
    throw new StoreError("invalid-answer", `callId of an answer must be a string, not ${show(callId)}.`);
  }
  if (!Number.isFinite(at)) {
    throw new StoreError(
      "invalid-answer",
      `at of the answer to ${show(callId)} must be milliseconds since 1970, not ${show(at)}.`,
    );
  }
}

const LONGEST_FILE_NAME = 256;

/** Rejects a name that would have a special meaning in a path. */
export function requireFileName(name: string): void {
  const isName =
    typeof name === "string" &&
    name.length <= LONGEST_FILE_NAME &&
    name.split("/").every((part) => /^[\w.-]+$/.test(part) && part !== "." && part !== "..");
  if (isName) return;
  throw new StoreError(
    "invalid-file",
    `The file name ${show(name)} must be 1 to ${LONGEST_FILE_NAME} letters, digits, "-", "_", "." or "/", without empty parts, "." and "..".`,
  );
}

export function show(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}
