import type { Clock, StartWorker, Worker } from "#domain";
import { createEngine, type EngineQuestion } from "./engine.ts";
import type { SqlDatabase, SqlDriver } from "./sql-driver.ts";
import { STATEMENTS } from "./statements.ts";

/**
 * The program of a worker: an engine on a connection of its own. `__name` is what some bundlers put around functions to
 * keep their names; the text of a function brings the call along, but not what is called.
 */
const PROGRAM = `
// Node 22 warns of its own SQLite, on a stderr that is the server's log (sql-driver.ts).
process.emitWarning = () => undefined;
const __name = (value) => value;
const Database = data.module === undefined ? process.getBuiltinModule("node:sqlite").DatabaseSync : require(data.module);
const database = new Database(data.path);
database.exec(data.settings);
const engine = (${createEngine.toString()})(database, data.statements);
function answer(question) {
  return question === undefined ? void database.close() : engine(question);
}
`;

export interface EngineHostOptions {
  readonly path: string;
  readonly driver: SqlDriver;
  /** What the worker's connection is told first. */
  readonly settings: string;
  /** Without it everything is carried out here. */
  readonly startWorker: StartWorker | undefined;
  /** This thread's own connection, for when there is no worker. */
  readonly database: SqlDatabase;
  readonly clock: Clock;
  /** The worker has died. Called once. */
  readonly onLost: () => void;
}

/**
 * Has questions carried out by a worker, so that nobody who is served waits for the disk; by this thread when there is no
 * worker, or when it has died. A transaction that a dying worker may have committed is not carried out twice.
 */
export class EngineHost {
  private readonly _worker: Worker | undefined;
  private readonly _here: (question: EngineQuestion) => unknown;
  private readonly _onLost: () => void;
  private readonly _clock: Clock;
  private _isLost = false;
  private _isClosing = false;

  constructor({ path, driver, settings, startWorker, database, clock, onLost }: EngineHostOptions) {
    this._clock = clock;
    this._worker = startWorker?.(PROGRAM, { path, module: driver.module, settings, statements: STATEMENTS });
    this._here = createEngine(database, STATEMENTS);
    this._onLost = onLost;
  }

  get hasWorker(): boolean {
    return this._worker?.isAlive === true;
  }

  /** Rejects only when this thread has no connection any more. */
  async ask(question: EngineQuestion): Promise<unknown> {
    let wasAsked = false;
    if (this._worker?.isAlive === true) {
      try {
        return await this._worker.ask(question);
      } catch {
        wasAsked = true;
      }
    }
    if (this._worker !== undefined && !this._isLost && !this._isClosing) {
      this._isLost = true;
      this._onLost();
    }
    // A part of something large: others have their turn between two of them.
    if (question.kind === "open" || question.kind === "next") await this._nextTurn();
    return this._here(wasAsked && question.kind === "commit" ? { ...question, isRepeated: true } : question);
  }

  private _nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      this._clock.after(0, resolve);
    });
  }

  async close(): Promise<void> {
    this._isClosing = true;
    await this._worker?.close();
  }
}
