import type { SqlDatabase } from "./sql-driver.ts";

/**
 * Everything that is ever asked of the database. Values are parameters, without exception.
 *
 * A value that is needed twice is given twice: the SQLite of Node 22.13 cannot bind `?1`.
 */
export type Statements = ReturnType<typeof prepareStatements>;

const THREAD = "id, tenant, title, target, created_at, updated_at";
/** `last_seq` is written when a run ends; until then its last event says it. */
const LAST_SEQ = `CASE WHEN status IS NULL
  THEN coalesce((SELECT max(seq) FROM events WHERE events.run_key = runs.run_key), -1)
  ELSE last_seq END AS last_seq`;
const RUN = `run_key, id, thread_id, tenant, created_at, ${LAST_SEQ}, status`;

export const ADD_EVENT = "INSERT INTO events (run_key, seq, body) VALUES (?, ?, ?)";
export const ADD_FRESH = "INSERT INTO fresh (entry, rows) VALUES (?, ?)";
export const DROP_FRESH = "DELETE FROM fresh WHERE entry <= ?";

export function prepareStatements(database: SqlDatabase) {
  const sql = (text: string) => database.prepare(text);
  return {
    addThread: sql(`INSERT INTO threads (${THREAD}, search) VALUES (?, ?, ?, ?, ?, ?, ?)`),
    anyThread: sql("SELECT 1 AS found FROM threads WHERE id = ?"),
    thread: sql(`SELECT ${THREAD} FROM threads WHERE id = ? AND tenant = ?`),
    threads: sql(
      `SELECT ${THREAD} FROM threads
       WHERE tenant = ?
         AND (updated_at < ? OR (updated_at = ? AND id > ?))
         AND (? = '' OR instr(search, ?) > 0
              OR EXISTS (SELECT 1 FROM messages WHERE thread_id = threads.id AND instr(messages.search, ?) > 0))
       ORDER BY updated_at DESC, id LIMIT ?`,
    ),
    threadCount: sql("SELECT count(*) AS threads FROM threads WHERE tenant = ?"),
    renameThread: sql("UPDATE threads SET title = ?, search = ?, updated_at = max(updated_at, ?) WHERE id = ?"),
    touchThread: sql("UPDATE threads SET updated_at = max(updated_at, ?) WHERE id = ?"),
    removeThread: sql("DELETE FROM threads WHERE id = ?"),

    addMessage: sql(
      `INSERT INTO messages (thread_id, position, body, search)
       VALUES (?, (SELECT coalesce(max(position), -1) + 1 FROM messages WHERE thread_id = ?), ?, ?)`,
    ),
    messages: sql("SELECT body FROM messages WHERE thread_id = ? ORDER BY position"),

    addRun: sql("INSERT INTO runs (id, thread_id, tenant, created_at, last_seq, status) VALUES (?, ?, ?, ?, -1, NULL)"),
    run: sql(`SELECT ${RUN} FROM runs WHERE id = ?`),
    activeRun: sql("SELECT id FROM runs WHERE thread_id = ? AND status IS NULL"),
    runs: sql(
      `SELECT ${RUN} FROM runs
       WHERE (? IS NULL OR thread_id = ?) AND (? IS NULL OR (status IS NOT NULL) = ?)
       ORDER BY created_at DESC, id`,
    ),
    goingOn: sql(`SELECT ${RUN} FROM runs WHERE status IS NULL ORDER BY created_at DESC, id`),
    endRun: sql("UPDATE runs SET last_seq = ?, status = ? WHERE run_key = ?"),

    addEvent: sql(ADD_EVENT),
    event: sql("SELECT 1 AS found FROM events WHERE run_key = ? AND seq = ?"),
    events: sql("SELECT seq, body FROM events WHERE run_key = ? AND seq > ? ORDER BY seq LIMIT ?"),

    addQuestion: sql(
      "INSERT OR REPLACE INTO questions (run_key, call_id, tenant, asked_at, body) VALUES (?, ?, ?, ?, ?)",
    ),
    answerQuestion: sql("DELETE FROM questions WHERE run_key = ? AND call_id = ?"),
    dropQuestions: sql("DELETE FROM questions WHERE run_key = ?"),
    questions: sql("SELECT body FROM questions WHERE tenant = ? ORDER BY asked_at, run_key, call_id"),

    addAudit: sql("INSERT INTO audit (tenant, body) VALUES (?, ?)"),
    audit: sql("SELECT body FROM audit WHERE tenant = ? ORDER BY entry_key"),

    usage: sql("SELECT body FROM usage WHERE thread_id = ? ORDER BY model"),
    usageOf: sql("SELECT body FROM usage WHERE thread_id = ? AND model = ?"),
    setUsage: sql("INSERT OR REPLACE INTO usage (thread_id, model, body) VALUES (?, ?, ?)"),
  };
}
