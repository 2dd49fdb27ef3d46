import { describeWriteFailure, describeThrown, type FileSystem } from "#domain";
import { isStoreError, StoreError } from "../store-error.ts";
import { flushStaged } from "./staged-rows.ts";
import { migrate } from "./migrations.ts";
import type { OpenDatabase, SqlDatabase, SqlRow } from "./sql-driver.ts";

const DATABASE_FILE = "millrace.sqlite";
const LOCK_FILE = "millrace.lock";
const EMPTY = new Uint8Array();

/**
 * The write-ahead log may grow to 8 MB before a checkpoint. Many simultaneous runs write the same pages over and over;
 * this way each is copied to the database once instead of twice.
 */
const CHECKPOINT_PAGES = 2048;

/** At the start and the end, a connection waits for the locks of other programs. */
const PATIENT = "PRAGMA busy_timeout = 2000;";

/** Otherwise it does not: a refused statement is retried later, and other work goes on meanwhile. */
const IMPATIENT = "PRAGMA busy_timeout = 0;";

const SETTINGS = `
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
`;

/**
 * The settings of the workers' connections. The writer has room for the pages that a few thousand runs write at the
 * same time, so that none has to be read again before it is changed.
 */
export const WRITER_SETTINGS = `${IMPATIENT}${SETTINGS}PRAGMA cache_size = -16384;`;
export const READER_SETTINGS = `${IMPATIENT}${SETTINGS}PRAGMA query_only = ON;`;

/** A database that is ready for use, with its lock. */
export interface OpenedDatabase {
  readonly path: string;
  readonly database: SqlDatabase;
  /** The greatest key of a run. */
  readonly lastKey: number;
  /** The number of the last transaction. */
  readonly lastGroup: number;
  /** The number of the last part of a large body. */
  readonly lastPart: number;
  /** Releases both. */
  close(): void;
}

/**
 * Opens the database of a data folder: created if missing (files 0600), private to its owner (0700), locked against a
 * second program, migrated to the newest version.
 *
 * It uses a write-ahead log and syncs at every commit: what was committed survives a crash of the program and of the
 * machine.
 */
export async function openDatabase(folder: string, open: OpenDatabase, files: FileSystem): Promise<OpenedDatabase> {
  // The files are created here rather than by SQLite, which would use the process's default mode.
  const path = `${folder}/${DATABASE_FILE}`;
  const lockPath = `${folder}/${LOCK_FILE}`;
  try {
    await files.makePrivate(folder);
    await files.append(path, EMPTY);
    await files.append(lockPath, EMPTY);
    // Files of an earlier program, or of a copy.
    for (const name of await files.list(folder)) {
      if (!name.startsWith(DATABASE_FILE) && !name.startsWith(LOCK_FILE)) continue;
      await files.makePrivate(`${folder}/${name}`, "file");
    }
  } catch (error) {
    throw failure(`The data folder ${folder} cannot be used: ${describeWriteFailure(error)}`, error);
  }
  const lock = lockFolder(folder, lockPath, open);
  let database: SqlDatabase | undefined;
  let numbers: Pick<OpenedDatabase, "lastKey" | "lastGroup" | "lastPart">;
  try {
    database = open(path);
    database.prepare("PRAGMA journal_mode = WAL").get();
    database.exec(PATIENT + SETTINGS);
    migrate(database);
    // Before bytes are counted.
    database.exec("DELETE FROM parts WHERE bytes IS NULL");
    flushStaged(database);
    database.exec(IMPATIENT);
    numbers = {
      lastKey: readNumber(database, "SELECT coalesce(max(run_key), 0) AS number FROM runs"),
      lastGroup: readNumber(database, "SELECT number FROM progress"),
      lastPart: readNumber(database, "SELECT coalesce(max(part), 0) AS number FROM parts"),
    };
  } catch (error) {
    database?.close();
    lock.close();
    throw isStoreError(error) ? error : failure(`${path} cannot be used: ${describeThrown(error)}`, error);
  }
  const opened = database;
  return {
    path,
    database: opened,
    ...numbers,
    close() {
      try {
        opened.exec(PATIENT);
        // Not every driver does this by itself; without it, a copy of the one file would lack the latest writes.
        opened.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      } catch (error) {
        throw failure(`${path} could not be closed as it should: ${describeThrown(error)}`, error);
      } finally {
        closeBoth(opened, lock);
      }
    },
  };
}

/**
 * The second is always released too, even if closing the first fails: otherwise the next start would find it locked.
 */
function closeBoth(database: SqlDatabase, lock: SqlDatabase): void {
  try {
    database.close();
  } finally {
    lock.close();
  }
}

function readNumber(database: SqlDatabase, sql: string): number {
  return Number((database.prepare(sql).get() as SqlRow)["number"]);
}

/**
 * Holds a transaction open in a separate file for as long as the store is open: a second server on the same folder
 * would consider the first one's runs dead. The system releases it however the program ends, and the database itself
 * stays readable for backups.
 */
function lockFolder(folder: string, path: string, open: OpenDatabase): SqlDatabase {
  let lock: SqlDatabase;
  try {
    lock = open(path);
  } catch (error) {
    throw failure(`${path} cannot be used: ${describeThrown(error)}`, error);
  }
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    throw failure(
      `The data folder ${folder} is in use by another program (${describeThrown(error)}). Stop that one, or give another folder.`,
      error,
    );
  }
}

function failure(message: string, cause: unknown): StoreError {
  return new StoreError("store-failed", message, { cause });
}
