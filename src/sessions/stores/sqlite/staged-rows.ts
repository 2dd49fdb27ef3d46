import type { SqlDatabase, SqlRow } from "./sql-driver.ts";
import { LOG_BYTES } from "./statements.ts";

// Rows that are stored and not in their place yet. A thousand runs that write at once change a thousand pages when each
// event goes to its place at once; written behind each other they change a few, and go to their places by the dozen.

/** Events of one run, as they stand in their table. */
export interface EventRows {
  readonly key: number;
  readonly seqs: readonly number[];
  readonly bodies: readonly string[];
}

/** What one transaction does. */
export interface StagingPlan {
  /** Rows that are to wait, as one entry. */
  readonly entry: { readonly number: number; readonly text: string } | undefined;
  /** Rows that go to their place, those of a run in order. */
  readonly placed: readonly EventRows[];
  /** Entries up to this one hold nothing any more that is not in its place. */
  readonly dropTo: number | undefined;
}

/** A run's rows go to their place when so many wait, or so much text, or when so many entries came after the first. */
const WAIT = { rows: 16, characters: 65_536, entries: 128 } as const;

/** So many entries are dropped together. */
const DROP_ENTRIES = 16;

class Waiting {
  /** The entry in which the first of them stands. */
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
 * Plans what goes where, and knows what the tables do not show in its place: whoever reads a log reads this behind it.
 * It says what is stored: what was planned counts from `apply` on.
 */
export class StagedRows {
  /** By run, in the order in which the first row of each began to wait. */
  private readonly _waiting = new Map<number, Waiting>();
  /** Where the log of each run under way ends, as far as it is stored. */
  private readonly _lastSeqs = new Map<number, number>();
  private _entry = 0;
  private _droppedTo = 0;

  get size(): number {
    return this._waiting.size;
  }

  has(key: number): boolean {
    return this._waiting.has(key);
  }

  /** The seq of the last row that was ever here of a run, until it is `forgotten`; -1 when there is none. */
  lastSeq(key: number): number {
    return this._lastSeqs.get(key) ?? -1;
  }

  /** The run is over. */
  forget(key: number): void {
    this._lastSeqs.delete(key);
  }

  /** A run's rows behind a cursor, in order. */
  rowsAfter(key: number, after: number): EventRows {
    const waiting = this._waiting.get(key);
    const first = waiting?.seqs.findIndex((seq) => seq > after) ?? -1;
    if (waiting === undefined || first === -1) return { key, seqs: [], bodies: [] };
    return { key, seqs: waiting.seqs.slice(first), bodies: waiting.bodies.slice(first) };
  }

  /** Bytes of a run's rows. */
  bytes(key: number): number {
    return (this._waiting.get(key)?.bodies ?? []).reduce((sum, body) => sum + Buffer.byteLength(body), 0);
  }

  /** What is to be written for these rows. All that waits of `urgent` runs goes to its place, whatever else does. */
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

  /** All runs of which something waits. */
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

/** Whether a run's rows wait no longer when this one comes to them. */
function isFull(waiting: Waiting | undefined, { seqs, bodies }: EventRows): boolean {
  if ((waiting?.seqs.length ?? 0) + seqs.length >= WAIT.rows) return true;
  let characters = waiting?.characters ?? 0;
  for (const body of bodies) characters += body.length;
  return characters >= WAIT.characters;
}

/** A line with the keys and seqs in turn, then a line for each body: JSON has no line breaks. */
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
 * Puts everything that waits in the database into its place, in a transaction of its own: what a program left that was
 * killed. A row that is there already stays as it is.
 */
export function placeFresh(database: SqlDatabase): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const place = database.prepare(
      "INSERT OR IGNORE INTO events (run_key, seq, body) SELECT run_key, ?, ? FROM runs WHERE run_key = ?",
    );
    for (const row of database.prepare("SELECT rows FROM fresh ORDER BY entry").all() as readonly SqlRow[]) {
      for (const [key, seq, body] of readEntry(String(row["rows"]))) place.run(seq, body, key);
    }
    database.exec("DELETE FROM fresh");
    // How much a run has is written when it ends; these have not.
    database.exec(`UPDATE runs SET bytes = ${LOG_BYTES} WHERE status IS NULL`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
