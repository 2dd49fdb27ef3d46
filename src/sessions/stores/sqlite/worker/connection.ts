import type { SqlDatabase, SqlStatement } from "../sql-driver.ts";
import { STATEMENTS, type StatementName } from "../statements.ts";
import type { Failure } from "./requests.ts";

/** A connection that prepares each statement once. */
export class Connection {
  readonly database: SqlDatabase;
  private readonly _prepared = new Map<StatementName, SqlStatement>();

  constructor(database: SqlDatabase) {
    this.database = database;
  }

  statement(name: StatementName): SqlStatement {
    let found = this._prepared.get(name);
    if (found === undefined) {
      found = this.database.prepare(STATEMENTS[name]);
      this._prepared.set(name, found);
    }
    return found;
  }
}

/**
 * A row that was read refers to a part that has been removed since: the caller reads again and no longer gets that row.
 */
export class MissingPart extends Error {
  override readonly message = "A part of what is read is gone.";
}

export function failed(error: unknown): Failure {
  return { failure: error instanceof Error ? error.message : String(error), isBusy: isBusy(error) };
}

/** For both drivers: libsql has a `code`, Node's SQLite an `errcode`. */
function isBusy(error: unknown): boolean {
  if (error instanceof MissingPart) return true;
  const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message?: unknown };
  return (
    (typeof code === "string" && code.startsWith("SQLITE_BUSY")) ||
    errcode === 5 ||
    (typeof message === "string" && message.includes("database is locked"))
  );
}
