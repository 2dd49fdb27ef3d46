import type { AgentEvent } from "#domain";
import type { requireCursor } from "../sequence.ts";
import type { StoredThread } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { totalUsage } from "../thread-rules.ts";
import type { FreshRows } from "./fresh-rows.ts";
import { type RunRow, readEventBody, readRunRow, readThreadRow, readUsageRow, type ThreadRow } from "./rows.ts";
import type { SqlRow } from "./sql-driver.ts";
import type { Statements } from "./statements.ts";

/** Everything that is stored: what stands in its place, and what is not there yet. */
export interface Tables {
  readonly sql: Statements;
  readonly fresh: FreshRows;
}

/** Events taken from the database at a time, so that a long log is never in memory as a whole. */
const PAGE_EVENTS = 128;

export function readEvents(
  tables: Tables,
  runId: string,
  { after, limit, maxCharacters }: ReturnType<typeof requireCursor>,
): readonly AgentEvent[] {
  const { key } = requireRunRow(tables, runId);
  const events: AgentEvent[] = [];
  let characters = 0;
  for (const body of bodiesAfter(tables, key, { after, limit })) {
    events.push(readEventBody(body));
    characters += body.length;
    if (events.length >= limit || characters >= maxCharacters) break;
  }
  return events;
}

/** What stands in its place, then what is not there yet. A row may be seen in both while it is being put there. */
function* bodiesAfter(
  { sql, fresh }: Tables,
  key: number,
  { after, limit }: { readonly after: number; readonly limit: number },
): Generator<string> {
  const page = Math.min(PAGE_EVENTS, limit);
  let cursor = after;
  for (;;) {
    const rows = sql.events.all(key, cursor, page) as readonly SqlRow[];
    for (const row of rows) {
      cursor = Number(row["seq"]);
      yield String(row["body"]);
    }
    if (rows.length < page) break;
  }
  yield* fresh.bodiesAfter(key, cursor);
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

export function findRun(tables: Tables, id: string): RunRow | undefined {
  const row = tables.sql.run.get(id);
  return row === undefined ? undefined : showRun(tables, row as SqlRow);
}

/** The run of a row. Where the log of one ends that goes on is what its last event says. */
export function showRun({ fresh }: Tables, row: SqlRow): RunRow {
  const { key, run } = readRunRow(row);
  return { key, run: { ...run, lastSeq: Math.max(run.lastSeq, fresh.lastSeq(key)) } };
}

export function requireRunRow(tables: Tables, runId: string): RunRow {
  const row = findRun(tables, runId);
  if (row !== undefined) return row;
  throw new StoreError("unknown-run", `There is no run ${JSON.stringify(runId)} in this store.`);
}

export function requireIdle(sql: Statements, threadId: string): void {
  const active = sql.activeRun.get(threadId) as SqlRow | undefined;
  if (active === undefined) return;
  const runId = String(active["id"]);
  throw new StoreError("thread-busy", `Run ${runId} of thread ${threadId} is not over. Wait for it, or abort it.`);
}
