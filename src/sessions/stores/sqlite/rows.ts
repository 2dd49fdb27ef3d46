import type { AgentEvent, Message, RunStatus } from "#domain";
import { decodeEvent, decodeEventValue } from "#wire";
import type { AuditEntry, ModelUsage, NewThread, Question, StoredAnswer, StoredRun, StoredThread } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { totalUsage } from "../thread-rules.ts";
import { Assembled } from "./assembly.ts";
import type { SqlRow } from "./sql-driver.ts";

// The rows are ours, but a disk may be damaged: unreadable data is reported, and never replaced.

export interface RunRow {
  readonly key: number;
  /** The epoch of its latest claim, whether it is held or not. */
  readonly epoch: number;
  readonly run: StoredRun;
}

export function readThreadRow(row: SqlRow): StoredThread {
  const thread: NewThread = {
    id: String(row["id"]),
    tenant: String(row["tenant"]),
    title: readBody<string>(row["title"]),
    target: readBody<string>(row["target"]),
    createdAt: Number(row["created_at"]),
  };
  const { run_id: runId, usage_lines: lines } = row;
  const usage = typeof lines === "string" ? lines.split("\n").map((line) => readBody<ModelUsage>(line)) : [];
  return {
    ...thread,
    updatedAt: Number(row["updated_at"]),
    ...totalUsage(usage),
    ...(typeof runId === "string" && { runId }),
  };
}

/** `stagedSeq` returns the seq of the last staged row of a run, which comes after those in the database. */
export function readRunRow(row: SqlRow, stagedSeq: (key: number) => number): RunRow {
  const { thread_id: threadId, tenant, status, wake_at: wakeAt, worker, body = null } = row;
  const lastSeq = Math.max(Number(row["last_seq"]), stagedSeq(Number(row["run_key"])));
  const isWaiting = row["parked_seq"] !== null && Number(row["parked_seq"]) === lastSeq;
  return {
    key: Number(row["run_key"]),
    epoch: Number(row["epoch"]),
    run: {
      id: String(row["id"]),
      createdAt: Number(row["created_at"]),
      ...(typeof threadId === "string" && { threadId }),
      ...(typeof tenant === "string" && { tenant }),
      ...(body !== null && readBody<Pick<StoredRun, "settings">>(body)),
      lastSeq,
      isOver: status !== null,
      ...(typeof status === "string" && { status: status as RunStatus }),
      ...(isWaiting && { isWaiting }),
      ...(isWaiting && typeof wakeAt === "number" && { wakeAt }),
      ...(typeof worker === "string" && {
        claim: { epoch: Number(row["epoch"]), worker: readBody<string>(worker), at: Number(row["claimed_at"]) },
      }),
    },
  };
}

/** A stored event. Its text was written by `encodeEvent`. */
export function readEventBody(body: unknown): AgentEvent {
  const decoded = body instanceof Assembled ? decodeEventValue(body.value) : decodeEvent(String(body));
  if (decoded.fault !== undefined) throw damaged(decoded.fault);
  return decoded.event;
}

export const readMessageRow = (row: SqlRow): Message => readBody<Message>(row["body"]);
export const readQuestionRow = (row: SqlRow): Question => readBody<Question>(row["body"]);
export const readAnswerRow = (row: SqlRow): StoredAnswer => readBody<StoredAnswer>(row["body"]);
export const readAuditRow = (row: SqlRow): AuditEntry => readBody<AuditEntry>(row["body"]);
export const readUsageRow = (row: SqlRow): ModelUsage => readBody<ModelUsage>(row["body"]);

/** The JSON text of a value. */
export function writeBody(value: unknown): string {
  return JSON.stringify(value);
}

/** A vendor's call id may contain anything; as JSON it has no NUL, at which a driver would cut it. */
export function callKey(callId: string): string {
  return writeBody(callId);
}

function readBody<Value>(body: unknown): Value {
  if (body instanceof Assembled) return body.value as Value;
  try {
    return JSON.parse(String(body)) as Value;
  } catch (error) {
    throw damaged(String(error));
  }
}

function damaged(why: string): StoreError {
  return new StoreError("store-failed", `The database holds something that cannot be read: ${why}`);
}
