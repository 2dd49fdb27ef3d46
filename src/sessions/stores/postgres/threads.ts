import { isId, type Message } from "#domain";
import type { AuditEntry, ModelUsage, Question, Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { cursorAfter, foldCase, requirePage, requireThread, requireTitle } from "../thread-rules.ts";
import { type Bodies, plain } from "./bodies.ts";
import { ALL_TENANTS, type Database, type Repeating } from "./database.ts";
import { busy, type Verdict } from "./refusals.ts";
import { readThread, THREAD_COLUMNS, type ThreadRow } from "./rows.ts";

interface ThreadParts {
  readonly database: Database;
  readonly bodies: Bodies;
  requireOpen(): void;
}

const SAFE = { isSafe: true } as const;

type ThreadCalls = Pick<
  Store,
  | "createThread"
  | "findThread"
  | "listThreads"
  | "renameThread"
  | "removeThread"
  | "listMessages"
  | "listUsage"
  | "listQuestions"
  | "addAudit"
  | "listAudit"
> &
  Required<Pick<Store, "countThreads" | "countBytes">>;

/** The calls about threads and about what a tenant has. Each names its tenant. */
export function threadCalls({ database, bodies, requireOpen }: ThreadParts): ThreadCalls {
  return {
    async createThread(thread) {
      requireOpen();
      requireThread(thread);
      const { id, tenant, title, target, createdAt } = thread;
      const rows = await database.callAs(
        tenant,
        `INSERT INTO @.threads (id, tenant, title, target, search, created_at, updated_at)
          VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (id) DO NOTHING RETURNING 1`,
        [id, tenant, JSON.stringify(title), JSON.stringify(target), plain(foldCase(title)), createdAt],
      );
      if (rows.length === 0) throw new StoreError("thread-exists", `Thread ${id} already exists.`);
    },
    async findThread(tenant, id) {
      requireOpen();
      if (!isId(tenant) || !isId(id)) return undefined;
      const [row] = await database.callAs<ThreadRow>(
        tenant,
        `SELECT ${THREAD_COLUMNS} FROM @.threads AS threads WHERE id = $1 AND tenant = $2`,
        [id, tenant],
        SAFE,
      );
      return row === undefined ? undefined : await readThread(row, bodies);
    },
    async listThreads(wanted) {
      requireOpen();
      const { tenant, search, limit, before } = requirePage(wanted);
      if (!isId(tenant)) return { threads: [] };
      const rows = await database.callAs<ThreadRow>(
        tenant,
        `SELECT ${THREAD_COLUMNS} FROM @.threads AS threads
          WHERE tenant = $1
            AND ($2::double precision IS NULL OR updated_at < $2 OR (updated_at = $2 AND id > $3))
            AND ($4 = '' OR strpos(search, $4) > 0 OR EXISTS (
              SELECT 1 FROM @.messages AS m WHERE m.thread_id = threads.id AND strpos(m.search, $4) > 0))
          ORDER BY updated_at DESC, id LIMIT $5`,
        [tenant, before?.updatedAt ?? null, before?.id ?? "", plain(search), limit + 1],
        SAFE,
      );
      const threads = await Promise.all(rows.slice(0, limit).map((row) => readThread(row, bodies)));
      const last = threads.at(-1);
      return { threads, ...(rows.length > limit && last !== undefined && { next: cursorAfter(last) }) };
    },
    async countThreads(tenant) {
      requireOpen();
      if (!isId(tenant)) return 0;
      const text = "SELECT count(*) AS threads FROM @.threads WHERE tenant = $1";
      const [row] = await database.callAs<{ threads: string }>(tenant, text, [tenant], SAFE);
      return Number(row?.threads);
    },
    async countBytes(tenant) {
      requireOpen();
      if (!isId(tenant)) return 0;
      const text = "SELECT coalesce(sum(bytes), 0) AS bytes FROM @.tenant_bytes WHERE tenant = $1";
      const [row] = await database.callAs<{ bytes: string }>(tenant, text, [tenant], SAFE);
      return Number(row?.bytes);
    },
    async renameThread(tenant, id, { title, at }) {
      requireOpen();
      requireTitle(title);
      if (!isId(tenant) || !isId(id)) return false;
      const rows = await database.callAs(
        tenant,
        `UPDATE @.threads SET title = $3, search = $4, updated_at = greatest(updated_at, $5)
          WHERE id = $1 AND tenant = $2 RETURNING 1`,
        [id, tenant, JSON.stringify(title), plain(foldCase(title)), at],
        SAFE,
      );
      return rows.length > 0;
    },
    async removeThread(tenant, id) {
      requireOpen();
      if (!isId(tenant) || !isId(id)) return false;
      const [verdict] = await database.call<Verdict & Record<string, unknown>>(
        "SELECT * FROM @.remove_thread($1, $2)",
        [tenant, id],
      );
      if (verdict?.code === "thread-busy") throw busy(id, verdict.detail);
      return verdict?.code === null;
    },
    async listMessages(tenant, threadId) {
      requireOpen();
      if (!isId(tenant) || !isId(threadId)) return [];
      const text = "SELECT body FROM @.messages WHERE thread_id = $1 AND tenant = $2 ORDER BY position";
      const rows = await database.callAs<{ body: string }>(tenant, text, [threadId, tenant], SAFE);
      return await Promise.all(rows.map(({ body }) => bodies.read<Message>(body)));
    },
    async listUsage(tenant, threadId) {
      requireOpen();
      return isId(threadId) ? await readUsage({ database, bodies }, tenant, threadId) : [];
    },
    async listQuestions(tenant) {
      requireOpen();
      if (!isId(tenant)) return [];
      const rows = await database.callAs<{ body: string }>(
        tenant,
        `SELECT body FROM @.questions AS q WHERE tenant = $1 AND NOT EXISTS (
            SELECT 1 FROM @.answers AS a WHERE a.run_key = q.run_key AND a.call_id = q.call_id)
          ORDER BY asked_at, run_key, call_id`,
        [tenant],
        SAFE,
      );
      return await Promise.all(rows.map(({ body }) => bodies.read<Question>(body)));
    },
    async addAudit(entry) {
      requireOpen();
      const tenant = isId(entry.tenant) ? entry.tenant : ALL_TENANTS;
      await database.callAs(tenant, "INSERT INTO @.audit (tenant, body) VALUES ($1, $2)", [
        entry.tenant,
        JSON.stringify(entry),
      ]);
    },
    async listAudit(tenant) {
      requireOpen();
      if (!isId(tenant)) return [];
      const text = "SELECT body FROM @.audit WHERE tenant = $1 ORDER BY entry_key";
      const rows = await database.callAs<{ body: string }>(tenant, text, [tenant], SAFE);
      return await Promise.all(rows.map(({ body }) => bodies.read<AuditEntry>(body)));
    },
  };
}

/** The usage of each model in a thread, sorted by name. */
export async function readUsage(
  { database, bodies }: Pick<ThreadParts, "database" | "bodies">,
  tenant: string,
  threadId: string,
  repeating: Repeating = SAFE,
): Promise<readonly ModelUsage[]> {
  if (!isId(tenant)) return [];
  const rows = await database.callAs<{ body: string }>(
    tenant,
    "SELECT body FROM @.usage WHERE thread_id = $1 AND tenant = $2",
    [threadId, tenant],
    repeating,
  );
  const lines = await Promise.all(rows.map(({ body }) => bodies.read<ModelUsage>(body)));
  return lines.toSorted((left, right) => (left.model < right.model ? -1 : 1));
}
