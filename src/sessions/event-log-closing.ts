import { createAccumulator } from "#agents";
import {
  type AgentEvent,
  type Clock,
  doneEvent,
  isDelta,
  type Message,
  numberEvent,
  type Skipped,
  toolResultItem,
} from "#domain";
import type { Settlement, Store, StoredRun } from "./stores/store.ts";
import { LOCAL_TENANT } from "./stores/thread-rules.ts";
import { createUsageTally, settlementOf } from "./thread.ts";

const WHY = "The process that carried this run died before it was done.";

/** What a log says up to where it breaks off. */
interface OpenParts {
  readonly accumulator: ReturnType<typeof createAccumulator>;
  readonly tally: ReturnType<typeof createUsageTally>;
  /** Calls without an answer: the tool, and what the answer has to say. */
  readonly open: Map<string, { readonly name: string; skipped: Skipped }>;
  /** Deltas that no finished message covers. */
  preview: AgentEvent[];
  input: Message | undefined;
  hasFailed: boolean;
  lastSeq: number;
  firstTs: number | undefined;
  lastTs: number;
}

/**
 * Closes every run that is not over: its process died. Each gets what is missing for an honest end: an answer for every
 * open tool call, and a `done` with the status `interrupted`; its thread gets what was written so far. A run whose
 * terminal error is in the log had failed before, and says so.
 *
 * To be called when nobody writes: at the start, before the first run. Returns how many were closed.
 */
export async function closeInterruptedRuns(store: Store, clock: Clock): Promise<number> {
  const runs = await store.listRuns({ isOver: false });
  for (const run of runs) await closeInterruptedRun(store, run, clock);
  return runs.length;
}

/** The same for one run. `why` is what its end says. */
export async function closeInterruptedRun(store: Store, run: StoredRun, clock: Clock, why = WHY): Promise<void> {
  const history = await readHistory(store, run);
  const remains = await readRemains(store, run, history.slice(0, -1));
  const place = { ts: Math.max(remains.lastTs, clock.now()), runId: run.id };
  const events: AgentEvent[] = [];
  if (!remains.hasFailed) {
    for (const [callId, { name, skipped }] of remains.open) {
      const answer = toolResultItem({ callId, name, output: why, isError: true, skipped });
      events.push(numberEvent(answer, remains.lastSeq + 1 + events.length, place));
    }
  }
  for (const event of events) remains.accumulator.add(event);
  const ms = Math.max(0, place.ts - (remains.firstTs ?? run.createdAt));
  const ending = remains.hasFailed ? { ms } : { ms, status: "interrupted" as const, reason: why };
  const result = remains.accumulator.result(ending, remains.preview);
  const done = numberEvent(doneEvent(result), remains.lastSeq + 1 + events.length, place);
  const input = remains.input ?? history.at(-1);
  const settlement: Settlement | undefined =
    run.threadId === undefined || input === undefined ? undefined : settlementOf(done, input, remains.tally);
  await store.append(run.id, [...events, done], settlement);
}

async function readHistory(store: Store, run: StoredRun): Promise<readonly Message[]> {
  return run.threadId === undefined ? [] : await store.listMessages(run.tenant ?? LOCAL_TENANT, run.threadId);
}

async function readRemains(store: Store, run: StoredRun, history: readonly Message[]): Promise<OpenParts> {
  const remains: OpenParts = {
    accumulator: createAccumulator(history),
    tally: createUsageTally(),
    open: new Map(),
    preview: [],
    input: undefined,
    hasFailed: false,
    lastSeq: -1,
    firstTs: undefined,
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
  remains.firstTs ??= event.ts;
  remains.lastTs = Math.max(remains.lastTs, event.ts);
  remains.accumulator.add(event);
  remains.tally.add(event);
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
      // A retraction is part of the preview: it takes deltas back.
      if (event.kind === "retract") remains.preview.push(event);
      return;
    case "tool-call":
      remains.open.set(event.callId, { name: event.name, skipped: "incomplete" });
      return;
    case "permission": {
      const call = remains.open.get(event.callId);
      if (call !== undefined && event.state === "denied") call.skipped = "denied";
      return;
    }
    case "tool-result":
      remains.open.delete(event.callId);
      return;
    case "error":
      remains.hasFailed ||= event.terminal;
      return;
    default:
  }
}
