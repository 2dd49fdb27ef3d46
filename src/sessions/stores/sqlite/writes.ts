import type { AgentEvent } from "#domain";
import { requireHeld, requireNext } from "../sequence.ts";
import type { ModelUsage, NewRun, Question, Settlement, StoredRun } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { addModelUsage, LOCAL_TENANT, permissionSteps, statusAfter, waitAfter } from "../thread-rules.ts";
import type { Write } from "./commit-queue.ts";
import { type Body, encodeAll, encodeBody, type MessageBody } from "./bodies.ts";
import { dropAnswers } from "./answers.ts";
import type { WorkReply, WorkStep } from "./worker/requests.ts";
import type { LargeBodies } from "./large-bodies.ts";
import { callKey, type RunRow, writeBody } from "./rows.ts";
import type { SqlRow } from "./sql-driver.ts";

// The writes as plain data for the engine. Each piece of work checks first and writes afterwards.

/** What is stored with a new run. */
export interface RunBodies {
  readonly messages: readonly MessageBody[];
  readonly settings: Body | undefined;
  readonly keep?: readonly WorkStep[] | undefined;
}

/** Begins a run. Its checks stand for `run-exists`, `unknown-thread` and `thread-busy`: see `requireBegun`. */
export function addRun(run: NewRun, key: number, { messages, settings, keep = [] }: RunBodies): Write {
  const { id, threadId, tenant, createdAt } = run;
  const work: WorkStep[] = [["none", "anyRun", id]];
  if (threadId !== undefined) {
    work.push(["some", "ownThread", threadId, tenant ?? LOCAL_TENANT], ["none", "activeRun", threadId]);
    work.push(...addMessages(threadId, messages, createdAt));
  }
  work.push(...keep);
  work.push(["run", "addRun", key, id, threadId ?? null, tenant ?? null, createdAt, settings?.text ?? null]);
  return { work, run: key };
}

/** Throws the `StoreError` for the check of `addRun` that refused it, if one did. */
export function requireBegun({ refusedAt, rows }: WorkReply, { id, threadId = "" }: NewRun): void {
  if (refusedAt === 0) throw new StoreError("run-exists", `Run ${id} already exists.`);
  if (refusedAt === 1) throw new StoreError("unknown-thread", `There is no thread ${threadId}.`);
  if (refusedAt === 2) throw busy(threadId, rows);
}

/** The error for a thread with an unfinished run, which a check has found. */
export function busy(threadId: string, rows: readonly unknown[]): StoreError {
  const runId = String((rows[0] as SqlRow | undefined)?.["id"]);
  return new StoreError("thread-busy", `Run ${runId} of thread ${threadId} is not over. Wait for it, or abort it.`);
}

/** Events to be appended, ready to be stored. */
export interface Appending {
  readonly runId: string;
  readonly events: readonly AgentEvent[];
  /** If something is large: the parts of it that are already written. Without it, the events are encoded at once. */
  readonly large?: LargeBodies;
  readonly settlement?: Settlement | undefined;
  /** The claim of its writer. */
  readonly epoch?: number | undefined;
  readonly messages?: readonly MessageBody[];
  /** The usage of each model in the thread so far. */
  readonly usage?: readonly ModelUsage[];
}

export interface Appended {
  readonly write: Write;
  readonly end: Pick<StoredRun, "lastSeq" | "isOver">;
  /** By how much the log and the thread grow. */
  readonly logBytes: number;
  readonly threadBytes: number;
}

/** Where events are appended. */
type GrowingLog = Pick<RunRow, "key" | "run"> & { readonly bytes: number };

/**
 * Appends events to a log.
 * @throws StoreError for events that do not continue where the log ends, or that cannot be encoded.
 */
export function appendEvents({ key, run, bytes }: GrowingLog, appending: Appending): Appended {
  const { runId, events, settlement, large, epoch } = appending;
  if (!run.isOver) requireHeld(runId, run.claim, epoch);
  const end = requireNext(runId, run, events);
  if (large === undefined) {
    const bodies = encodeAll(runId, events);
    const logBytes = countBytes(bodies);
    if (settlement === undefined && events.every(isRowOnly) && waitAfter(events) === undefined) {
      const rows = { key, seqs: events.map(({ seq }) => seq), bodies };
      return { write: { rows, run: key }, end, logBytes, threadBytes: 0 };
    }
    return appendWork({ key, run, bytes }, appending, bodies, { end, logBytes });
  }
  const logBytes = large.events.reduce((sum, body) => sum + body.bytes, large.bytes);
  const bodies = large.events.map(({ text }) => text);
  return appendWork({ key, run, bytes }, appending, bodies, { end, logBytes });
}

/** A separate loop, because it runs once per event. */
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
  { key, run, bytes }: GrowingLog,
  { events, settlement, large, messages = large?.messages ?? [], usage = [] }: Appending,
  bodies: readonly string[],
  { end, logBytes }: Pick<Appended, "end" | "logBytes">,
): Appended {
  const status = statusAfter(events);
  const work = events.map(({ seq }, at): WorkStep => ["run", "addEvent", key, seq, bodies[at] as string]);
  work.push(...(large?.keep ?? []));
  // For an unfinished run, its events determine where the log ends; an update per append would be redundant.
  if (status !== undefined) work.push(["run", "endRun", end.lastSeq, status, bytes + logBytes, key]);
  work.push(...noteSteps({ key, run }, events, large?.values ?? questionsOf(run, events).map(encodeBody)));
  const wait = waitAfter(events);
  if (wait !== undefined) work.push(["run", "parkRun", end.lastSeq, wait.wakeAt ?? null, key]);
  if (status !== undefined) work.push(["run", "dropQuestions", key], ...dropAnswers(key));
  const isSettled = settlement !== undefined && run.threadId !== undefined;
  if (isSettled) work.push(...settle(run.threadId as string, settlement, messages, usage));
  const threadBytes = isSettled ? messages.reduce((sum, body) => sum + body.bytes, 0) : 0;
  return { write: { work, run: key }, end, logBytes, threadBytes };
}

/** The permission questions among these events. */
export function questionsOf(run: StoredRun, events: readonly AgentEvent[]): readonly Question[] {
  return permissionSteps(events).flatMap((step) =>
    step.kind === "asked" ? [{ ...step.question, ...placeOf(run) }] : [],
  );
}

function placeOf({ threadId, tenant = LOCAL_TENANT }: StoredRun): Pick<Question, "tenant" | "threadId"> {
  return { tenant, ...(threadId !== undefined && { threadId }) };
}

function noteSteps(
  { key, run }: Pick<RunRow, "key" | "run">,
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

export function addMessages(threadId: string, messages: readonly MessageBody[], at: number): readonly WorkStep[] {
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
