import { type Clock, describeThrown, type FileSystem, type StartThread } from "#domain";
import { requireCursor, requireRun } from "../sequence.ts";
import type { Store } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { foldCase, LOCAL_TENANT, placeBehind, requirePage, requireThread, requireTitle } from "../thread-rules.ts";
import { BUSY, CommitQueue } from "./commit-queue.ts";
import { CONNECTION_SETTINGS, openDatabase } from "./open-database.ts";
import { FreshRows } from "./fresh-rows.ts";
import { OpenRuns } from "./open-runs.ts";
import { findRun, findThread, readEvents, requireIdle, showRun, showThread, type Tables } from "./reads.ts";
import { readAuditRow, readMessageRow, readQuestionRow, readThreadRow, readUsageRow, writeBody } from "./rows.ts";
import { startRowWriter } from "./row-writer.ts";
import { isBusy, loadSqlDriver, type SqlDriver, type SqlRow } from "./sql-driver.ts";
import { prepareStatements } from "./statements.ts";
import { encodeSlowly, isLarge } from "./slow-encoding.ts";
import { addRun, type Appending, appendEvents, encodeAll, plain, takeRows } from "./writes.ts";

export interface SqliteStoreOptions {
  /** An absolute path. Made with mode 0700 when it is missing; the files in it have mode 0600. */
  readonly folder: string;
  readonly clock: Clock;
  readonly files: FileSystem;
  /** Default: Node's own SQLite, otherwise `libsql`. */
  readonly driver?: SqlDriver;
  /** Lets another thread wait for the disk. Without it this one does. */
  readonly startThread?: StartThread;
  /** Hears that the thread has died: nothing is lost, but from now on those who are served wait for the disk. */
  readonly onThreadLost?: () => void;
}

