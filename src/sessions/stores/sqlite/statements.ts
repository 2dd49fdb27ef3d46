/**
 * All SQL statements of the store. Values are always parameters.
 *
 * A value that is needed twice is passed twice: the SQLite of Node 22.13 cannot bind `?1`.
 */
const THREAD = "id, tenant, title, target, created_at, updated_at";

/**
 * With the active run, and the usage of each model as lines of JSON, so that one statement reads everything
 * consistently.
 */
const WHOLE_THREAD = `${THREAD},
  (SELECT runs.id FROM runs WHERE runs.thread_id = threads.id AND runs.status IS NULL) AS run_id,
  (SELECT group_concat(usage.body, char(10)) FROM usage WHERE usage.thread_id = threads.id) AS usage_lines`;

/** `last_seq` is written when a run ends; until then it is that of the last event. */
const LAST_SEQ = `CASE WHEN status IS NULL
  THEN coalesce((SELECT max(seq) FROM events WHERE events.run_key = runs.run_key), -1)
  ELSE last_seq END AS last_seq`;
const RUN = `run_key, id, thread_id, tenant, created_at, ${LAST_SEQ}, status, parked_seq, wake_at,
  epoch, worker, claimed_at`;

/** With its settings, which may be large. */
const WHOLE_RUN = `${RUN}, settings AS body`;

const NEXT_POSITION = "(SELECT coalesce(max(position), -1) + 1 FROM messages WHERE thread_id = ?)";

/** The bytes of a run, counted anew. */
export const LOG_BYTES = `
  coalesce(length(CAST(runs.settings AS BLOB)), 0) +
  coalesce((SELECT sum(length(CAST(body AS BLOB))) FROM events WHERE events.run_key = runs.run_key), 0)
  + coalesce((SELECT sum(parts.bytes) FROM parts WHERE parts.run_key = runs.run_key), 0)`;

