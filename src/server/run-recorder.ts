import { type DoneEvent, type ErrorDetail, familyOf, type Message, type RunResult } from "#domain";
import { createUsageCounter, endWithError, settlementOf, type ThreadRecorder } from "#sessions";
import type { Metrics } from "./metrics.ts";

/** Counts a run for its thread and the metrics while it is written. */
export interface RunRecorder extends ThreadRecorder {
  /** How the run ended, as stored. */
  readonly result: RunResult | undefined;
}

/** How much may be written. */
export interface StorageLimit {
  /** Resolves to the reason if the log may not grow any further. */
  stored(weight: number): Promise<string | undefined> | undefined;
  /** Ends the run. */
  stop(): void;
}

export function createRunRecorder(input: Message, metrics: Metrics, room: StorageLimit): RunRecorder {
  const counter = createUsageCounter();
  let excess: string | undefined;
  let result: RunResult | undefined;
  return {
    get result() {
      return result;
    },
    add(event) {
      counter.add(event);
      metrics.events.add(familyOf(event));
    },
    stored(weight) {
      return room.stored(weight)?.then((why) => {
        if (why === undefined || excess !== undefined) return;
        excess = why;
        room.stop();
      });
    },
    end(events) {
      const done = events.at(-1);
      // A run that ended by itself before the limit was noticed keeps its outcome.
      const isEnded = excess !== undefined && done?.type === "done" && done.result.status === "aborted";
      return isEnded ? endWithError(events, storageError(excess as string)) : events;
    },
    settle(done: DoneEvent) {
      ({ result } = done);
      return settlementOf(done, input, counter);
    },
  };
}

function storageError(why: string): ErrorDetail {
  return {
    code: "storage-exceeded",
    message: `The run was ended because its tenant's storage is full. ${why}`,
    terminal: true,
    diagnostic: {
      hint: "Everything that was written until then is kept.",
      troubleshooting: "Remove threads, or ask the operator for a higher limits.bytesPerTenant.",
    },
  };
}
