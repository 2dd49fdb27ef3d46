import type { AgentEvent } from "#domain";
import { unknownRun } from "../sequence.ts";
import type { Settlement } from "../store.ts";
import { LOCAL_TENANT } from "../thread-rules.ts";
import type { CommitQueue } from "./commit-queue.ts";
import { encodeMessage, isLarge } from "./bodies.ts";
import type { StagedRows } from "./staged-rows.ts";
import type { LargeBodyWriter } from "./large-bodies.ts";
import type { OpenRun, OpenRuns } from "./open-runs.ts";
import type { Reader } from "./reads.ts";
import { readUsageRow } from "./rows.ts";
import type { TenantBytes } from "./tenant-bytes.ts";
import { type Appending, appendEvents, questionsOf } from "./writes.ts";

export interface AppenderParts {
  readonly queue: CommitQueue;
  readonly reader: Reader;
  readonly staged: StagedRows;
  readonly large: LargeBodyWriter;
  readonly bytes: TenantBytes;
  readonly open: OpenRuns;
}

/** Adds events to logs, one append at a time for each run. */
export class Appender {
  private readonly _parts: AppenderParts;
  /**
   * Runs for which something has to be read or transferred first, with the promise of that append: later appends wait
   * for it.
   */
  private readonly _turns = new Map<string, Promise<void>>();

  constructor(parts: AppenderParts) {
    this._parts = parts;
  }

  /** If the end of the log is known, it is checked synchronously; only then nothing is awaited. */
  append(
    runId: string,
    events: readonly AgentEvent[],
    settlement: Settlement | undefined,
    epoch: number | undefined,
  ): Promise<void> {
    const isPlain = settlement === undefined && !this._turns.has(runId) && this._parts.open.get(runId) !== undefined;
    if (isPlain && !isLarge(events)) return this._add(this._known(runId), { runId, events, epoch });
    const stored = (this._turns.get(runId) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => this._addInTurn({ runId, events, settlement, epoch }));
    this._turns.set(runId, stored);
    const forget = (): void => void (this._turns.get(runId) === stored && this._turns.delete(runId));
    stored.then(forget, forget);
    return stored;
  }

  /** Resolves when all pending appends are in the queue or have failed. */
  async drain(): Promise<void> {
    await Promise.allSettled(this._turns.values());
  }

  private async _addInTurn({
    runId,
    events,
    settlement,
    epoch,
  }: Pick<Appending, "runId" | "events" | "settlement" | "epoch">): Promise<void> {
    const { key, run, texts: known } = await this.find(runId);
    const isSettled = settlement !== undefined && run.threadId !== undefined;
    // A thread has one run at a time, so nothing else writes what is read here.
    const usage = isSettled
      ? (await this._parts.reader.all("usage", run.threadId as string, run.tenant ?? LOCAL_TENANT)).map(readUsageRow)
      : [];
    if (!isLarge(events, settlement?.messages)) {
      const messages = (settlement?.messages ?? []).map(encodeMessage);
      return await this._add(await this.find(runId), { runId, events, settlement, epoch, messages, usage });
    }
    const messages = isSettled ? settlement.messages : [];
    const values = questionsOf(run, events);
    const large = await this._parts.large.write({ runId, key, events, messages, values, known });
    try {
      await this._add(await this.find(runId), { runId, events, large, settlement, epoch, usage });
    } catch (error) {
      large.drop();
      throw error;
    }
    known.push(...large.texts);
  }

  private _known(runId: string): OpenRun {
    const known = this._parts.open.get(runId);
    if (known === undefined) throw unknownRun(runId);
    return known;
  }

  /**
   * Finds the run; an unfinished one is remembered from now on.
   * @throws StoreError `unknown-run`.
   */
  async find(runId: string): Promise<OpenRun> {
    const { open, reader, staged } = this._parts;
    for (;;) {
      const known = open.get(runId);
      if (known !== undefined) return known;
      const row = await reader.findRun(runId);
      if (row === undefined) throw unknownRun(runId);
      if (row.run.isOver) return { ...row, bytes: 0, texts: [] };
      const bytes = Number((await reader.first("logBytes", row.key))?.["bytes"]);
      if (open.get(runId) === undefined) open.add(row, bytes + staged.bytes(row.key));
    }
  }

  /** Checks the events against the end of the log, synchronously, and queues them. */
  private _add(found: OpenRun, appending: Appending): Promise<void> {
    const { queue, open, bytes, staged } = this._parts;
    // It may have been claimed since it was found.
    const run = open.get(appending.runId) ?? found;
    const { write, end, logBytes, threadBytes } = appendEvents(run, appending);
    if (appending.events.length === 0 && appending.settlement === undefined) return Promise.resolve();
    open.grow(run, end, logBytes);
    const { key } = run;
    const { id, tenant } = run.run;
    return queue.add({ ...write, onFailure: () => open.forget(id) }).then(() => {
      bytes.add(tenant, logBytes + threadBytes);
      if (!end.isOver) return;
      open.forget(id);
      staged.forget(key);
    });
  }
}
