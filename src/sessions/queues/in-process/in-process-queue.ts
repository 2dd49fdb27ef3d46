import type { Clock } from "#domain";
import type { JobsWanted, QueuedJob, RunQueue, TakenJob } from "../queue.ts";
import { QueueError } from "../queue-error.ts";
import { queueClosed, requireJob, requireKinds } from "../queue-rules.ts";
import { type Entry, JobList, type WaitingNode } from "./job-list.ts";

/** A queue in this process. */
export interface InProcessQueue extends RunQueue {
  /** The same jobs for another node: another server in this process, or in a simulation. */
  connect(): InProcessQueue;
  /**
   * From now on the queue hears nothing of this node, as if its process was killed or hung: its jobs go to other nodes
   * when their locks end.
   */
  cutOff(): void;
}

export interface InProcessOptions {
  readonly clock: Clock;
  /** How long a node that is cut off keeps its jobs. */
  readonly lockMs: number;
}

/** Creates a queue without jobs. */
export function createQueueInProcess(options: InProcessOptions): InProcessQueue {
  return openNode(new JobList(options.clock), options);
}

interface Held {
  readonly entry: Entry;
  readonly lost: AbortController;
}

function openNode(list: JobList, options: InProcessOptions): InProcessQueue {
  const held = new Set<Held>();
  /** What ends a wait. */
  const waits = new Set<() => void>();
  let state: "open" | "cut-off" | "closed" = "open";

  const requireOpen = (): void => {
    if (state === "closed") throw queueClosed();
    if (state === "cut-off") throw new QueueError("queue-failed", "This node was cut off from the queue.");
  };

  const giveUp = (one: Held): void => {
    if (!held.delete(one)) return;
    list.release(one.entry, true);
    one.lost.abort();
  };

  const hold = (entry: Entry): TakenJob => {
    const one: Held = { entry, lost: new AbortController() };
    held.add(one);
    const end = async (act: () => void): Promise<boolean> => {
      if (held.has(one)) requireOpen();
      if (!held.delete(one)) return false;
      act();
      return true;
    };
    return {
      runId: entry.runId,
      kind: entry.kind,
      isHandOver: entry.isHandOver,
      lost: one.lost.signal,
      extend: async () => {
        if (held.has(one)) requireOpen();
        return held.has(one);
      },
      finish: () => end(() => list.finish(entry)),
      giveBack: () => end(() => list.release(entry, false)),
    };
  };

  const wait = (kinds: readonly string[], signal: AbortSignal | undefined): Promise<TakenJob | undefined> =>
    new Promise((resolve) => {
      const stop = (job?: TakenJob): void => {
        list.leave(node);
        waits.delete(stop);
        signal?.removeEventListener("abort", onAbort);
        resolve(job);
      };
      const onAbort = (): void => stop();
      const node: WaitingNode = { kinds, give: (entry) => stop(hold(entry)) };
      waits.add(stop);
      signal?.addEventListener("abort", onAbort);
      list.wait(node);
    });

  return {
    async add(job: QueuedJob) {
      requireOpen();
      list.add(requireJob(job));
    },
    async take(wanted: JobsWanted) {
      requireOpen();
      const kinds = requireKinds(wanted);
      return wanted.signal?.aborted === true ? undefined : wait(kinds, wanted.signal);
    },
    async count() {
      requireOpen();
      return list.count();
    },
    async close() {
      if (state === "closed") return;
      const isHeard = state === "open";
      state = "closed";
      for (const stop of waits) stop();
      if (!isHeard) return;
      for (const one of held) {
        held.delete(one);
        list.release(one.entry, false);
      }
    },
    connect: () => openNode(list, options),
    cutOff() {
      if (state !== "open") return;
      state = "cut-off";
      for (const stop of waits) stop();
      options.clock.after(options.lockMs, () => {
        for (const one of held) giveUp(one);
      });
    },
  };
}
