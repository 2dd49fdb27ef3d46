import { type Clock, describeThrown, type FileSystem, type StartWorker } from "#domain";
import { requireCursor, requireRun, requireWanted } from "../sequence.ts";
import type { ModelUsage, Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { foldCase, LOCAL_TENANT, placeBehind, requirePage, requireThread, requireTitle } from "../thread-rules.ts";
import { Appender, unknownRun } from "./appender.ts";
import { CommitQueue, type Write } from "./commit-queue.ts";
import { encodeMessage, isLarge, plain } from "./bodies.ts";
import type { WorkReply } from "./engine.ts";
import { EngineHost } from "./engine-host.ts";
import { StagedRows } from "./staged-rows.ts";
import { LargeBodyWriter } from "./large-bodies.ts";
import { READER_SETTINGS, openDatabase, type OpenedDatabase, WRITER_SETTINGS } from "./open-database.ts";
import { OpenRuns } from "./open-runs.ts";
import { Reader } from "./reads.ts";
import { readAuditRow, readMessageRow, readQuestionRow, readThreadRow, readUsageRow, writeBody } from "./rows.ts";
import { loadSqlDriver, type SqlDriver, type SqlRow } from "./sql-driver.ts";
import { TenantBytes } from "./tenant-bytes.ts";
import { addRun, busy, requireBegun } from "./writes.ts";

export interface SqliteStoreOptions {
  /** An absolute path. Made with mode 0700 when it is missing; the files in it have mode 0600. */
  readonly folder: string;
  readonly clock: Clock;
  readonly files: FileSystem;
  /** Default: Node's own SQLite, otherwise `libsql`. */
  readonly driver?: SqlDriver;
  /** Lets workers read, write and wait for the disk. Without it this thread does. */
  readonly startWorker?: StartWorker;
  /** Called once when a worker has died: nothing is lost, but from now on those who are served wait for the disk. */
  readonly onWorkerLost?: () => void;
}

/**
 * Opens the store in a folder. When a call resolves, what it wrote is synced to the disk: it survives a crash of the
 * program and a loss of power. Writes that come within 10 ms of each other are committed together; where commits are
 * slow and there is no worker for them, those within 50 ms.
 *
 * One program at a time: a second one is refused with `store-failed`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const driver = options.driver ?? (await loadSqlDriver());
  const opened = await openDatabase(options.folder, driver.open, options.files);
  try {
    return assemble(opened, driver, options);
  } catch (error) {
    // Another start would find it locked.
    opened.close();
    throw new StoreError("store-failed", `${opened.path} cannot be used: ${describeThrown(error)}`, { cause: error });
  }
}

function assemble(opened: OpenedDatabase, driver: SqlDriver, options: SqliteStoreOptions): Store {
  const { clock, startWorker } = options;
  const { path, database } = opened;
  // Before the workers: nothing is to be ended when this fails.
  const bytes = new TenantBytes(database);
  let isLossTold = false;
  const onLost = (): void => {
    if (!isLossTold) options.onWorkerLost?.();
    isLossTold = true;
  };
  // Two: who reads does not wait for what is being synced, or for a lock that keeps us from writing.
  const seams = { path, driver, startWorker, database, clock, onLost };
  const writer = new EngineHost({ ...seams, settings: WRITER_SETTINGS });
  const reader = new EngineHost({ ...seams, settings: READER_SETTINGS });
  const fresh = new StagedRows();
  const queue = new CommitQueue(writer, fresh, clock, opened.lastGroup);
  return createStore({
    queue,
    reader: new Reader(reader, fresh, clock),
    fresh,
    large: new LargeBodyWriter(queue, opened.lastPart),
    bytes,
    lastKey: opened.lastKey,
    async close() {
      await Promise.all([writer.close(), reader.close()]);
      opened.close();
    },
  });
}

interface Parts {
  readonly queue: CommitQueue;
  readonly reader: Reader;
  readonly fresh: StagedRows;
  readonly large: LargeBodyWriter;
  readonly bytes: TenantBytes;
  /** The greatest key of a run. */
  readonly lastKey: number;
  close(): Promise<void>;
}

