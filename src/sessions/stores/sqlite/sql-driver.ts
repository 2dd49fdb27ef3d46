import { createRequire } from "node:module";
import { describeThrown } from "#domain";
import { StoreError } from "../store-error.ts";

/** The possible values of a column. */
export type SqlValue = string | number | null;

export type SqlRow = Readonly<Record<string, unknown>>;

/** A prepared statement. Values are bound, never written into the SQL. */
export interface SqlStatement {
  run(...values: SqlValue[]): unknown;
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

/** The common interface of both SQLite drivers. Every call is synchronous. */
export interface SqlDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqlStatement;
  close(): unknown;
}

/** Opens a database file. */
export type OpenDatabase = (path: string) => SqlDatabase;

/** A SQLite driver and its name. */
export interface SqlDriver {
  readonly name: "node:sqlite" | "libsql";
  readonly open: OpenDatabase;
  /** The path from which another thread can load it; `undefined` for Node's own. */
  readonly module: string | undefined;
}

/**
 * Finds a SQLite driver: Node's own if there is one (Node 22.13 and later), otherwise the optional package `libsql`.
 *
 * @throws StoreError `store-failed` saying what to install.
 */
export async function loadSqlDriver(sources: Partial<DriverSources> = {}): Promise<SqlDriver> {
  const { builtIn: loadBuiltIn, libsql: loadLibsql } = { ...SYSTEM_SOURCES, ...sources };
  const builtIn = loadBuiltIn();
  if (builtIn !== undefined) {
    return { name: "node:sqlite", open: (path) => new builtIn.DatabaseSync(path), module: undefined };
  }
  try {
    const Libsql = await loadLibsql();
    const module = createRequire(import.meta.url).resolve("libsql");
    return { name: "libsql", open: (path) => new Libsql(path), module };
  } catch (error) {
    throw new StoreError(
      "store-failed",
      `The SQLite store needs Node 22.13 or later, or the package libsql on this one: npm install libsql (${firstLine(describeThrown(error))}).`,
      { cause: error },
    );
  }
}

/** Below the message, Node lists the files that required the module; they are in the cause. */
function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

type DatabaseClass = new (path: string) => SqlDatabase;

/** The sources of drivers. */
export interface DriverSources {
  builtIn(): { readonly DatabaseSync: DatabaseClass } | undefined;
  libsql(): Promise<DatabaseClass>;
}

interface NodeWithBuiltIns {
  getBuiltinModule?(name: string): { readonly DatabaseSync: DatabaseClass } | undefined;
}

const SYSTEM_SOURCES: DriverSources = {
  // Not an import: on a Node without it, the import would fail when this file is loaded.
  builtIn: () => withoutWarning(() => (process as NodeWithBuiltIns).getBuiltinModule?.("node:sqlite")),
  libsql: async () => (await import("libsql")).default as unknown as DatabaseClass,
};

/**
 * Node 22 prints on stderr that its SQLite is experimental. Using it is our decision and no concern of a reader of the
 * log, which has one JSON object per line. Loading is a single synchronous call, so no other warning is lost.
 */
function withoutWarning<Value>(load: () => Value): Value {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
