import { StoreError } from "../store-error.ts";
import type { SqlDatabase, SqlRow } from "./sql-driver.ts";

/**
 * The history of the tables, one step per version. A released step is never changed: add another one.
 *
 * Text written by people is stored as JSON, because SQLite drivers cut a bare text at its first NUL.
 */
export const STEPS: readonly string[] = [
  `
  CREATE TABLE threads (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    title TEXT NOT NULL,
    target TEXT NOT NULL,
    search TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
  );
  CREATE INDEX threads_by_change ON threads (tenant, updated_at DESC, id);

  CREATE TABLE messages (
    thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    body TEXT NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (thread_id, position)
  ) WITHOUT ROWID;

  CREATE TABLE runs (
    run_key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    thread_id TEXT REFERENCES threads (id) ON DELETE CASCADE,
    tenant TEXT,
    created_at REAL NOT NULL,
    last_seq INTEGER NOT NULL,
    status TEXT
  );
  CREATE INDEX runs_of_thread ON runs (thread_id);
  CREATE INDEX runs_going_on ON runs (run_key) WHERE status IS NULL;

  CREATE TABLE events (
    run_key INTEGER NOT NULL REFERENCES runs (run_key) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_key, seq)
  ) WITHOUT ROWID;

  CREATE TABLE questions (
    run_key INTEGER NOT NULL REFERENCES runs (run_key) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    asked_at REAL NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_key, call_id)
  ) WITHOUT ROWID;

  CREATE TABLE audit (
    entry_key INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX audit_of_tenant ON audit (tenant);

  CREATE TABLE usage (
    thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (thread_id, model)
  ) WITHOUT ROWID;
  `,
  // Staged events (staged-rows.ts).
  `
  CREATE TABLE fresh (
    entry INTEGER PRIMARY KEY,
    rows TEXT NOT NULL
  );
  `,
  // What a tenant stores: bytes of messages by thread, of events by run. And the last transaction with its result, so
  // that it is not executed twice when its acknowledgement was lost (worker/write-to-disk.ts).
  `
  ALTER TABLE threads ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE threads SET bytes =
    coalesce((SELECT sum(length(CAST(body AS BLOB))) FROM messages WHERE thread_id = threads.id), 0);
  UPDATE runs SET bytes =
    coalesce((SELECT sum(length(CAST(body AS BLOB))) FROM events WHERE events.run_key = runs.run_key), 0);
  CREATE TABLE progress (number INTEGER NOT NULL, replies TEXT NOT NULL);
  INSERT INTO progress (number, replies) VALUES (0, '[]');
  `,
  // Large bodies in pieces (large-bodies.ts). A part without bytes belongs to nothing yet. It has no foreign key to its
  // run, which may be created after it.
  `
  CREATE TABLE parts (
    part INTEGER PRIMARY KEY,
    run_key INTEGER NOT NULL,
    bytes INTEGER
  );
  CREATE INDEX parts_of_run ON parts (run_key);
  CREATE INDEX parts_of_nothing ON parts (part) WHERE bytes IS NULL;
  CREATE TRIGGER parts_go_with_run AFTER DELETE ON runs BEGIN
    DELETE FROM parts WHERE run_key = OLD.run_key;
  END;
  CREATE TABLE pieces (
    part INTEGER NOT NULL REFERENCES parts (part) ON DELETE CASCADE,
    piece INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (part, piece)
  ) WITHOUT ROWID;
  `,
  // Runs that outlive their process. A run is waiting while `parked_seq` is the seq of its last event, so that later
  // events need not change its row. Answers and files are described in answers.ts and files.ts.
  `
  ALTER TABLE runs ADD COLUMN settings TEXT;
  ALTER TABLE runs ADD COLUMN parked_seq INTEGER;
  ALTER TABLE runs ADD COLUMN wake_at REAL;
  CREATE TABLE answers (
    answer_key INTEGER PRIMARY KEY,
    run_key INTEGER NOT NULL REFERENCES runs (run_key) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    at REAL NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (run_key, call_id)
  );
  CREATE TABLE files (
    name TEXT PRIMARY KEY,
    part INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  );
  CREATE TRIGGER part_goes_with_file AFTER DELETE ON files BEGIN
    DELETE FROM parts WHERE part = OLD.part;
  END;
  CREATE TRIGGER part_goes_when_replaced AFTER UPDATE OF part ON files BEGIN
    DELETE FROM parts WHERE part = OLD.part;
  END;
  `,
  // Claims (claims.ts). `epoch` is that of the latest claim; there is a worker while it is held.
  `
  ALTER TABLE runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN worker TEXT;
  ALTER TABLE runs ADD COLUMN claimed_at REAL;
  `,
];

/**
 * Migrates a database to the newest version; each step is atomic. Rejects a database that is newer than this program,
 * and leaves it unchanged.
 */
export function migrate(database: SqlDatabase, steps: readonly string[] = STEPS): void {
  const version = readVersion(database);
  if (version > steps.length) {
    throw new StoreError(
      "store-failed",
      `The database has version ${version}; this program knows versions up to ${steps.length}. Use the program that wrote it, or a newer one.`,
    );
  }
  for (let next = version; next < steps.length; next += 1) {
    database.exec("BEGIN IMMEDIATE");
    try {
      database.exec(steps[next] as string);
      // A pragma takes no parameters; this value is a number of ours.
      database.exec(`PRAGMA user_version = ${next + 1}`);
      database.exec("COMMIT");
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  }
}

function readVersion(database: SqlDatabase): number {
  return Number((database.prepare("PRAGMA user_version").get() as SqlRow)["user_version"]);
}
