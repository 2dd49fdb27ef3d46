import { type AgentEvent, type Clock, describeThrown } from "#domain";
import type { requireCursor } from "../sequence.ts";
import { StoreError } from "../store-error.ts";
import { Assembled, Assembler } from "./assembly.ts";
import { BUSY } from "./commit-queue.ts";
import type { EngineQuestion, EventsQuestion, EngineRequest, EngineAnswer, ReadAnswer } from "./engine.ts";
import type { EngineHost } from "./engine-host.ts";
import type { StagedRows } from "./staged-rows.ts";
import { type RunRow, readEventBody, readRunRow } from "./rows.ts";
import type { SqlRow, SqlValue } from "./sql-driver.ts";
import type { StatementName } from "./statements.ts";

type Failure = Extract<ReadAnswer, { readonly failure: string }>;
type Answer = { readonly rows: readonly SqlRow[]; readonly failure?: never } | Failure;

/** Reads what is stored: what stands in its place, and what is not there yet. */
export class Reader {
  private readonly _host: EngineHost;
  private readonly _fresh: StagedRows;
  private readonly _clock: Clock;

  constructor(host: EngineHost, fresh: StagedRows, clock: Clock) {
    this._host = host;
    this._fresh = fresh;
    this._clock = clock;
  }

  /** All rows of a statement. */
  all(statement: StatementName, ...args: SqlValue[]): Promise<readonly SqlRow[]> {
    return this._read({ kind: "read", statement, args });
  }

  async first(statement: StatementName, ...args: SqlValue[]): Promise<SqlRow | undefined> {
    return (await this.all(statement, ...args))[0];
  }

  async findRun(id: string): Promise<RunRow | undefined> {
    const row = await this.first("run", id);
    return row === undefined ? undefined : this.showRun(row);
  }

  /** The run of a row. Where the log of one ends that goes on is what its last event says. */
  showRun(row: SqlRow): RunRow {
    const { key, run } = readRunRow(row);
    return { key, run: { ...run, lastSeq: Math.max(run.lastSeq, this._fresh.lastSeq(key)) } };
  }

  async events(
    key: number,
    { after, limit, maxCharacters }: ReturnType<typeof requireCursor>,
  ): Promise<readonly AgentEvent[]> {
    // Looked at before the database is: what goes to its place meanwhile is seen in both, and not in neither.
    const fresh = this._fresh.rowsAfter(key, after);
    const question: EventsQuestion = { kind: "events", key, after, limit, maxCharacters };
    const rows = await this._read(question);
    const events: AgentEvent[] = [];
    let characters = 0;
    let cursor = after;
    for (const { seq, body } of rows) {
      cursor = Number(seq);
      events.push(readEventBody(body));
      characters += typeof body === "string" ? body.length : maxCharacters;
    }
    for (const [at, seq] of fresh.seqs.entries()) {
      if (events.length >= limit || (characters >= maxCharacters && events.length > 0)) break;
      if (seq <= cursor) continue;
      const body = fresh.bodies[at] as string;
      events.push(readEventBody(body));
      characters += body.length;
    }
    return events;
  }

  /** Asks at once, and again after a while when another program has locked the database. */
  private async _read(question: EngineQuestion): Promise<readonly SqlRow[]> {
    for (let waitedMs = 0; ; waitedMs += BUSY.retryMs) {
      const answer = await this._readOnce(question);
      if (answer.failure === undefined) return answer.rows;
      if (!answer.isBusy || waitedMs >= BUSY.patienceMs) throw unreadable(answer.failure);
      await new Promise<void>((resolve) => {
        this._clock.after(BUSY.retryMs, resolve);
      });
    }
  }

  private async _ask(question: EngineQuestion): Promise<unknown> {
    try {
      return await this._host.ask(question);
    } catch (error) {
      throw unreadable(describeThrown(error));
    }
  }

  /** The whole of an answer, as it comes: others have their turn between its parts. */
  private async _readOnce(question: EngineQuestion): Promise<Answer> {
    const rows: SqlRow[] = [];
    for (let next: EngineQuestion = question; ; ) {
      const answer = (await this._ask(next)) as ReadAnswer;
      if (answer.failure !== undefined) return answer;
      for (const row of answer.rows) {
        const opened = await this._openParcels(row as SqlRow);
        if (opened.failure !== undefined) return opened;
        rows.push(...opened.rows);
      }
      if (answer.more === undefined) return { rows };
      next = { kind: "next", more: answer.more };
    }
  }

  private async _openParcels(row: SqlRow): Promise<Answer> {
    let opened: Record<string, unknown> | undefined;
    for (const [name, value] of Object.entries(row)) {
      if (typeof value !== "object" || value === null) continue;
      const assembled = await this._assemble((value as EngineRequest).parcel);
      if (!(assembled instanceof Assembled)) return assembled;
      opened ??= { ...row };
      opened[name] = assembled;
    }
    return { rows: [opened ?? row] };
  }

  private async _assemble(parcel: number): Promise<Assembled | Failure> {
    const assembler = new Assembler();
    for (;;) {
      const answer = (await this._ask({ kind: "open", parcel })) as EngineAnswer | Failure;
      if (answer.failure !== undefined) return answer;
      for (const step of answer.steps) assembler.add(step);
      if (answer.isLast) return new Assembled(assembler.value);
    }
  }
}

function unreadable(why: string): StoreError {
  return new StoreError("store-failed", `The database cannot be read: ${why}`);
}
