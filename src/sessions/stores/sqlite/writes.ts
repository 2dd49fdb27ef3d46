import { type AgentEvent, describeThrown, type Message } from "#domain";
import { encodeEvent } from "#wire";
import { requireNext } from "../sequence.ts";
import type { NewRun, Settlement } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { addModelUsage, LOCAL_TENANT, permissionSteps, searchText, statusAfter } from "../thread-rules.ts";
import type { OpenRuns } from "./open-runs.ts";
import { findThread, requireIdle } from "./reads.ts";
import type { EventRows } from "./fresh-rows.ts";
import { type RunRow, readUsageRow, writeBody } from "./rows.ts";
import type { SqlRow } from "./sql-driver.ts";
import type { Statements } from "./statements.ts";

// What is done inside a transaction. Each checks first and writes afterwards, as the commit queue asks.

export function addRun(sql: Statements, run: NewRun, messages: readonly Message[]): void {
  const { id, threadId, tenant, createdAt } = run;
  if (sql.run.get(id) !== undefined) throw new StoreError("run-exists", `There is a run ${id} already.`);
  if (threadId !== undefined) {
    if (findThread(sql, tenant ?? LOCAL_TENANT, threadId) === undefined) {
      throw new StoreError("unknown-thread", `There is no thread ${threadId}.`);
    }
    requireIdle(sql, threadId);
    addMessages(sql, threadId, messages);
    sql.touchThread.run(createdAt, threadId);
  }
  sql.addRun.run(id, threadId ?? null, tenant ?? null, createdAt);
}

export interface Appending {
  readonly runId: string;
  readonly events: readonly AgentEvent[];
  readonly bodies: readonly string[];
  readonly settlement: Settlement | undefined;
  /** The messages of the settlement, when they are encoded already. */
  readonly messages?: readonly string[];
}

export function appendEvents(sql: Statements, open: OpenRuns, appending: Appending): void {
  const { runId, events, bodies, settlement } = appending;
  const { key, run } = open.require(runId);
  const end = requireNext(runId, run, events);
  const status = statusAfter(events);
  insertEvents(sql, key, events, bodies);
  // Where the log of a run ends that goes on is what its events say; a second write per append would say it again.
  if (status !== undefined) sql.endRun.run(end.lastSeq, status, key);
  noteSteps(sql, { key, run }, events);
  if (status !== undefined) sql.dropQuestions.run(key);
  if (settlement !== undefined && run.threadId !== undefined) settle(sql, run.threadId, settlement, appending.messages);
  open.note({ key, run }, end);
}

/**
 * The same as rows alone, for another thread to write: checked and noted here and now. `undefined` for events that
 * change more than their own table.
 */
export function takeRows(open: OpenRuns, { runId, events, bodies, settlement }: Appending): EventRows | undefined {
  if (settlement !== undefined || open.isHeld(runId) || !events.every(isRowOnly)) return undefined;
  const row = open.require(runId);
  open.note(row, requireNext(runId, row.run, events));
  return { key: row.key, seqs: events.map(({ seq }) => seq), bodies };
}

function isRowOnly({ type }: AgentEvent): boolean {
  return type !== "done" && type !== "permission";
}

/** A loop of its own: it runs once per event. */
function insertEvents(sql: Statements, key: number, events: readonly AgentEvent[], bodies: readonly string[]): void {
  for (let index = 0; index < events.length; index += 1) {
    sql.addEvent.run(key, (events[index] as AgentEvent).seq, bodies[index] as string);
  }
}

function noteSteps(sql: Statements, { key, run }: RunRow, events: readonly AgentEvent[]): void {
  const { threadId, tenant = LOCAL_TENANT } = run;
  const place = { tenant, ...(threadId !== undefined && { threadId }) };
  for (const step of permissionSteps(events)) {
    if (step.kind === "asked") {
      const { callId, askedAt } = step.question;
      sql.addQuestion.run(key, callKey(callId), tenant, askedAt, writeBody({ ...step.question, ...place }));
    } else {
      sql.answerQuestion.run(key, callKey(step.callId));
      sql.addAudit.run(tenant, writeBody({ ...step.entry, ...place }));
    }
  }
}

function settle(sql: Statements, threadId: string, settlement: Settlement, encoded?: readonly string[]): void {
  addMessages(sql, threadId, settlement.messages, encoded);
  sql.touchThread.run(settlement.at, threadId);
  for (const line of settlement.usage) {
    const model = writeBody(line.model);
    const row = sql.usageOf.get(threadId, model);
    const before = row === undefined ? undefined : readUsageRow(row as SqlRow);
    sql.setUsage.run(threadId, model, writeBody(addModelUsage(before, line)));
  }
}

function addMessages(
  sql: Statements,
  threadId: string,
  messages: readonly Message[],
  encoded?: readonly string[],
): void {
  for (const [index, message] of messages.entries()) {
    sql.addMessage.run(threadId, threadId, encoded?.[index] ?? writeBody(message), plain(searchText(message)));
  }
}

export function encodeAll(runId: string, events: readonly AgentEvent[]): readonly string[] {
  try {
    return events.map(encodeEvent);
  } catch (error) {
    throw new StoreError("invalid-event", `An event of run ${runId} cannot be written: ${describeThrown(error)}`, {
      cause: error,
    });
  }
}

/** A vendor's call id may be anything; as JSON it has no NUL, at which a driver would cut it. */
function callKey(callId: string): string {
  return writeBody(callId);
}

/** Text to be searched only: what SQLite would stumble over is left out. */
export function plain(text: string): string {
  return text.replaceAll("\0", " ");
}
