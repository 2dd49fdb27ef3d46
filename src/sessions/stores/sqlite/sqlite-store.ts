import { type Clock, describeThrown, type FileSystem, type StartWorker } from "#domain";
import {
  isWanted,
  requireAnswer,
  requireCursor,
  requireFileName,
  requireRun,
  requireWanted,
  unknownRun,
} from "../sequence.ts";
import type { ModelUsage, Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import {
  foldCase,
  LOCAL_TENANT,
  cursorAfter,
  requirePage,
  requireThread,
  requireTitle,
  requireWholeThread,
} from "../thread-rules.ts";
import { Answers } from "./answers.ts";
import { Appender } from "./appender.ts";
import { Claims } from "./claims.ts";
import { CommitQueue, type Write } from "./commit-queue.ts";
import { plain } from "./bodies.ts";
import { NodeNotes } from "../node-notes.ts";
import { Files } from "./files.ts";
import { KeptEnds } from "./kept-ends.ts";
import { encodeRun } from "./run-bodies.ts";
import { encodeThread } from "./restored-thread.ts";
import type { WorkReply, WorkStep } from "./worker/requests.ts";
import { EngineHost } from "./engine-host.ts";
import { StagedRows } from "./staged-rows.ts";
import { LargeBodyWriter } from "./large-bodies.ts";
import { READER_SETTINGS, openDatabase, type OpenedDatabase, WRITER_SETTINGS } from "./open-database.ts";
import { OpenRuns } from "./open-runs.ts";
import { Reader } from "./reads.ts";
import {
  readAnswerRow,
  readAuditRow,
  readMessageRow,
  readQuestionRow,
  readThreadRow,
  readUsageRow,
  writeBody,
} from "./rows.ts";
import { loadSqlDriver, type SqlDriver, type SqlRow } from "./sql-driver.ts";
import { TenantBytes } from "./tenant-bytes.ts";
import { addRun, busy, requireBegun } from "./writes.ts";

export interface SqliteStoreOptions {
  /** An absolute path. Created with mode 0700 if missing; the files in it have mode 0600. */
  readonly folder: string;
  readonly clock: Clock;
  readonly files: FileSystem;
  /** Default: Node's own SQLite, otherwise `libsql`. */
  readonly driver?: SqlDriver;
  /** Starts workers that read, write and wait for the disk. Without it, this thread does. */
  readonly startWorker?: StartWorker;
  /** Called once when a worker has died: nothing is lost, but from now on requests wait for the disk. */
  readonly onWorkerLost?: () => void;
}

/**
 * Opens the store in a folder. When a call resolves, what it wrote is synced to disk: it survives a crash of the
 * program and a loss of power. Writes within 10 ms of each other are committed together; if commits are slow and there
 * is no worker for them, those within 50 ms.
 *
 * Only one program at a time: a second one is rejected with `store-failed`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const driver = options.driver ?? (await loadSqlDriver());
  const opened = await openDatabase(options.folder, driver.open, options.files);
  try {
    const ends = new KeptEnds(`${options.folder}/ends`, options.files);
    await ends.reserve();
    return assemble(opened, driver, { ...options, ends });
  } catch (error) {
    // Otherwise the next start would find it locked.
    opened.close();
    throw new StoreError("store-failed", `${opened.path} cannot be used: ${describeThrown(error)}`, { cause: error });
  }
}

function assemble(
  opened: OpenedDatabase,
  driver: SqlDriver,
  options: SqliteStoreOptions & { readonly ends: KeptEnds },
): Store {
  const { clock, startWorker, ends } = options;
  const { path, database } = opened;
  // Before the workers, so that nothing has to be ended if this fails.
  const bytes = new TenantBytes(database);
  let isLossReported = false;
  const onLost = (): void => {
    if (!isLossReported) options.onWorkerLost?.();
    isLossReported = true;
  };
  // Two, so that reads wait neither for a sync nor for a lock that blocks writes.
  const seams = { path, driver, startWorker, database, clock, onLost };
  const writer = new EngineHost({ ...seams, settings: WRITER_SETTINGS });
  const reader = new EngineHost({ ...seams, settings: READER_SETTINGS });
  const staged = new StagedRows();
  const queue = new CommitQueue(writer, staged, clock, opened.lastGroup);
  return createStore({
    queue,
    reader: new Reader(reader, staged, clock),
    staged,
    large: new LargeBodyWriter(queue, opened.lastPart),
    bytes,
    ends,
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
  readonly staged: StagedRows;
  readonly large: LargeBodyWriter;
  readonly bytes: TenantBytes;
  readonly ends: KeptEnds;
  /** The greatest key of a run. */
  readonly lastKey: number;
  close(): Promise<void>;
}

