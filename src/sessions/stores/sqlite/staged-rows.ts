import type { SqlDatabase, SqlRow } from "./sql-driver.ts";
import { LOG_BYTES } from "./statements.ts";

// Rows that are stored but not in their final table yet. If a thousand simultaneous runs wrote each event there
// directly, each commit would change a thousand pages. Appending the rows to one staging table and moving them in
// groups changes only a few.

/** Events of one run, as stored in their table. */
export interface EventRows {
  readonly key: number;
  readonly seqs: readonly number[];
  readonly bodies: readonly string[];
}

/** What one transaction does. */
export interface StagingPlan {
  /** Rows to be staged, as one entry. */
  readonly entry: { readonly number: number; readonly text: string } | undefined;
  /** Rows to be moved to their table; those of a run in order. */
  readonly placed: readonly EventRows[];
  /** All rows of the entries up to this one have been moved, so the entries can be dropped. */
  readonly dropTo: number | undefined;
}

/**
 * A run's rows are moved when this many rows or characters are staged, or this many entries have followed the first.
 */
const WAIT = { rows: 16, characters: 65_536, entries: 128 } as const;

/** How many entries are dropped together. */
const DROP_ENTRIES = 16;

class Waiting {
  /** The entry that contains the first of them. */
  readonly since: number;
  readonly seqs: number[] = [];
  readonly bodies: string[] = [];
  characters = 0;

  constructor(since: number) {
    this.since = since;
  }

  add({ seqs, bodies }: EventRows): void {
    for (let at = 0; at < seqs.length; at += 1) {
      const body = bodies[at] as string;
      this.seqs.push(seqs[at] as number);
      this.bodies.push(body);
      this.characters += body.length;
    }
  }
}

/**
 * Plans which rows are staged and which are moved, and holds the rows that are not in their table yet: reading a log
 * includes these. It only reflects what is stored: a plan counts from `apply` on.
 */
export class StagedRows {
  /** By run, in the order in which the first row of each was staged. */
  private readonly _waiting = new Map<number, Waiting>();
  /** Where the stored log of each active run ends. */
  private readonly _lastSeqs = new Map<number, number>();
  private _entry = 0;
  private _droppedTo = 0;

  get size(): number {
    return this._waiting.size;
  }

  has(key: number): boolean {
    return this._waiting.has(key);
  }

  /** The seq of the last row of a run that was ever staged, until `forget`; -1 if there is none. */
  lastSeq(key: number): number {
    return this._lastSeqs.get(key) ?? -1;
  }

  /** The run has ended. */
  forget(key: number): void {
    this._lastSeqs.delete(key);
  }

  /** A run's rows after a cursor, in order. */
  rowsAfter(key: number, after: number): EventRows {
    const waiting = this._waiting.get(key);
    const first = waiting?.seqs.findIndex((seq) => seq > after) ?? -1;
    if (waiting === undefined || first === -1) return { key, seqs: [], bodies: [] };
    return { key, seqs: waiting.seqs.slice(first), bodies: waiting.bodies.slice(first) };
  }

  /** The bytes of a run's rows. */
  bytes(key: number): number {
    return (this._waiting.get(key)?.bodies ?? []).reduce((sum, body) => sum + Buffer.byteLength(body), 0);
  }

  /** The plan for these rows. All staged rows of the `urgent` runs are moved in any case. */
  plan(rows: readonly EventRows[], urgent: Iterable<number>): StagingPlan {
    const number = this._entry + 1;
    const due = this._findDue(rows, urgent, number);
    const staying = due.size === 0 ? rows : rows.filter(({ key }) => !due.has(key));
    return {
      entry: staying.length === 0 ? undefined : { number, text: writeEntry(staying) },
      placed: due.size === 0 ? [] : this._findPlaced(rows, due),
      dropTo: this._findDroppable(due, staying.length > 0),
    };
  }

