import { type AgentEvent, type Clock, describeThrown } from "#domain";
import type { requireCursor } from "../sequence.ts";
import { StoreError } from "../store-error.ts";
import { AnswerTurns } from "./answer-turns.ts";
import { Assembled, Assembler } from "./assembly.ts";
import { BUSY } from "./commit-queue.ts";
import type { EngineQuestion, EventsQuestion, LargeValue, LargeValueAnswer, ReadAnswer } from "./worker/requests.ts";
import type { EngineHost } from "./engine-host.ts";
import type { StagedRows } from "./staged-rows.ts";
import { type RunRow, readEventBody, readRunRow } from "./rows.ts";
import type { SqlRow, SqlValue } from "./sql-driver.ts";
import type { StatementName } from "./statements.ts";

type Failure = Extract<ReadAnswer, { readonly failure: string }>;
type Answer = { readonly rows: readonly SqlRow[]; readonly failure?: never } | Failure;

/** Reads stored data: from the tables, and from the staged rows. */
export class Reader {
  private readonly _host: EngineHost;
  private readonly _staged: StagedRows;
  private readonly _clock: Clock;
  private readonly _turns: AnswerTurns;

  constructor(host: EngineHost, staged: StagedRows, clock: Clock) {
    this._host = host;
    this._staged = staged;
    this._clock = clock;
    this._turns = new AnswerTurns(clock);
  }

  /** All rows of a statement. */
  all(statement: StatementName, ...args: SqlValue[]): Promise<readonly SqlRow[]> {
    return this._read({ kind: "read", statement, args });
  }

  async first(statement: StatementName, ...args: SqlValue[]): Promise<SqlRow | undefined> {
    return (await this.all(statement, ...args))[0];
  }

  /** Without its settings, unless the statement says otherwise. */
  async findRun(id: string, statement: "run" | "wholeRun" = "run"): Promise<RunRow | undefined> {
    const row = await this.first(statement, id);
    return row === undefined ? undefined : this.showRun(row);
  }

  /** The run of a row. For an unfinished run, its last event determines where the log ends. */
  showRun(row: SqlRow): RunRow {
    return readRunRow(row, (key) => this._staged.lastSeq(key));
  }

  async events(
    key: number,
    { after, limit, maxCharacters }: ReturnType<typeof requireCursor>,
  ): Promise<readonly AgentEvent[]> {
    // Read before the database: rows that are moved meanwhile are then seen in both places rather than in neither.
    const staged = this._staged.rowsAfter(key, after);
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
    for (const [at, seq] of staged.seqs.entries()) {
      if (events.length >= limit || (characters >= maxCharacters && events.length > 0)) break;
      if (seq <= cursor) continue;
      const body = staged.bodies[at] as string;
      events.push(readEventBody(body));
      characters += body.length;
    }
    return events;
  }

  /** Asks at once, and again later if another program has locked the database. */
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

  /** A complete answer, part by part: other work can run between its parts. */
  private async _readOnce(question: EngineQuestion): Promise<Answer> {
    const rows: SqlRow[] = [];
    for (let next: EngineQuestion = question; ; ) {
      const answer = (await this._ask(next)) as ReadAnswer;
      if (answer.failure !== undefined) return answer;
      await this._turns.take(answer.characters);
      for (const row of answer.rows) {
        const opened = await this._openLargeValues(row as SqlRow);
        if (opened.failure !== undefined) return opened;
        rows.push(...opened.rows);
      }
      if (answer.more === undefined) return { rows };
      next = { kind: "next", more: answer.more };
    }
  }

  private async _openLargeValues(row: SqlRow): Promise<Answer> {
    let opened: Record<string, unknown> | undefined;
    for (const [name, value] of Object.entries(row)) {
      if (typeof value !== "object" || value === null) continue;
      const assembled = await this._assemble((value as LargeValue).ticket);
      if (!(assembled instanceof Assembled)) return assembled;
      opened ??= { ...row };
      opened[name] = assembled;
    }
    return { rows: [opened ?? row] };
  }

  private async _assemble(ticket: number): Promise<Assembled | Failure> {
    const assembler = new Assembler();
    for (;;) {
      const answer = (await this._ask({ kind: "open", ticket })) as LargeValueAnswer | Failure;
      if (answer.failure !== undefined) return answer;
      await this._turns.take(answer.characters);
      for (const step of answer.steps) assembler.add(step);
      if (answer.isLast) break;
    }
    try {
      return assembler.end();
    } catch (error) {
      return { failure: describeThrown(error), isBusy: false };
    }
  }
}

function unreadable(why: string): StoreError {
  return new StoreError("store-failed", `The database cannot be read: ${why}`);
}
