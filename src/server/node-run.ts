import { type AgentEvent, describeThrown, type RunResult } from "#domain";
import { askFirst, filesOf, readRun, type RunOptions, startRun } from "#runtime";
import { type EventLog, LOCAL_TENANT, type Store, StoredMark, type StoredRun } from "#sessions";
import type { Metrics } from "./metrics.ts";
import { requireOffered, type Settings, targetOf } from "./options.ts";
import { createRunRecorder } from "./run-recorder.ts";
import { requireNotTooOften, tighten } from "./run-rules.ts";
import type { WriteLog } from "./server-log.ts";
import type { StorageQuota } from "./storage-quota.ts";

export type Run = ReturnType<typeof startRun>;

/** A run on which this node works. */
export interface RunAtWork {
  readonly run: Run;
  /** Its calls without a result. */
  readonly openCalls: ReadonlySet<string>;
  /** The calls whose stored answers it knows. */
  readonly answered: Set<string>;
  /** Finds out at once whether the run is still this node's. */
  readonly check: () => void;
}

export interface NodeRunOptions {
  readonly store: Store;
  readonly log: EventLog;
  readonly settings: Settings;
  readonly metrics: Metrics;
  readonly quota: StorageQuota;
  readonly write: WriteLog;
}

/** What a worker holds while it works on a run. */
export interface RunSetting {
  readonly epoch: number;
  /** Nothing may be written any more. */
  readonly lost: AbortSignal;
  /** The work is to be left to another node. */
  readonly leaving: AbortSignal;
  /** Called as soon as the run can be answered and aborted. */
  readonly onStart: (atWork: Omit<RunAtWork, "check">) => void;
}

/**
 * Begins a run or continues it from its log, and writes it until it is over, parked or left to another node. Rejects if
 * that is impossible; then the reason is in the error.
 */
export async function workOnRun(options: NodeRunOptions, stored: StoredRun, hold: RunSetting): Promise<void> {
  const { store, log, settings, metrics, quota, write } = options;
  const { id, tenant = LOCAL_TENANT, threadId } = stored;
  const thread = threadId === undefined ? undefined : await store.findThread(tenant, threadId);
  if (thread === undefined) throw new Error("it does not belong to a thread");
  requireOffered(thread.target, settings);
  const record = await readRun(store, stored);
  const input = record.messages.at(-1);
  if (input === undefined) throw new Error("its input is not stored");
  requireNotTooOften(record.events);
  const target = targetOf(thread.target, settings);
  const { limits } = (stored.settings ?? {}) as { readonly limits?: RunOptions["limits"] };
  const { world, folder } = settings;
  const runOptions = { ...settings.run, limits: tighten(settings.run.limits, limits) };
  const mark = new StoredMark();
  const run = startRun(target, record.messages, askFirst(target, runOptions, { folder, files: world.files }), world, {
    stored: mark,
    files: filesOf(store, { runId: id, epoch: hold.epoch }),
    suspend: hold.leaving,
    parkMs: settings.limits.parkMs,
    resumed: record,
  });
  const stop = (why: string) => (): void => void run.abort(why).catch(() => undefined);
  const openCalls = new Set<string>();
  const counter = createRunRecorder(input, metrics, {
    stored: (weight) => quota.grow(tenant, weight),
    stop: stop("The storage of its tenant is full."),
  });
  const recorder = {
    ...counter,
    add(event: AgentEvent) {
      counter.add(event);
      if (event.type === "tool-result") openCalls.delete(event.callId);
      else if (event.type === "tool-call" || event.type === "permission") openCalls.add(event.callId);
    },
  };
  const onLost = stop("Another node works on this run.");
  hold.lost.addEventListener("abort", onLost);
  hold.onStart({ run, openCalls, answered: new Set(record.answers.map(({ callId }) => callId)) });
  write("info", record.events.length === 0 ? "run-start" : "run-resumed", { runId: id, threadId, tenant });
  try {
    const failure = await log.write(run, {
      recorder,
      onStoreFailure: { stop: stop("The event log could not be written."), hold: () => undefined },
      stored: mark,
      after: record.events.at(-1)?.seq ?? -1,
      claim: { epoch: hold.epoch, lost: hold.lost },
    });
    if (failure !== undefined) {
      write("warn", "run-left", { runId: id, message: failure });
      await run.abort("The event log could not be written.");
    } else if (run.toJSON().state === "waiting") write("info", "run-parked", { runId: id, threadId });
    else {
      const { status, subtype, ms } = (await run.result()) as Pick<RunResult, "status" | "subtype" | "ms">;
      metrics.runs.add(status);
      write("info", "run-end", { runId: id, threadId, status, subtype, ms });
    }
    await run.closed.catch((error: unknown) => {
      write("error", "clean-up-failed", { runId: id, message: describeThrown(error) });
    });
  } finally {
    hold.lost.removeEventListener("abort", onLost);
  }
}
