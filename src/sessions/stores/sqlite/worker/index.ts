import { createRequire } from "node:module";
import type { WorkerProgram } from "#domain";
import type { SqlDatabase } from "../sql-driver.ts";
import { createEngine } from "./engine.ts";
import type { EngineQuestion } from "./requests.ts";

// The program of a worker of the store. In the built package it is a separate file with its imports, so that a worker
// loads nothing else: no value may be imported here from outside this folder, except `statements.ts`.

export interface WorkerData {
  readonly path: string;
  /** The path of `libsql`; `undefined` for Node's own SQLite. */
  readonly module: string | undefined;
  /** SQL to run first on the connection. */
  readonly settings: string;
}

type DatabaseClass = new (path: string) => SqlDatabase;

export function start({ path, module, settings }: WorkerData): WorkerProgram {
  // Node 22 warns about its own SQLite on stderr, which is the server's log (sql-driver.ts).
  process.emitWarning = () => undefined;
  const Database = module === undefined ? findBuiltIn() : (createRequire(import.meta.url)(module) as DatabaseClass);
  const database = new Database(path);
  database.exec(settings);
  const engine = createEngine(database);
  return {
    answer: (question) => engine(question as EngineQuestion),
    close: () => void database.close(),
  };
}

function findBuiltIn(): DatabaseClass {
  return (process.getBuiltinModule("node:sqlite") as unknown as { DatabaseSync: DatabaseClass }).DatabaseSync;
}
