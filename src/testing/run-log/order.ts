import { isDelta } from "#domain";
import type { Check, Report } from "./check.ts";

/** Checks numbers, times, the run's id, and the end. */
export function checkOrder(report: Report): Check {
  let nextSeq = 0;
  let lastTs = Number.NEGATIVE_INFINITY;
  let runId: string | undefined;
  let terminalAt: number | undefined;
  let doneAt: number | undefined;

  return {
    next(event, at) {
      const first = event.firstSeq ?? event.seq;
      if (event.firstSeq !== undefined && (!isDelta(event) || !(event.firstSeq < event.seq) || event.firstSeq < 0)) {
        report("merged-span", at, `${event.type} carries firstSeq ${event.firstSeq} and seq ${event.seq}`);
      } else if (first !== nextSeq) {
        report("gapless-seq", at, `${event.type} begins at seq ${first} where ${nextSeq} was due`);
      }
      nextSeq = event.seq + 1;

      if (event.ts < lastTs) report("time-order", at, `ts fell from ${lastTs} to ${event.ts}`);
      lastTs = event.ts;

      runId ??= event.runId;
      if (event.runId === "" || event.runId !== runId) {
        report("one-run", at, `runId is ${JSON.stringify(event.runId)}, the run is ${JSON.stringify(runId)}`);
      }

      if (doneAt !== undefined) report("one-done", at, `${event.type} follows done`);
      else if (terminalAt !== undefined && event.type !== "done") {
        report("terminal-last", at, `${event.type} follows a terminal error`);
      }
      if (event.type === "error" && event.terminal) terminalAt ??= at;
      if (event.type === "done") doneAt ??= at;
    },
    end(length) {
      if (doneAt === undefined) report("one-done", length, "the log ends without done");
    },
  };
}
