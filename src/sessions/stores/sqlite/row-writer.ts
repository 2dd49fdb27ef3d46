import { describeThrown, type StartThread, type Thread } from "#domain";
import type { SqlDriver } from "./sql-driver.ts";

/** Events of one run, as they stand in their table. */
export interface EventRows {
  readonly key: number;
  readonly seqs: readonly number[];
  readonly bodies: readonly string[];
}

/** What is asked of the thread. One text, because a thousand would be copied one by one; JSON has no line breaks. */
interface Question {
  readonly keys: readonly number[];
  readonly seqs: readonly number[];
  readonly bodies: string;
}

/**
 * Writes rows of events in a thread of its own: nobody who is served waits for the disk. It has a connection of its
 * own, so whoever uses another one takes turns with it.
 */
export interface RowWriter {
  /** `false`: whoever has rows writes them himself. */
  readonly isAlive: boolean;
  /** All rows in one transaction, synced: `undefined`, or why none was written. Rejects when the thread has died. */
  write(rows: readonly EventRows[]): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Says what it was told, or why not. Plain JavaScript: it is a program by itself. */
const PROGRAM = `
// Node 22 warns of its own SQLite, on a stderr that is the server's log (sql-driver.ts).
process.emitWarning = () => undefined;
const Database = data.module === undefined ? process.getBuiltinModule("node:sqlite").DatabaseSync : require(data.module);
const database = new Database(data.path);
database.exec(data.settings);
const insert = database.prepare(data.insert);
function answer(question) {
  if (question === undefined) return database.close();
  const { keys, seqs, bodies } = question;
  try {
    database.exec("BEGIN IMMEDIATE");
    const texts = bodies.split("\\n");
    for (let at = 0; at < keys.length; at += 1) insert.run(keys[at], seqs[at], texts[at]);
    database.exec("COMMIT");
    return undefined;
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {}
    return String(error && error.message || error);
  }
}
`;

/** The pages that a few thousand runs write at the same time, so that none has to be read again before it is changed. */
const CACHE = "PRAGMA cache_size = -16384;";

export interface RowWriterOptions {
  readonly path: string;
  readonly driver: SqlDriver;
  /** What every connection is told first. */
  readonly settings: string;
  readonly insert: string;
  readonly startThread: StartThread;
}

export function startRowWriter({ path, driver, settings, insert, startThread }: RowWriterOptions): RowWriter {
  const thread: Thread = startThread(PROGRAM, { path, module: driver.module, settings: settings + CACHE, insert });
  return {
    get isAlive() {
      return thread.isAlive;
    },
    async write(rows) {
      const answer = await thread.ask(questionOf(rows));
      return answer === undefined ? undefined : describeThrown(answer);
    },
    close: () => thread.close(),
  };
}

function questionOf(rows: readonly EventRows[]): Question {
  const keys: number[] = [];
  const seqs: number[] = [];
  const bodies: string[] = [];
  for (const row of rows) {
    for (let at = 0; at < row.seqs.length; at += 1) {
      keys.push(row.key);
      seqs.push(row.seqs[at] as number);
      bodies.push(row.bodies[at] as string);
    }
  }
  return { keys, seqs, bodies: bodies.join("\n") };
}