function createStore({ queue, reader, staged, large, bytes, ends, lastKey, close }: Parts): Store {
  const open = new OpenRuns();
  const appender = new Appender({ queue, reader, staged, large, bytes, open });
  const answers = new Answers({ queue, reader, large, open });
  const files = new Files({ queue, reader, large });
  const nodes = new NodeNotes();
  const claims = new Claims({ queue, open, find: (runId) => appender.find(runId) });
  let closing: Promise<void> | undefined;
  let runKey = lastKey;

  const requireOpen = (): void => {
    if (closing !== undefined) throw new StoreError("store-closed", "The store is closed. Open another one.");
  };
  const write = (what: Write): Promise<WorkReply> => {
    requireOpen();
    return queue.add(what);
  };

  // `async`, so that a refusal is a rejection.
  return {
    async createRun(run, messages = []) {
      requireOpen();
      requireRun(run);
      runKey += 1;
      const key = runKey;
      const encoded = encodeRun(run, run.threadId === undefined ? [] : messages, { key, large });
      const bodies = encoded instanceof Promise ? await encoded : encoded;
      try {
        requireBegun(await write(addRun(run, key, bodies)), run);
      } catch (error) {
        bodies.drop?.();
        throw error;
      }
      open.add({ key, epoch: 0, run: { ...run, lastSeq: -1, isOver: false } }, bodies.runBytes);
      bytes.add(run.tenant, bodies.runBytes + bodies.threadBytes);
    },
    // Not `async`, which would double its cost: it is called once per event.
    append(runId, events, settlement, epoch) {
      try {
        requireOpen();
        return appender.append(runId, events, settlement, epoch);
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
      const all = requireWanted(wanted);
      const { id, threadId, isWaiting, isOver = isWaiting === true ? false : undefined } = all;
      if (id !== undefined) {
        const run = (await reader.findRun(id, "wholeRun"))?.run;
        return run !== undefined && isWanted(run, all) ? [run] : [];
      }
      const thread = threadId ?? null;
      const over = isOver === undefined ? null : Number(isOver);
      const rows =
        isOver === false && threadId === undefined
          ? await reader.all("goingOn")
          : await reader.all("runs", thread, thread, over, over);
      const runs = rows.map((row) => reader.showRun(row).run);
      return runs.filter((run) => isWanted(run, all));
    },
    async findRun(tenant, id) {
      requireOpen();
      const row = await reader.findRun(id, "wholeRun");
      return row !== undefined && (row.run.tenant ?? LOCAL_TENANT) === tenant ? row.run : undefined;
    },
    async keepEnd(end) {
      requireOpen();
      await ends.keep(end);
    },
    async listEnds() {
      requireOpen();
      return await ends.list();
    },
    async removeEnd(runId) {
      requireOpen();
      await ends.remove(runId);
    },
    async claim(runId, wanted) {
      requireOpen();
      return await claims.claim(runId, wanted);
    },
    async extendClaim(held) {
      requireOpen();
      await claims.extend(held);
    },
    async releaseClaim(held) {
      requireOpen();
      return await claims.release(held);
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
      if (refusedAt !== undefined) throw new StoreError("thread-exists", `Thread ${id} already exists.`);
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
      return { threads, ...(rows.length > limit && last !== undefined && { next: cursorAfter(last) }) };
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
          ["run", "dropMessageParts", id],
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
    async addAnswer(runId, answer) {
      requireOpen();
      requireAnswer(answer);
      return await answers.add(runId, answer);
    },
    async listAnswers(runId) {
      requireOpen();
      return (await reader.all("answers", runId)).map(readAnswerRow);
    },
    async keepFile(name, data, claim) {
      requireOpen();
      requireFileName(name);
      await files.keep(name, data, claim && ((write) => claims.whileHeld(claim, write)));
    },
    async findFile(name) {
      requireOpen();
      requireFileName(name);
      return await files.find(name);
    },
    async removeFile(name) {
      requireOpen();
      requireFileName(name);
      return await files.remove(name);
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
    async noteNode(node, note) {
      requireOpen();
      return nodes.exchange(node, note);
    },
    async listTenants() {
      requireOpen();
      return (await reader.all("tenants", LOCAL_TENANT)).map(({ tenant }) => String(tenant));
    },
    async listFiles() {
      requireOpen();
      return (await reader.all("files")).map(({ name }) => String(name));
    },
    async restoreThread(thread) {
      requireOpen();
      requireWholeThread(thread);
      const restored = await encodeThread(thread, large);
      const { refusedAt, rows } = await write({ work: restored.work }).catch((error: unknown) => {
        restored.drop();
        throw error;
      });
      if (refusedAt !== undefined) {
        restored.drop();
        throw new StoreError("thread-exists", `Thread ${thread.id} already exists.`);
      }
      bytes.add(thread.tenant, restored.bytes - Number((rows[0] as SqlRow)["bytes"]));
    },
    async replaceAudit(tenant, entries) {
      const added = entries.map((entry): WorkStep => ["run", "addAudit", tenant, writeBody(entry)]);
      await write({ work: [["run", "dropAudit", tenant], ...added] });
    },
    async close() {
      closing ??= Promise.all([appender.drain(), answers.drain(), files.drain()])
        .then(() => queue.drain())
        .then(close);
      await closing;
    },
  };
}
