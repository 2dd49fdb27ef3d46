import { describeThrown, type FileSystem } from "#domain";
import { isStoreError, StoreError } from "../store-error.ts";
import { placeFresh } from "./fresh-rows.ts";
import { migrate } from "./migrations.ts";
import type { OpenDatabase, SqlDatabase } from "./sql-driver.ts";

const DATABASE_FILE = "millrace.sqlite";
const LOCK_FILE = "millrace.lock";
const EMPTY = new Uint8Array();

/**
 * The write-ahead log may grow to 8 MB before it goes into the database. Many runs at once write the same pages over
 * and over; each then goes there once instead of twice.
 */
const CHECKPOINT_PAGES = 2048;

/** A connection that waits for locks of others: at the start and the end, and in a thread of its own. */
const PATIENT = "PRAGMA busy_timeout = 2000;";

/** The one whose thread serves others does not wait: whoever is refused is asked again later. */
const IMPATIENT = "PRAGMA busy_timeout = 0;";

/** What every connection to the database is told first. */
export const CONNECTION_SETTINGS = `
  ${PATIENT}
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
`;

/** A database that is ready for use, and the lock that goes with it. */
export interface OpenedDatabase {
  readonly path: string;
  readonly database: SqlDatabase;
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
  try {
    database = open(path);
    database.prepare("PRAGMA journal_mode = WAL").get();
    database.exec(CONNECTION_SETTINGS);
    migrate(database);
    placeFresh(database);
    database.exec(IMPATIENT);
  } catch (error) {
    database?.close();
    lock.close();
    throw isStoreError(error) ? error : failure(`${path} cannot be used: ${describeThrown(error)}`, error);
  }
  const opened = database;
  return {
    path,
    database: opened,
    close() {
      try {
        opened.exec(PATIENT);
        // Not every driver does it by itself; without it a copy of the one file would lack what was written last.
        opened.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
        opened.close();
      } finally {
        lock.close();
      }
    },
  };
}

/**
 * Holds a transaction open in a file of its own for as long as the store is: a second server over the same folder
 * would take the first one's runs for dead. The system frees it however the program ends, and the database itself
 * stays readable for backups.
 */
function lockFolder(folder: string, path: string, open: OpenDatabase): SqlDatabase {
  const lock = open(path);
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
