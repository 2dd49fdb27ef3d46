import { describeThrown, type FileSystem } from "#domain";
import { isStoreError, StoreError } from "../store-error.ts";
import { placeFresh } from "./staged-rows.ts";
import { migrate } from "./migrations.ts";
import type { OpenDatabase, SqlDatabase, SqlRow } from "./sql-driver.ts";

const DATABASE_FILE = "millrace.sqlite";
const LOCK_FILE = "millrace.lock";
const EMPTY = new Uint8Array();

/**
 * The write-ahead log may grow to 8 MB before it goes into the database. Many runs at once write the same pages over
 * and over; each then goes there once instead of twice.
 */
const CHECKPOINT_PAGES = 2048;

/** At the start and the end a connection waits for locks of others. */
const PATIENT = "PRAGMA busy_timeout = 2000;";

/** Otherwise it does not: whoever is refused asks again later, and others are served meanwhile. */
const IMPATIENT = "PRAGMA busy_timeout = 0;";

const SETTINGS = `
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
`;

/**
 * What a worker's connection is told first. The one that writes has room for the pages that a few thousand runs write at
 * the same time, so that none has to be read again before it is changed.
 */
export const WRITER_SETTINGS = `${IMPATIENT}${SETTINGS}PRAGMA cache_size = -16384;`;
export const READER_SETTINGS = `${IMPATIENT}${SETTINGS}PRAGMA query_only = ON;`;

/** A database that is ready for use, and the lock that goes with it. */
export interface OpenedDatabase {
  readonly path: string;
  readonly database: SqlDatabase;
  /** The greatest key of a run. */
  readonly lastKey: number;
  /** The number of the last transaction. */
  readonly lastGroup: number;
  /** The number of the last part of a large body. */
  readonly lastPart: number;
  /** Gives back both. */
  close(): void;
}

/**
 * Opens the database of a data folder: made when it is missing (files 0600), for its owner alone (0700), locked against a second
 * program, brought to the newest version.
 *
 * Written ahead and synced at every commit: what was committed survives a crash of the program and of the machine.
 */
export async function openDatabase(folder: string, open: OpenDatabase, files: FileSystem): Promise<OpenedDatabase> {
  // The files are made here and not by SQLite, which would give them the mode of the process.
  const path = `${folder}/${DATABASE_FILE}`;
  const lockPath = `${folder}/${LOCK_FILE}`;
  try {
    await files.makePrivate(folder);
    await files.append(path, EMPTY);
    await files.append(lockPath, EMPTY);
  } catch (error) {
    throw failure(`The data folder ${folder} cannot be used: ${describeThrown(error)}`, error);
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
    placeFresh(database);
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
        // Not every driver does it by itself; without it a copy of the one file would lack what was written last.
        opened.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      } catch (error) {
        throw failure(`${path} could not be closed as it should: ${describeThrown(error)}`, error);
      } finally {
        closeBoth(opened, lock);
      }
    },
  };
}

/** Whatever becomes of the first, the second is given back, too: another start would find it held. */
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
 * Holds a transaction open in a file of its own for as long as the store is: a second server over the same folder
 * would take the first one's runs for dead. The system frees it however the program ends, and the database itself
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
