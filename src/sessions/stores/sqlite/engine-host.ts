import { createRequire } from "node:module";
import type { Clock, StartWorker, Worker } from "#domain";
import type { SqlDatabase, SqlDriver } from "./sql-driver.ts";
import { createEngine } from "./worker/engine.ts";
import type { WorkerData } from "./worker/index.ts";
import type { EngineQuestion } from "./worker/requests.ts";

/** Resolved by Node rather than written as a path: in the built package this file is in another folder. */
const WORKER_FILE = "#sessions/stores/sqlite/worker";

export interface EngineHostOptions {
  readonly path: string;
  readonly driver: SqlDriver;
  /** SQL to run first on the worker's connection. */
  readonly settings: string;
  /** Without it, everything runs in this thread. */
  readonly startWorker: StartWorker | undefined;
  /** This thread's own connection, for use without a worker. */
  readonly database: SqlDatabase;
  readonly clock: Clock;
  /** The worker has died. Called once. */
  readonly onLost: () => void;
}

/**
 * Runs database requests in a worker, so that no other request waits for the disk; or in this thread when there is no
 * worker, or it has died. A transaction that a dying worker may have committed is not executed twice.
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
    const data: WorkerData = { path, module: driver.module, settings };
    this._worker = startWorker === undefined ? undefined : start(startWorker, data);
    this._here = createEngine(database);
    this._onLost = onLost;
    if (startWorker !== undefined && this._worker === undefined) this._lose();
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
    if (this._worker !== undefined && !this._isClosing) this._lose();
    // A part of something large: yields to the event loop between two parts.
    if (question.kind === "open" || question.kind === "next") await this._nextTurn();
    return this._here(wasAsked && question.kind === "commit" ? { ...question, isRepeated: true } : question);
  }

  private _lose(): void {
    if (this._isLost) return;
    this._isLost = true;
    this._onLost();
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

/** Returns no worker if its file cannot be found, because a bundler has moved this code. */
function start(startWorker: StartWorker, data: WorkerData): Worker | undefined {
  let file: string;
  try {
    file = createRequire(import.meta.url).resolve(WORKER_FILE);
  } catch {
    return undefined;
  }
  return startWorker(file, data);
}
