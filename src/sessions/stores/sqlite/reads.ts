import type { AgentEvent } from "#domain";
import type { requireCursor } from "../sequence.ts";
import type { StoredThread } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { totalUsage } from "../thread-rules.ts";
import { type RunRow, readEventRow, readRunRow, readThreadRow, readUsageRow, type ThreadRow } from "./rows.ts";
import type { SqlRow } from "./sql-driver.ts";
import type { Statements } from "./statements.ts";

/** Events taken from the database at a time, so that a long log is never in memory as a whole. */
const PAGE_EVENTS = 128;

export function readEvents(
  sql: Statements,
  runId: string,
  { after, limit, maxCharacters }: ReturnType<typeof requireCursor>,
): readonly AgentEvent[] {
  const { key } = requireRunRow(sql, runId);
  const events: AgentEvent[] = [];
  let cursor = after;
  let characters = 0;
  while (events.length < limit) {
    const rows = sql.events.all(key, cursor, Math.min(PAGE_EVENTS, limit - events.length));
    for (const row of rows) {
      const event = readEventRow(row as SqlRow);
      events.push(event);
      cursor = event.seq;
      characters += String((row as SqlRow)["body"]).length;
      if (characters >= maxCharacters) return events;
    }
    if (rows.length < PAGE_EVENTS) break;
  }
  return events;
}

export function showThread(sql: Statements, { thread, updatedAt }: ThreadRow): StoredThread {
  const lines = sql.usage.all(thread.id).map((row) => readUsageRow(row as SqlRow));
  const active = sql.activeRun.get(thread.id) as SqlRow | undefined;
  return {
    ...thread,
    updatedAt,
    ...totalUsage(lines),
    ...(active !== undefined && { runId: String(active["id"]) }),
  };
}

export function findThread(sql: Statements, tenant: string, id: string): ThreadRow | undefined {
  const row = sql.thread.get(id, tenant);
  return row === undefined ? undefined : readThreadRow(row as SqlRow);
}

export function findRun(sql: Statements, id: string): RunRow | undefined {
  const row = sql.run.get(id);
  return row === undefined ? undefined : readRunRow(row as SqlRow);
}

export function requireRunRow(sql: Statements, runId: string): RunRow {
  const row = findRun(sql, runId);
  if (row !== undefined) return row;
  throw new StoreError("unknown-run", `There is no run ${JSON.stringify(runId)} in this store.`);
}

export function requireIdle(sql: Statements, threadId: string): void {
  const active = sql.activeRun.get(threadId) as SqlRow | undefined;
  if (active === undefined) return;
  const runId = String(active["id"]);
  throw new StoreError("thread-busy", `Run ${runId} of thread ${threadId} is not over. Wait for it, or abort it.`);
}
