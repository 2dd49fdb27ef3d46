import { checkOptionNames, isId } from "#domain";
import { ANY_KIND, type JobsWanted, type QueuedJob } from "./queue.ts";
import { QueueError } from "./queue-error.ts";

/**
 * The job with its defaults.
 * @throws QueueError `invalid-job`.
 */
export function requireJob(job: QueuedJob): QueuedJob & Required<Pick<QueuedJob, "kind">> {
  checkOptionNames(job, ["runId", "kind", "notBefore"] satisfies (keyof QueuedJob)[], "add");
  const { runId, kind = ANY_KIND, notBefore } = job;
  if (!isId(runId)) throw invalid(`The run id ${show(runId)}`);
  requireKind(kind);
  if (notBefore !== undefined && !Number.isFinite(notBefore)) {
    throw new QueueError(
      "invalid-job",
      `notBefore of run ${runId} must be milliseconds since 1970, not ${show(notBefore)}.`,
    );
  }
  return { runId, kind, ...(notBefore !== undefined && { notBefore }) };
}

/**
 * The kinds that are wanted, each once.
 * @throws QueueError `invalid-job`.
 */
export function requireKinds(wanted: JobsWanted): readonly string[] {
  checkOptionNames(wanted, ["kinds", "signal"] satisfies (keyof JobsWanted)[], "take");
  const kinds = [...new Set(wanted.kinds ?? [ANY_KIND])];
  for (const kind of kinds) requireKind(kind);
  return kinds;
}

export function queueClosed(): QueueError {
  return new QueueError("queue-closed", "The queue is closed. Open another one.");
}

function requireKind(kind: unknown): void {
  if (!isId(kind)) throw invalid(`The kind ${show(kind)}`);
}

function invalid(what: string): QueueError {
  return new QueueError("invalid-job", `${what} must be 1 to 64 letters, digits, "-" or "_".`);
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}