export const STATEMENTS = {
  addThread: `INSERT INTO threads (${THREAD}, search) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  anyThread: "SELECT 1 AS found FROM threads WHERE id = ?",
  ownThread: "SELECT 1 AS found FROM threads WHERE id = ? AND tenant = ?",
  thread: `SELECT ${WHOLE_THREAD} FROM threads WHERE id = ? AND tenant = ?`,
  threads: `SELECT ${WHOLE_THREAD} FROM threads
    WHERE tenant = ?
      AND (updated_at < ? OR (updated_at = ? AND id > ?))
      AND (? = '' OR instr(search, ?) > 0
           OR EXISTS (SELECT 1 FROM messages WHERE thread_id = threads.id AND instr(messages.search, ?) > 0))
    ORDER BY updated_at DESC, id LIMIT ?`,
  threadCount: "SELECT count(*) AS threads FROM threads WHERE tenant = ?",
  renameThread: "UPDATE threads SET title = ?, search = ?, updated_at = max(updated_at, ?) WHERE id = ?",
  growThread: "UPDATE threads SET updated_at = max(updated_at, ?), bytes = bytes + ? WHERE id = ?",
  threadBytes: `SELECT bytes + (SELECT coalesce(sum(runs.bytes), 0) FROM runs WHERE runs.thread_id = threads.id) AS bytes
    FROM threads WHERE id = ?`,
  // Not REPLACE, which would remove its runs.
  restoreThread: `INSERT INTO threads (${THREAD}, search, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, 0)
    ON CONFLICT (id) DO UPDATE SET title = excluded.title, target = excluded.target, search = excluded.search,
      created_at = excluded.created_at, updated_at = excluded.updated_at, bytes = 0`,
  othersThread: "SELECT 1 AS found FROM threads WHERE id = ? AND tenant <> ?",
  ownBytes: "SELECT coalesce(sum(bytes), 0) AS bytes FROM threads WHERE id = ?",
  tenants: `SELECT tenant FROM threads UNION SELECT coalesce(tenant, ?) FROM runs UNION SELECT tenant FROM audit
    ORDER BY 1`,
  removeThread: "DELETE FROM threads WHERE id = ?",

  addMessage: `INSERT INTO messages (thread_id, position, body, search) VALUES (?, ${NEXT_POSITION}, ?, ?)`,
  addLargeMessage: `INSERT INTO messages (thread_id, position, body, search) VALUES (?, ${NEXT_POSITION}, ?,
    (SELECT group_concat(body, '') FROM (SELECT body FROM pieces WHERE part = ? ORDER BY piece)))`,
  dropMessages: "DELETE FROM messages WHERE thread_id = ?",
  // Large messages of a restored thread: their parts belong to no run that would remove them.
  dropMessageParts: `DELETE FROM parts WHERE run_key = 0 AND part IN (
    SELECT coalesce(json_extract(piece.value, '$.text'), json_extract(piece.value, '$.json'))
    FROM messages, json_each(CASE WHEN substr(messages.body, 1, 1) = '[' THEN messages.body ELSE '[]' END) AS piece
    WHERE messages.thread_id = ? AND piece.type = 'object')`,
  messages: `SELECT body FROM messages
    WHERE thread_id = (SELECT id FROM threads WHERE id = ? AND tenant = ?) ORDER BY position`,

  addRun: `INSERT INTO runs (run_key, id, thread_id, tenant, created_at, settings, last_seq, status)
    VALUES (?, ?, ?, ?, ?, ?, -1, NULL)`,
  anyRun: "SELECT 1 AS found FROM runs WHERE id = ?",
  unfinishedRun: "SELECT 1 AS found FROM runs WHERE id = ? AND status IS NULL",
  run: `SELECT ${RUN} FROM runs WHERE id = ?`,
  wholeRun: `SELECT ${WHOLE_RUN} FROM runs WHERE id = ?`,
  activeRun: "SELECT id FROM runs WHERE thread_id = ? AND status IS NULL",
  runs: `SELECT ${WHOLE_RUN} FROM runs
    WHERE (? IS NULL OR thread_id = ?) AND (? IS NULL OR (status IS NOT NULL) = ?)
    ORDER BY created_at DESC, id`,
  goingOn: `SELECT ${WHOLE_RUN} FROM runs WHERE status IS NULL ORDER BY created_at DESC, id`,
  parkRun: "UPDATE runs SET parked_seq = ?, wake_at = ? WHERE run_key = ?",
  endRun: "UPDATE runs SET last_seq = ?, status = ?, bytes = ?, worker = NULL WHERE run_key = ?",
  setClaim: "UPDATE runs SET epoch = ?, worker = ?, claimed_at = ? WHERE run_key = ?",

  addEvent: "INSERT INTO events (run_key, seq, body) VALUES (?, ?, ?)",
  events: "SELECT seq, body FROM events WHERE run_key = ? AND seq > ? ORDER BY seq LIMIT ?",
  logBytes: `SELECT ${LOG_BYTES} AS bytes FROM runs WHERE run_key = ?`,
  addFresh: "INSERT INTO fresh (entry, rows) VALUES (?, ?)",
  dropFresh: "DELETE FROM fresh WHERE entry <= ?",

  addPart: "INSERT INTO parts (part, run_key) VALUES (?, ?)",
  addPiece: "INSERT INTO pieces (part, piece, body) VALUES (?, ?, ?)",
  keepPart: "UPDATE parts SET bytes = ? WHERE part = ?",
  dropPart: "DELETE FROM parts WHERE part = ?",
  pieces: "SELECT body FROM pieces WHERE part = ? AND piece >= ? ORDER BY piece LIMIT ?",

  addQuestion: "INSERT OR REPLACE INTO questions (run_key, call_id, tenant, asked_at, body) VALUES (?, ?, ?, ?, ?)",
  answerQuestion: "DELETE FROM questions WHERE run_key = ? AND call_id = ?",
  dropQuestions: "DELETE FROM questions WHERE run_key = ?",
  questions: `SELECT body FROM questions
    WHERE tenant = ? AND NOT EXISTS (
      SELECT 1 FROM answers WHERE answers.run_key = questions.run_key AND answers.call_id = questions.call_id)
    ORDER BY asked_at, run_key, call_id`,

  addAnswer: `INSERT INTO answers (run_key, call_id, at, body)
    SELECT run_key, ?, ?, ? FROM runs WHERE id = ?`,
  answer: "SELECT 1 AS found FROM answers WHERE run_key = (SELECT run_key FROM runs WHERE id = ?) AND call_id = ?",
  answers: "SELECT body FROM answers WHERE run_key = (SELECT run_key FROM runs WHERE id = ?) ORDER BY at, answer_key",
  dropAnswers: "DELETE FROM answers WHERE run_key = ?",
  dropAnswerParts: "DELETE FROM parts WHERE run_key = ? AND bytes IS NOT NULL",

  setFile: `INSERT INTO files (name, part, bytes) VALUES (?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET part = excluded.part, bytes = excluded.bytes`,
  file: "SELECT part, bytes FROM files WHERE name = ?",
  files: "SELECT name FROM files ORDER BY name",
  removeFile: "DELETE FROM files WHERE name = ?",

  addAudit: "INSERT INTO audit (tenant, body) VALUES (?, ?)",
  dropAudit: "DELETE FROM audit WHERE tenant = ?",
  audit: "SELECT body FROM audit WHERE tenant = ? ORDER BY entry_key",

  usage: `SELECT body FROM usage
    WHERE thread_id = (SELECT id FROM threads WHERE id = ? AND tenant = ?) ORDER BY model`,
  dropUsage: "DELETE FROM usage WHERE thread_id = ?",
  setUsage: "INSERT OR REPLACE INTO usage (thread_id, model, body) VALUES (?, ?, ?)",

  progress: "SELECT number, replies FROM progress",
  setProgress: "UPDATE progress SET number = ?, replies = ?",
} as const;

export type StatementName = keyof typeof STATEMENTS;
