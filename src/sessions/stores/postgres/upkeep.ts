import type { Clock } from "#domain";
import type { Database } from "./database.ts";

/** How many weeks have their partition in advance. */
const WEEKS_AHEAD = 4;

const HOUR_MS = 3_600_000;

/**
 * Keeps partitions ready for the coming weeks, and removes runs that ended long ago. Every node does it now and then; a lock
 * lets one at a time do it.
 */
export class Upkeep {
  private readonly _database: Database;
  private readonly _clock: Clock;
  private readonly _retentionMs: number | undefined;
  private _takeBack: (() => void) | undefined;
  private _running: Promise<void> | undefined;
  private _isClosed = false;

  constructor(database: Database, clock: Clock, retentionMs: number | undefined) {
    this._database = database;
    this._clock = clock;
    this._retentionMs = retentionMs;
  }

  /** Does it now, and every hour from then on. If it fails now, the next hour makes up for it. */
  async start(): Promise<void> {
    await this.run().catch(() => undefined);
    if (this._isClosed) return;
    this._takeBack = this._clock.after(HOUR_MS, () => {
      this.start().catch(() => undefined);
    });
  }

  async run(): Promise<void> {
    this._running = this._run();
    await this._running;
  }

  async close(): Promise<void> {
    this._isClosed = true;
    this._takeBack?.();
    await this._running?.catch(() => undefined);
  }

  private async _run(): Promise<void> {
    await this._database.call("SELECT @.prepare_weeks($1)", [WEEKS_AHEAD]);
    if (this._retentionMs === undefined) return;
    const olderMs = this._retentionMs;
    // Whole partitions first; what is left in the others goes in small transactions.
    await this._database.call("SELECT @.drop_weeks($1::double precision)", [olderMs]);
    for (let removed = 1; removed > 0 && !this._isClosed; ) {
      const [row] = await this._database.call<{ removed: string }>(
        "SELECT @.remove_runs($1::double precision, 500) AS removed",
        [olderMs],
      );
      removed = Number(row?.removed);
    }
  }
}
