import { describeThrown } from "#domain";
import { StoreError } from "../store-error.ts";

/** What a column may hold. */
export type SqlValue = string | number | null;

export type SqlRow = Readonly<Record<string, unknown>>;

/** A prepared statement. Values are bound, never written into the text. */
export interface SqlStatement {
  run(...values: SqlValue[]): unknown;
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

/** What both SQLite drivers have in common. Every call blocks until it is done. */
export interface SqlDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqlStatement;
  close(): unknown;
}

/** Opens a database file. */
export type OpenDatabase = (path: string) => SqlDatabase;

/**
 * Finds a SQLite driver: Node's own where there is one (Node 22.13 and later), otherwise the optional package `libsql`.
 *
 * @throws StoreError `store-failed` saying what to install.
 */
export async function loadSqlDriver(load: DriverSources = SYSTEM_SOURCES): Promise<OpenDatabase> {
  const builtIn = load.builtIn();
  if (builtIn !== undefined) return (path) => new builtIn.DatabaseSync(path);
  try {
    const Libsql = await load.libsql();
    return (path) => new Libsql(path);
  } catch (error) {
    throw new StoreError(
      "store-failed",
      `The SQLite store needs Node 22.13 or later, or the package libsql on this one: npm install libsql (${describeThrown(error)}).`,
      { cause: error },
    );
  }
}

/** Where drivers come from. */
export interface DriverSources {
  builtIn(): { readonly DatabaseSync: new (path: string) => SqlDatabase } | undefined;
  libsql(): Promise<new (path: string) => SqlDatabase>;
}

interface NodeWithBuiltIns {
  getBuiltinModule?(name: string): { readonly DatabaseSync: new (path: string) => SqlDatabase } | undefined;
}

const SYSTEM_SOURCES: DriverSources = {
  // Not an import: on a Node without it, merely naming the module would fail when this file is loaded.
  builtIn: () => (process as NodeWithBuiltIns).getBuiltinModule?.("node:sqlite"),
  libsql: async () => (await import("libsql")).default as unknown as new (path: string) => SqlDatabase,
};
