import type { AgentEvent } from "#domain";
import { requireNext } from "../sequence.ts";
import type { ModelUsage, NewRun, Question, Settlement, StoredRun } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { addModelUsage, LOCAL_TENANT, permissionSteps, statusAfter } from "../thread-rules.ts";
import type { Write } from "./commit-queue.ts";
import { type Body, encodeAll, encodeBody, type MessageBody } from "./bodies.ts";
import type { WorkReply, WorkStep } from "./engine.ts";
import type { LargeBodies } from "./large-bodies.ts";
import { type RunRow, writeBody } from "./rows.ts";
import type { SqlRow } from "./sql-driver.ts";

// What is written, as plain data for the engine. Each piece of work checks first and writes afterwards.

/** Begins a run. `unknown-thread`, `thread-busy` and `run-exists` are what its checks say: see `requireBegun`. */
export function addRun(
  run: NewRun,
  key: number,
  messages: readonly MessageBody[],
  keep: readonly WorkStep[] = [],
): Write {
  const { id, threadId, tenant, createdAt } = run;
  const work: WorkStep[] = [["none", "anyRun", id]];
  if (threadId !== undefined) {
    work.push(["some", "ownThread", threadId, tenant ?? LOCAL_TENANT], ["none", "activeRun", threadId]);
    work.push(...addMessages(threadId, messages, createdAt), ...keep);
  }
  work.push(["run", "addRun", key, id, threadId ?? null, tenant ?? null, createdAt]);
  return { work, run: key };
}

/** @throws StoreError saying which check of `addRun` has refused it. */
export function requireBegun({ refusedAt, rows }: WorkReply, { id, threadId = "" }: NewRun): void {
  if (refusedAt === 0) throw new StoreError("run-exists", `There is a run ${id} already.`);
  if (refusedAt === 1) throw new StoreError("unknown-thread", `There is no thread ${threadId}.`);
  if (refusedAt === 2) throw busy(threadId, rows);
}

/** A thread with a run that goes on, which a check has found. */
export function busy(threadId: string, rows: readonly unknown[]): StoreError {
  const runId = String((rows[0] as SqlRow | undefined)?.["id"]);
  return new StoreError("thread-busy", `Run ${runId} of thread ${threadId} is not over. Wait for it, or abort it.`);
}

/** Events to be added, ready to be stored. */
export interface Appending {
  readonly runId: string;
  readonly events: readonly AgentEvent[];
  /** When something is large: what of it is written already. Without it the events are encoded at once. */
  readonly large?: LargeBodies;
  readonly settlement?: Settlement | undefined;
  readonly messages?: readonly MessageBody[];
  /** What each model was asked in the thread before. */
  readonly usage?: readonly ModelUsage[];
}

export interface Appended {
  readonly write: Write;
  readonly end: Pick<StoredRun, "lastSeq" | "isOver">;
  /** What the log, and the thread, grow by. */
  readonly logBytes: number;
  readonly threadBytes: number;
}

/** @throws StoreError for events that do not go on where the log ends, or that cannot be written. */
export function appendEvents({ key, run, bytes }: RunRow & { readonly bytes: number }, appending: Appending): Appended {
  const { runId, events, settlement, large } = appending;
  const end = requireNext(runId, run, events);
  if (large === undefined) {
    const bodies = encodeAll(runId, events);
    const logBytes = countBytes(bodies);
    if (settlement === undefined && events.every(isRowOnly)) {
      const rows = { key, seqs: events.map(({ seq }) => seq), bodies };
      return { write: { rows, run: key }, end, logBytes, threadBytes: 0 };
    }
    return appendWork({ key, run, bytes }, appending, bodies, { end, logBytes });
  }
  const logBytes = large.events.reduce((sum, body) => sum + body.bytes, large.bytes);
  const bodies = large.events.map(({ text }) => text);
  return appendWork({ key, run, bytes }, appending, bodies, { end, logBytes });
}

