import { type Connection, failed } from "./connection.ts";
import type { CommitAnswer, CommitQuestion, RowsToWrite, WorkReply, WorkStep } from "./requests.ts";

/**
 * How a row reaches the disk: `appender.ts` checks and encodes events, `commit-queue.ts` collects what arrives within a
 * few milliseconds, `staged-rows.ts` plans which rows go to `events` now and which wait in `fresh`, and this function
 * executes the plan: one transaction, synced when COMMIT returns. Never throws.
 */
export function writeToDisk(connection: Connection, { group, isRepeated, rows, work }: CommitQuestion): CommitAnswer {
  const { database } = connection;
  try {
    const done = isRepeated === true ? findReplies(connection, group) : undefined;
    if (done !== undefined) return { replies: done };
    database.exec("BEGIN IMMEDIATE");
    if (rows !== undefined) writeRows(connection, rows);
    const replies = work.map((steps) => carryOut(connection, steps));
    connection.statement("setProgress").run(group, JSON.stringify(replies));
    database.exec("COMMIT");
    return { replies };
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {
      // There was no transaction: it could not be begun, or the failure has already rolled it back.
    }
    return failed(error);
  }
}

/** The result of the transaction if it was committed by a worker that died before it could answer. */
function findReplies(connection: Connection, group: number): readonly WorkReply[] | undefined {
  const done = connection.statement("progress").get() as { readonly number: unknown; readonly replies: unknown };
  return Number(done.number) === group ? (JSON.parse(String(done.replies)) as readonly WorkReply[]) : undefined;
}

function writeRows(connection: Connection, { keys, seqs, bodies, entry, dropTo }: RowsToWrite): void {
  if (keys.length > 0) {
    const add = connection.statement("addEvent");
    const texts = bodies.split("\n");
    for (let at = 0; at < keys.length; at += 1) add.run(keys[at] as number, seqs[at] as number, texts[at] as string);
  }
  if (entry !== undefined) connection.statement("addFresh").run(entry.number, entry.text);
  if (dropTo !== undefined) connection.statement("dropFresh").run(dropTo);
}

/** Checks come before everything that writes, so work that is refused has changed nothing. */
function carryOut(connection: Connection, steps: readonly WorkStep[]): WorkReply {
  const rows: unknown[] = [];
  for (const [at, [mode, name, ...args]] of steps.entries()) {
    if (mode === "run") {
      connection.statement(name).run(...args);
      continue;
    }
    const row = connection.statement(name).get(...args);
    const found = row === undefined ? undefined : { ...row };
    if ((mode === "some" && row === undefined) || (mode === "none" && row !== undefined)) {
      return { refusedAt: at, rows: [found] };
    }
    if (mode === "get") rows.push(found);
  }
  return { rows };
}