/**
 * Opens the store in a folder. When a call resolves, what it wrote is synced to the disk: it survives a crash of the
 * program and a loss of power. Appends that come within 10 ms of each other are committed together; where commits are
 * slow and there is no thread for them, those within 50 ms.
 *
 * One program at a time: a second one is refused with `store-failed`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { startThread } = options;
  const driver = options.driver ?? (await loadSqlDriver());
  const opened = await openDatabase(options.folder, driver.open, options.files);
  const { path, database } = opened;
  const statements = prepareStatements(database);
  const tables: Tables = { sql: statements, fresh: new FreshRows() };
  const open = new OpenRuns(tables);
  const rowWriter =
    startThread === undefined
      ? undefined
      : startRowWriter({ path, driver, settings: CONNECTION_SETTINGS, startThread });
  const queue = new CommitQueue(
    {
      database,
      fresh: tables.fresh,
      has: ({ key, seqs }) => statements.event.get(key, seqs.at(-1) ?? -1) !== undefined,
      forget: () => open.forget(),
      onThreadLost: () => options.onThreadLost?.(),
    },
    options.clock,
    rowWriter,
  );
  return createStore(tables, open, { queue, clock: options.clock }, async () => {
    await rowWriter?.close();
    opened.close();
  });
}

function createStore(
  tables: Tables,
  open: OpenRuns,
  { queue, clock }: { readonly queue: CommitQueue; readonly clock: Clock },
  closeAll: () => Promise<void>,
): Store {
  const { sql } = tables;
  let closing: Promise<void> | undefined;

  const requireOpen = (): void => {
    if (closing !== undefined) throw new StoreError("store-closed", "The store is closed. Open another one.");
  };
  /**
   * Reads at once, and again after a while when another program has locked the database. A failure of the database
   * becomes one of the store.
   */
  const look = async <Value>(read: () => Value): Promise<Value> => {
    for (let waitedMs = 0; ; waitedMs += BUSY.retryMs) {
      requireOpen();
      try {
        return read();
      } catch (error) {
        if (isStoreError(error)) throw error;
        if (!isBusy(error) || waitedMs >= BUSY.patienceMs) {
          const message = `The database cannot be read: ${describeThrown(error)}`;
          throw new StoreError("store-failed", message, { cause: error });
        }
      }
      await new Promise<void>((resolve) => {
        clock.after(BUSY.retryMs, resolve);
      });
    }
  };
  const write = (work: () => void): Promise<void> => {
    requireOpen();
    return queue.add(work);
  };
  /** A write that also says something. */
  const ask = async <Value>(work: () => Value): Promise<Value> => {
    let answer: { readonly value: Value } | undefined;
    await write(() => {
      answer = { value: work() };
    });
    return (answer as { readonly value: Value }).value;
  };

  const appendNow = (appending: Appending): Promise<void> => {
    const { runId } = appending;
    const rows = queue.hasThread ? takeRows(open, appending) : undefined;
    const work = (): void => appendEvents(sql, open, appending);
    if (rows !== undefined) return queue.add(work, { rows });
    return open.hold(runId, queue.add(work, { urgent: open.keyOf(runId) }));
  };
  /** Runs of which something large is being encoded, and when that is stored: what comes later waits behind it. */
  const slow = new Map<string, Promise<void>>();
  /** Encodes bit by bit, so that others are served meanwhile. */
  const appendSlowly = (given: Omit<Appending, "bodies" | "messages">): Promise<void> => {
    const { runId } = given;
    const stored = (slow.get(runId) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => encodeSlowly(given, clock))
      .then(appendNow);
    slow.set(runId, stored);
    const forget = (): void => void (slow.get(runId) === stored && slow.delete(runId));
    stored.then(forget, forget);
    return stored;
  };

  // `async`, so that what is refused is a rejection.
  return {
    async createRun(run, messages = []) {
      requireOpen();
      requireRun(run);
      await write(() => addRun(sql, run, messages));
    },
    // Not `async`, which would cost as much again: it is asked once per event.
    append(runId, events, settlement) {
      try {
        requireOpen();
        if (slow.has(runId) || isLarge(events, settlement)) return appendSlowly({ runId, events, settlement });
        // Encoded before the transaction: what cannot be written at all is the caller's mistake, and his alone.
        return appendNow({ runId, events, bodies: encodeAll(runId, events), settlement });
      } catch (error) {
        return Promise.reject(error);
      }
    },
    async read(runId, options) {
      return look(() => readEvents(tables, runId, requireCursor(options)));
    },
    async listRuns({ threadId, isOver } = {}) {
      const thread = threadId ?? null;
      const over = isOver === undefined ? null : Number(isOver);
      return look(() =>
        (isOver === false && threadId === undefined ? sql.goingOn.all() : sql.runs.all(thread, thread, over, over)).map(
          (row) => showRun(tables, row as SqlRow).run,
        ),
      );
    },
    async findRun(tenant, id) {
      return look(() => {
        const row = findRun(tables, id);
        return row !== undefined && (row.run.tenant ?? LOCAL_TENANT) === tenant ? row.run : undefined;
      });
    },
    async createThread(thread) {
      requireOpen();
      requireThread(thread);
      const { id, tenant, title, target, createdAt } = thread;
      await write(() => {
        if (sql.anyThread.get(id) !== undefined) {
          throw new StoreError("thread-exists", `There is a thread ${id} already.`);
        }
        const search = plain(foldCase(title));
        sql.addThread.run(id, tenant, writeBody(title), writeBody(target), createdAt, createdAt, search);
      });
    },
    async findThread(tenant, id) {
      return look(() => {
        const row = findThread(sql, tenant, id);
        return row === undefined ? undefined : showThread(sql, row);
      });
    },
    async listThreads(wanted) {
      return look(() => {
        const { tenant, search, limit, before } = requirePage(wanted);
        const { updatedAt, id } = before ?? { updatedAt: Number.MAX_VALUE, id: "" };
        const text = plain(search);
        const rows = sql.threads.all(tenant, updatedAt, updatedAt, id, text, text, text, limit + 1);
        const threads = rows.slice(0, limit).map((row) => showThread(sql, readThreadRow(row as SqlRow)));
        const last = threads.at(-1);
        return { threads, ...(rows.length > limit && last !== undefined && { next: placeBehind(last) }) };
      });
    },
    async countThreads(tenant) {
      return look(() => Number((sql.threadCount.get(tenant) as SqlRow)["threads"]));
    },
    async renameThread(tenant, id, { title, at }) {
      requireOpen();
      requireTitle(title);
      return await ask(() => {
        if (findThread(sql, tenant, id) === undefined) return false;
        sql.renameThread.run(writeBody(title), plain(foldCase(title)), at, id);
        return true;
      });
    },
    async removeThread(tenant, id) {
      return await ask(() => {
        if (findThread(sql, tenant, id) === undefined) return false;
        requireIdle(sql, id);
        sql.removeThread.run(id);
        return true;
      });
    },
    async listMessages(tenant, threadId) {
      return look(() => {
        if (findThread(sql, tenant, threadId) === undefined) return [];
        return sql.messages.all(threadId).map((row) => readMessageRow(row as SqlRow));
      });
    },
    async listUsage(tenant, threadId) {
      return look(() => {
        if (findThread(sql, tenant, threadId) === undefined) return [];
        return sql.usage.all(threadId).map((row) => readUsageRow(row as SqlRow));
      });
    },
    async listQuestions(tenant) {
      return look(() => sql.questions.all(tenant).map((row) => readQuestionRow(row as SqlRow)));
    },
    async addAudit(entry) {
      await write(() => sql.addAudit.run(entry.tenant, writeBody(entry)));
    },
    async listAudit(tenant) {
      return look(() => sql.audit.all(tenant).map((row) => readAuditRow(row as SqlRow)));
    },
    async close() {
      closing ??= Promise.allSettled(slow.values())
        .then(() => queue.drain())
        .then(closeAll);
      await closing;
    },
  };
}