function createStore({ queue, reader, fresh, large, bytes, lastKey, close }: Parts): Store {
  const open = new OpenRuns();
  const appender = new Appender({ queue, reader, fresh, large, bytes, open });
  let closing: Promise<void> | undefined;
  let runKey = lastKey;

  const requireOpen = (): void => {
    if (closing !== undefined) throw new StoreError("store-closed", "The store is closed. Open another one.");
  };
  const write = (what: Write): Promise<WorkReply> => {
    requireOpen();
    return queue.add(what);
  };

  // `async`, so that what is refused is a rejection.
  return {
    async createRun(run, messages = []) {
      requireOpen();
      requireRun(run);
      runKey += 1;
      const key = runKey;
      const kept = run.threadId === undefined ? [] : messages;
      const parted = isLarge([], kept) ? await large.write({ runId: run.id, key, messages: kept }) : undefined;
      const bodies = parted?.messages ?? kept.map(encodeMessage);
      try {
        requireBegun(await write(addRun(run, key, bodies, parted?.keep)), run);
      } catch (error) {
        parted?.drop();
        throw error;
      }
      const partBytes = parted?.bytes ?? 0;
      open.add({ key, run: { ...run, lastSeq: -1, isOver: false } }, partBytes);
      bytes.add(
        run.tenant,
        bodies.reduce((sum, body) => sum + body.bytes, partBytes),
      );
    },
    // Not `async`, which would cost as much again: it is asked once per event.
    append(runId, events, settlement) {
      try {
        requireOpen();
        return appender.append(runId, events, settlement);
      } catch (error) {
        return Promise.reject(error);
      }
    },
    async read(runId, options) {
      requireOpen();
      const cursor = requireCursor(options);
      const key = open.get(runId)?.key ?? (await reader.findRun(runId))?.key;
      if (key === undefined) throw unknownRun(runId);
      return await reader.events(key, cursor);
    },
    async listRuns(wanted) {
      requireOpen();
      const { threadId, isOver } = requireWanted(wanted);
      const thread = threadId ?? null;
      const over = isOver === undefined ? null : Number(isOver);
      const rows =
        isOver === false && threadId === undefined
          ? await reader.all("goingOn")
          : await reader.all("runs", thread, thread, over, over);
      return rows.map((row) => reader.showRun(row).run);
    },
    async findRun(tenant, id) {
      requireOpen();
      const row = await reader.findRun(id);
      return row !== undefined && (row.run.tenant ?? LOCAL_TENANT) === tenant ? row.run : undefined;
    },
    async createThread(thread) {
      requireOpen();
      requireThread(thread);
      const { id, tenant, title, target, createdAt } = thread;
      const search = plain(foldCase(title));
      const { refusedAt } = await write({
        work: [
          ["none", "anyThread", id],
          ["run", "addThread", id, tenant, writeBody(title), writeBody(target), createdAt, createdAt, search],
        ],
      });
      if (refusedAt !== undefined) throw new StoreError("thread-exists", `There is a thread ${id} already.`);
    },
    async findThread(tenant, id) {
      requireOpen();
      const row = await reader.first("thread", id, tenant);
      return row === undefined ? undefined : readThreadRow(row);
    },
    async listThreads(wanted) {
      requireOpen();
      const { tenant, search, limit, before } = requirePage(wanted);
      const { updatedAt, id } = before ?? { updatedAt: Number.MAX_VALUE, id: "" };
      const text = plain(search);
      const rows = await reader.all("threads", tenant, updatedAt, updatedAt, id, text, text, text, limit + 1);
      const threads = rows.slice(0, limit).map(readThreadRow);
      const last = threads.at(-1);
      return { threads, ...(rows.length > limit && last !== undefined && { next: placeBehind(last) }) };
    },
    async countThreads(tenant) {
      requireOpen();
      return Number((await reader.first("threadCount", tenant))?.["threads"]);
    },
    async renameThread(tenant, id, { title, at }) {
      requireOpen();
      requireTitle(title);
      const { refusedAt } = await write({
        work: [
          ["some", "ownThread", id, tenant],
          ["run", "renameThread", writeBody(title), plain(foldCase(title)), at, id],
        ],
      });
      return refusedAt === undefined;
    },
    async removeThread(tenant, id) {
      requireOpen();
      const { refusedAt, rows } = await write({
        work: [
          ["some", "ownThread", id, tenant],
          ["none", "activeRun", id],
          ["get", "threadBytes", id],
          ["run", "removeThread", id],
        ],
      });
      if (refusedAt === 1) throw busy(id, rows);
      if (refusedAt !== undefined) return false;
      bytes.add(tenant, -Number((rows[0] as SqlRow)["bytes"]));
      return true;
    },
    async listMessages(tenant, threadId) {
      requireOpen();
      return (await reader.all("messages", threadId, tenant)).map(readMessageRow);
    },
    async listUsage(tenant, threadId): Promise<readonly ModelUsage[]> {
      requireOpen();
      return (await reader.all("usage", threadId, tenant)).map(readUsageRow);
    },
    async listQuestions(tenant) {
      requireOpen();
      return (await reader.all("questions", tenant)).map(readQuestionRow);
    },
    async addAudit(entry) {
      await write({ work: [["run", "addAudit", entry.tenant, writeBody(entry)]] });
    },
    async listAudit(tenant) {
      requireOpen();
      return (await reader.all("audit", tenant)).map(readAuditRow);
    },
    async countBytes(tenant) {
      requireOpen();
      return bytes.of(tenant);
    },
    async close() {
      closing ??= appender
        .drain()
        .then(() => queue.drain())
        .then(close);
      await closing;
    },
  };
}
