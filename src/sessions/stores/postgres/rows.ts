import type { RunStatus } from "#domain";
import type { ModelUsage, StoredRun, StoredThread } from "../store.ts";
import { totalUsage } from "../thread-rules.ts";
import type { Bodies } from "./bodies.ts";

/** Numbers that may be large arrive as text. */
export interface RunRow {
  readonly id: string;
  readonly thread_id: string | null;
  readonly tenant: string;
  readonly names_tenant: boolean;
  readonly created_at: number;
  readonly settings: string | null;
  readonly last_seq: string;
  readonly status: RunStatus | null;
  readonly parked_seq: string | null;
  readonly wake_at: number | null;
  readonly epoch: string;
  readonly worker: string | null;
  readonly claimed_at: number | null;
  readonly [column: string]: unknown;
}

export const RUN_COLUMNS =
  "id, thread_id, tenant, names_tenant, created_at, settings, last_seq, status, parked_seq, wake_at, epoch, worker, claimed_at";

export async function readRun(row: RunRow, bodies: Bodies): Promise<StoredRun> {
  const isWaiting = row.status === null && row.parked_seq !== null && row.parked_seq === row.last_seq;
  return {
    id: row.id,
    createdAt: row.created_at,
    ...(row.thread_id !== null && { threadId: row.thread_id }),
    ...(row.names_tenant && { tenant: row.tenant }),
    ...(row.settings !== null && { settings: await bodies.read<unknown>(row.settings) }),
    lastSeq: Number(row.last_seq),
    isOver: row.status !== null,
    ...(row.status !== null && { status: row.status }),
    ...(isWaiting && { isWaiting }),
    ...(isWaiting && row.wake_at !== null && { wakeAt: row.wake_at }),
    ...(row.worker !== null && {
      claim: { epoch: Number(row.epoch), worker: await bodies.read<string>(row.worker), at: row.claimed_at ?? 0 },
    }),
  };
}

export interface ThreadRow {
  readonly id: string;
  readonly tenant: string;
  readonly title: string;
  readonly target: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly run_id: string | null;
  /** One line of JSON for each model. */
  readonly usage_lines: string | null;
  readonly [column: string]: unknown;
}

/** With the active run and the usage, so that one statement reads everything consistently. */
export const THREAD_COLUMNS = `id, tenant, title, target, created_at, updated_at,
  (SELECT r.id FROM @.runs AS r WHERE r.thread_id = threads.id AND r.status IS NULL) AS run_id,
  (SELECT string_agg(u.body, E'\\n') FROM @.usage AS u WHERE u.thread_id = threads.id) AS usage_lines`;

export async function readThread(row: ThreadRow, bodies: Bodies): Promise<StoredThread> {
  const lines = row.usage_lines === null ? [] : row.usage_lines.split("\n");
  return {
    id: row.id,
    tenant: row.tenant,
    title: await bodies.read<string>(row.title),
    target: await bodies.read<string>(row.target),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...totalUsage(await Promise.all(lines.map((line) => bodies.read<ModelUsage>(line)))),
    ...(row.run_id !== null && { runId: row.run_id }),
  };
}
