import type { AgentEvent } from "#domain";
import { requireCursor, requireNext, requireRun } from "../sequence.ts";
import type { NewRun, RunStore, StoredRun } from "../store.ts";
import { StoreError } from "../store-error.ts";

interface Log {
  readonly run: NewRun;
  readonly events: AgentEvent[];
  end: { readonly lastSeq: number; readonly isOver: boolean };
}

/**
 * Creates a store that lives as long as the process: what is appended survives the run, not the machine's next start.
 * It keeps the event objects themselves, which never change.
 */
export function createMemoryStore(): RunStore {
  const logs = new Map<string, Log>();
  let closed = false;

  const requireOpen = (): void => {
    if (closed) throw new StoreError("store-closed", "The store is closed. Open another one.");
  };
  const find = (runId: string): Log => {
    requireOpen();
    const log = logs.get(runId);
    if (log === undefined)
      throw new StoreError("unknown-run", `There is no run ${JSON.stringify(runId)} in this store.`);
    return log;
  };

  // `async`, so that what is refused is a rejection; the bodies never wait, so each call is one step.
  return {
    async createRun(run) {
      requireOpen();
      requireRun(run);
      if (logs.has(run.id)) throw new StoreError("run-exists", `There is a run ${run.id} already.`);
      logs.set(run.id, { run: { ...run }, events: [], end: { lastSeq: -1, isOver: false } });
    },
    async append(runId, events) {
      const log = find(runId);
      log.end = requireNext(runId, log.end, events);
      for (const event of events) log.events.push(event);
    },
    async read(runId, options) {
      const { events } = find(runId);
      const { after, limit } = requireCursor(options);
      const first = firstBehind(events, after);
      return events.slice(first, Math.min(events.length, first + limit));
    },
    async listRuns() {
      requireOpen();
      return [...logs.values()]
        .map(({ run, end }): StoredRun => ({ ...run, ...end }))
        .sort((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? -1 : 1));
    },
    async close() {
      closed = true;
      logs.clear();
    },
  };
}

/** The position of the first event whose `seq` is greater than the cursor; merged deltas make it differ from the cursor. */
function firstBehind(events: readonly AgentEvent[], after: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle] as AgentEvent).seq > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