  /** The plan for these rows was carried out. */
  apply(rows: readonly EventRows[], { entry, placed, dropTo }: StagingPlan): void {
    const due = new Set(placed.map(({ key }) => key));
    for (const key of due) this._waiting.delete(key);
    this._entry = Math.max(this._entry, entry?.number ?? 0);
    this._droppedTo = dropTo ?? this._droppedTo;
    for (const row of rows) {
      this._lastSeqs.set(row.key, row.seqs.at(-1) as number);
      if (due.has(row.key)) continue;
      const waiting = this._waiting.get(row.key) ?? new Waiting(this._entry);
      this._waiting.set(row.key, waiting);
      waiting.add(row);
    }
  }

  /** All runs with staged rows. */
  keys(): Iterable<number> {
    return this._waiting.keys();
  }

  private _findDue(rows: readonly EventRows[], urgent: Iterable<number>, number: number): ReadonlySet<number> {
    const due = new Set<number>();
    for (const key of urgent) due.add(key);
    for (const row of rows) if (isFull(this._waiting.get(row.key), row)) due.add(row.key);
    for (const [key, { since }] of this._waiting) {
      if (since > number - WAIT.entries) break;
      due.add(key);
    }
    return due;
  }

  private _findPlaced(rows: readonly EventRows[], due: ReadonlySet<number>): readonly EventRows[] {
    const placed: EventRows[] = [];
    for (const key of due) {
      const waiting = this._waiting.get(key);
      if (waiting !== undefined) placed.push({ key, seqs: waiting.seqs, bodies: waiting.bodies });
    }
    for (const row of rows) if (due.has(row.key)) placed.push(row);
    return placed;
  }

  private _findDroppable(due: ReadonlySet<number>, isStaying: boolean): number | undefined {
    for (const [key, { since }] of this._waiting) {
      if (!due.has(key)) return this._worthDropping(since - 1, DROP_ENTRIES);
    }
    return this._worthDropping(this._entry, isStaying ? DROP_ENTRIES : 1);
  }

  private _worthDropping(dropTo: number, entries: number): number | undefined {
    return dropTo - this._droppedTo >= entries ? dropTo : undefined;
  }
}

/** Whether a run's rows must be moved when these are added. */
function isFull(waiting: Waiting | undefined, { seqs, bodies }: EventRows): boolean {
  if ((waiting?.seqs.length ?? 0) + seqs.length >= WAIT.rows) return true;
  let characters = waiting?.characters ?? 0;
  for (const body of bodies) characters += body.length;
  return characters >= WAIT.characters;
}

/** One line with the keys and seqs alternately, then one line per body: JSON has no raw line breaks. */
function writeEntry(rows: readonly EventRows[]): string {
  const places: number[] = [];
  const bodies: string[] = [];
  for (const row of rows) {
    for (let at = 0; at < row.seqs.length; at += 1) {
      places.push(row.key, row.seqs[at] as number);
      bodies.push(row.bodies[at] as string);
    }
  }
  return `${JSON.stringify(places)}\n${bodies.join("\n")}`;
}

function readEntry(text: string): readonly (readonly [key: number, seq: number, body: string])[] {
  const [head = "[]", ...bodies] = text.split("\n");
  const places = JSON.parse(head) as readonly number[];
  return bodies.map((body, at) => [places[2 * at] as number, places[2 * at + 1] as number, body]);
}

/**
 * Moves all rows that are staged in the database to their table, in one transaction: these were left by a program that
 * was killed. A row that already exists stays as it is.
 */
export function flushStaged(database: SqlDatabase): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const place = database.prepare(
      "INSERT OR IGNORE INTO events (run_key, seq, body) SELECT run_key, ?, ? FROM runs WHERE run_key = ?",
    );
    for (const row of database.prepare("SELECT rows FROM fresh ORDER BY entry").all() as readonly SqlRow[]) {
      for (const [key, seq, body] of readEntry(String(row["rows"]))) place.run(seq, body, key);
    }
    database.exec("DELETE FROM fresh");
    // The size of a run is written when it ends; these have not ended.
    database.exec(`UPDATE runs SET bytes = ${LOG_BYTES} WHERE status IS NULL`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
