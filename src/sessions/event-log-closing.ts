import { ActiveTime, createAccumulator, RunCalls } from "#run";
import { type AgentEvent, type Clock, doneEvent, isDelta, type Message, numberEvent } from "#domain";
import type { Settlement, Store, StoredRun } from "./stores/store.ts";
import { LOCAL_TENANT } from "./stores/thread-rules.ts";
import { createUsageCounter, settlementOf } from "./thread.ts";

const WHY = "The process that carried this run died before it was done.";

/** The state of a log at the point where it breaks off. */
interface OpenParts {
  readonly accumulator: ReturnType<typeof createAccumulator>;
  readonly counter: ReturnType<typeof createUsageCounter>;
  readonly calls: RunCalls;
  /** Deltas that no finished message covers. */
  preview: AgentEvent[];
  input: Message | undefined;
  hasFailed: boolean;
  lastSeq: number;
  readonly time: ActiveTime;
  lastTs: number;
}

/**
 * Closes an unfinished run whose process died. It gets what is missing for an honest end: an answer for every open tool
 * call, and a `done` with the status `interrupted`; its thread gets what was written so far. A run whose terminal error
 * is in the log had already failed, and ends with that error. `why` is the reason given in its end.
 *
 * Call it only while nothing writes to the run. With `worker`, the run is taken from the node that holds it.
 */
export async function closeInterruptedRun(
  store: Store,
  run: StoredRun,
  clock: Clock,
  why = WHY,
  status: "interrupted" | "aborted" = "interrupted",
  worker?: string,
): Promise<void> {
  // From here on, no other node can write: what is read is all there is.
  const closer = worker ?? run.claim?.worker;
  const epoch = closer === undefined ? undefined : await store.claim?.(run.id, { worker: closer, at: clock.now() });
  const history = await readHistory(store, run);
  const remains = await readRemains(store, run, history.slice(0, -1));
  const place = { ts: Math.max(remains.lastTs, clock.now()), runId: run.id };
  const events: AgentEvent[] = [];
  if (!remains.hasFailed) {
    for (const answer of remains.calls.answerOpen("incomplete", why)) {
      events.push(numberEvent(answer, remains.lastSeq + 1 + events.length, place));
    }
  }
  for (const event of events) remains.accumulator.add(event);
  const { ms } = remains.time;
  const ending = remains.hasFailed ? { ms } : { ms, status, reason: why };
  const result = remains.accumulator.result(ending, remains.preview);
  const done = numberEvent(doneEvent(result), remains.lastSeq + 1 + events.length, place);
  const input = remains.input ?? history.at(-1);
  const settlement: Settlement | undefined =
    run.threadId === undefined || input === undefined ? undefined : settlementOf(done, input, remains.counter);
  await store.append(run.id, [...events, done], settlement, epoch);
}

async function readHistory(store: Store, run: StoredRun): Promise<readonly Message[]> {
  return run.threadId === undefined ? [] : await store.listMessages(run.tenant ?? LOCAL_TENANT, run.threadId);
}

async function readRemains(store: Store, run: StoredRun, history: readonly Message[]): Promise<OpenParts> {
  const remains: OpenParts = {
    accumulator: createAccumulator(history),
    counter: createUsageCounter(),
    calls: new RunCalls(),
    preview: [],
    input: undefined,
    hasFailed: false,
    lastSeq: -1,
    time: new ActiveTime(),
    lastTs: 0,
  };
  for (;;) {
    const events = await store.read(run.id, { after: remains.lastSeq, limit: 512, maxCharacters: 1_048_576 });
    if (events.length === 0) return remains;
    for (const event of events) takeIn(remains, event);
  }
}

function takeIn(remains: OpenParts, event: AgentEvent): void {
  remains.lastSeq = event.seq;
  remains.time.add(event);
  remains.lastTs = Math.max(remains.lastTs, event.ts);
  remains.accumulator.add(event);
  remains.counter.add(event);
  if (isDelta(event)) {
    remains.preview.push(event);
    return;
  }
  switch (event.type) {
    case "message":
      if (event.role === "user" && event.parent === undefined) remains.input ??= event;
      remains.preview = remains.preview.filter((delta) => !isDelta(delta) || delta.messageId !== event.id);
      return;
    case "notice":
      // A retraction is part of the preview, because it voids deltas.
      if (event.kind === "retract") remains.preview.push(event);
      return;
    case "tool-call":
    case "permission":
    case "tool-result":
      remains.calls.note(event);
      return;
    case "error":
      remains.hasFailed ||= event.terminal;
      return;
    default:
  }
}
