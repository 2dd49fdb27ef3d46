import { type Connection, failed } from "./connection.ts";
import { isSplit, largeValueSteps } from "./large-values.ts";
import type { AssemblyStep, EventsQuestion, Failure, LargeValue, LargeValueAnswer, ReadAnswer } from "./requests.ts";

/** More characters than this are returned in several answers. */
const ANSWER_CHARACTERS = 262_144;

/** What is put together in one turn of the event loop. */
const STEP_CHARACTERS = 131_072;

/** Longer bodies are transferred step by step. */
const LARGE_CHARACTERS = 262_144;

/** Events are read from the database in small pages, because each may have many megabytes. */
const PAGE_EVENTS = 16;

interface OpenValue {
  body: string | undefined;
  steps: Iterator<AssemblyStep> | undefined;
}

/** Reads rows, and returns large results in several answers. No method throws. */
export class RowReader {
  private readonly _connection: Connection;
  private readonly _rest = new Map<number, readonly unknown[]>();
  private readonly _values = new Map<number, OpenValue>();
  private _lastTicket = 0;

  constructor(connection: Connection) {
    this._connection = connection;
  }

  /** The first of these rows, as many as fit into one answer. */
  read(take: () => readonly unknown[]): ReadAnswer {
    try {
      return this._answer(take());
    } catch (error) {
      return failed(error);
    }
  }

  /** Continues an earlier answer, identified by its `more`. */
  next(more: number): ReadAnswer {
    const rows = this._rest.get(more);
    this._rest.delete(more);
    return rows === undefined ? failed("A part of the answer is gone.") : this._answer(rows);
  }

  events(question: EventsQuestion): ReadAnswer {
    return this.read(() => this._findEvents(question));
  }

  /** The next steps of a value that is transferred step by step. */
  open(number: number): LargeValueAnswer | Failure {
    const value = this._values.get(number);
    if (value === undefined) return failed("A part of the answer is gone.");
    try {
      value.steps ??= largeValueSteps(this._connection, value.body as string);
      value.body = undefined;
      const steps: AssemblyStep[] = [];
      let characters = 0;
      while (characters < STEP_CHARACTERS) {
        const next = value.steps.next();
        if (next.done === true) {
          this._values.delete(number);
          return { steps, characters, isLast: true };
        }
        steps.push(next.value);
        characters += String(next.value.at(-1)).length;
      }
      return { steps, characters, isLast: false };
    } catch (error) {
      this._values.delete(number);
      return failed(error);
    }
  }

  private _findEvents({ key, after, limit, maxCharacters }: EventsQuestion): readonly unknown[] {
    const events = this._connection.statement("events");
    const rows: unknown[] = [];
    let characters = 0;
    let cursor = after;
    for (;;) {
      const page = Math.min(PAGE_EVENTS, limit - rows.length);
      const found = events.all(key, cursor, page) as { readonly seq: unknown; readonly body: unknown }[];
      for (const row of found) {
        cursor = Number(row.seq);
        rows.push(row);
        characters += lengthOf(String(row.body));
        if (rows.length >= limit || characters >= maxCharacters) return rows;
      }
      if (found.length < page) return rows;
    }
  }

  /** At least one row. */
  private _answer(all: readonly unknown[]): ReadAnswer {
    const rows: unknown[] = [];
    let characters = 0;
    for (const row of all) {
      const packed = this._pack(row);
      rows.push(packed);
      characters += charactersOf(packed);
      if (characters >= ANSWER_CHARACTERS) break;
    }
    const left = all.slice(rows.length);
    return { rows, characters, more: left.length === 0 ? undefined : this._keep(this._rest, left) };
  }

  private _pack(row: unknown): object {
    const packed: Record<string, unknown> = { ...(row as object) };
    for (const [name, text] of Object.entries(packed)) {
      if (typeof text !== "string" || (text.length <= LARGE_CHARACTERS && !(name === "body" && isSplit(text)))) {
        continue;
      }
      const large: LargeValue = { ticket: this._keep(this._values, { body: text, steps: undefined }) };
      packed[name] = large;
    }
    return packed;
  }

  private _keep<Value>(values: Map<number, Value>, value: Value): number {
    this._lastTicket += 1;
    values.set(this._lastTicket, value);
    return this._lastTicket;
  }
}

/** The length of a body; for a split one, its first number. */
function lengthOf(body: string): number {
  return isSplit(body) ? Number.parseInt(body.slice(1, 32), 10) : body.length;
}

function charactersOf(row: object): number {
  let characters = 64;
  for (const value of Object.values(row)) if (typeof value === "string") characters += value.length;
  return characters;
}
