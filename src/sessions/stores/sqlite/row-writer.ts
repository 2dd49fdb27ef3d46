import type { StartThread, Thread } from "#domain";
import type { FreshPlan } from "./fresh-rows.ts";
import type { SqlDriver } from "./sql-driver.ts";
import { ADD_EVENT, ADD_FRESH, DROP_FRESH } from "./statements.ts";

/** What is asked of the thread. One text, because a thousand would be copied one by one; JSON has no line breaks. */
interface Question extends Omit<FreshPlan, "placed"> {
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
  /** All of it in one transaction, synced: `undefined`, or why nothing was written. Rejects when the thread has died. */
  write(plan: FreshPlan): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Says what it was told, or why not. Plain JavaScript: it is a program by itself. */
const PROGRAM = `
// Node 22 warns of its own SQLite, on a stderr that is the server's log (sql-driver.ts).
process.emitWarning = () => undefined;
const Database = data.module === undefined ? process.getBuiltinModule("node:sqlite").DatabaseSync : require(data.module);
const database = new Database(data.path);
database.exec(data.settings);
const addEvent = database.prepare(data.addEvent);
const addFresh = database.prepare(data.addFresh);
const dropFresh = database.prepare(data.dropFresh);
function answer(question) {
  if (question === undefined) return database.close();
  const { keys, seqs, bodies, entry, dropTo } = question;
  try {
    database.exec("BEGIN IMMEDIATE");
    const texts = bodies.split("\\n");
    for (let at = 0; at < keys.length; at += 1) addEvent.run(keys[at], seqs[at], texts[at]);
    if (entry !== undefined) addFresh.run(entry.number, entry.text);
    if (dropTo !== undefined) dropFresh.run(dropTo);
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
  readonly startThread: StartThread;
}

export function startRowWriter({ path, driver, settings, startThread }: RowWriterOptions): RowWriter {
  const thread: Thread = startThread(PROGRAM, {
    path,
    module: driver.module,
    settings: settings + CACHE,
    addEvent: ADD_EVENT,
    addFresh: ADD_FRESH,
    dropFresh: DROP_FRESH,
  });
  return {
    get isAlive() {
      return thread.isAlive;
    },
    write: async (plan) => (await thread.ask(questionOf(plan))) as string | undefined,
    close: () => thread.close(),
  };
}

function questionOf({ entry, placed, dropTo }: FreshPlan): Question {
  const keys: number[] = [];
  const seqs: number[] = [];
  const bodies: string[] = [];
  for (const rows of placed) {
    for (let at = 0; at < rows.seqs.length; at += 1) {
      keys.push(rows.key);
      seqs.push(rows.seqs[at] as number);
      bodies.push(rows.bodies[at] as string);
    }
  }
  return { keys, seqs, bodies: bodies.join("\n"), entry, dropTo };
}