/** A loop of its own: it runs once per event. */
function countBytes(bodies: readonly string[]): number {
  let bytes = 0;
  for (const body of bodies) bytes += Buffer.byteLength(body);
  return bytes;
}

function isRowOnly({ type }: AgentEvent): boolean {
  return type !== "done" && type !== "permission";
}

/** Events that change more than their own table, or that are large. */
function appendWork(
  { key, run, bytes }: RunRow & { readonly bytes: number },
  { events, settlement, large, messages = large?.messages ?? [], usage = [] }: Appending,
  bodies: readonly string[],
  { end, logBytes }: Pick<Appended, "end" | "logBytes">,
): Appended {
  const status = statusAfter(events);
  const work = events.map(({ seq }, at): WorkStep => ["run", "addEvent", key, seq, bodies[at] as string]);
  work.push(...(large?.keep ?? []));
  // Where the log of a run ends that goes on is what its events say; a second write per append would say it again.
  if (status !== undefined) work.push(["run", "endRun", end.lastSeq, status, bytes + logBytes, key]);
  work.push(...noteSteps({ key, run }, events, large?.questions ?? questionsOf(run, events).map(encodeBody)));
  if (status !== undefined) work.push(["run", "dropQuestions", key]);
  const isSettled = settlement !== undefined && run.threadId !== undefined;
  if (isSettled) work.push(...settle(run.threadId as string, settlement, messages, usage));
  const threadBytes = isSettled ? messages.reduce((sum, body) => sum + body.bytes, 0) : 0;
  return { write: { work, run: key }, end, logBytes, threadBytes };
}

/** What is asked of a person with these events. */
export function questionsOf(run: StoredRun, events: readonly AgentEvent[]): readonly Question[] {
  return permissionSteps(events).flatMap((step) =>
    step.kind === "asked" ? [{ ...step.question, ...placeOf(run) }] : [],
  );
}

function placeOf({ threadId, tenant = LOCAL_TENANT }: StoredRun): Pick<Question, "tenant" | "threadId"> {
  return { tenant, ...(threadId !== undefined && { threadId }) };
}

function noteSteps(
  { key, run }: RunRow,
  events: readonly AgentEvent[],
  questions: readonly Body[],
): readonly WorkStep[] {
  const { tenant = LOCAL_TENANT } = run;
  let asked = 0;
  return permissionSteps(events).flatMap((step): WorkStep[] => {
    if (step.kind === "asked") {
      const { callId, askedAt } = step.question;
      const body = (questions[asked] as Body).text;
      asked += 1;
      return [["run", "addQuestion", key, callKey(callId), tenant, askedAt, body]];
    }
    return [
      ["run", "answerQuestion", key, callKey(step.callId)],
      ["run", "addAudit", tenant, writeBody({ ...step.entry, ...placeOf(run) })],
    ];
  });
}

function settle(
  threadId: string,
  { at, usage }: Settlement,
  messages: readonly MessageBody[],
  before: readonly ModelUsage[],
): readonly WorkStep[] {
  const lines = usage.map((line): WorkStep => {
    const known = before.find(({ model }) => model === line.model);
    return ["run", "setUsage", threadId, writeBody(line.model), writeBody(addModelUsage(known, line))];
  });
  return [...addMessages(threadId, messages, at), ...lines];
}

function addMessages(threadId: string, messages: readonly MessageBody[], at: number): readonly WorkStep[] {
  const added = messages.flatMap(({ text, search }): WorkStep[] => {
    if (typeof search === "string") return [["run", "addMessage", threadId, threadId, text, search]];
    const { part } = search;
    return [
      ["run", "addLargeMessage", threadId, threadId, text, part],
      ["run", "dropPart", part],
    ];
  });
  const bytes = messages.reduce((sum, body) => sum + body.bytes, 0);
  return [...added, ["run", "growThread", at, bytes, threadId]];
}

/** A vendor's call id may be anything; as JSON it has no NUL, at which a driver would cut it. */
function callKey(callId: string): string {
  return writeBody(callId);
}
