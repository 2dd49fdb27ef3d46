import type { SqlDatabase, SqlStatement, SqlValue } from "./sql-driver.ts";
import type { StatementName } from "./statements.ts";

// What is asked of the database, as plain data: it is carried out in a worker, and here when there is none.

/**
 * One statement of a piece of work. `some` and `none` are checks: the work is refused unless there is a row, or unless
 * there is none. `get` also answers with its row. Checks stand before everything that writes.
 */
export type WorkStep = readonly [mode: "some" | "none" | "get" | "run", statement: StatementName, ...args: SqlValue[]];

/** What came of a piece of work: the number of the check that refused it, with the row it found; or the rows it asked for. */
export interface WorkReply {
  readonly refusedAt?: number;
  readonly rows: readonly unknown[];
}

/** Rows of events, written as one text because a thousand would be copied one by one; JSON has no line breaks. */
export interface RowsToWrite {
  readonly keys: readonly number[];
  readonly seqs: readonly number[];
  readonly bodies: string;
  readonly entry: { readonly number: number; readonly text: string } | undefined;
  readonly dropTo: number | undefined;
}

/** One transaction. */
export interface CommitQuestion {
  readonly kind: "commit";
  /** Counts up. `isRepeated`: somebody who has died may have carried it out. */
  readonly group: number;
  readonly isRepeated?: boolean;
  readonly rows: RowsToWrite | undefined;
  readonly work: readonly (readonly WorkStep[])[];
}

export type CommitAnswer =
  | { readonly replies: readonly WorkReply[]; readonly failure?: never }
  /** Nothing was written. */
  | { readonly failure: string; readonly isBusy: boolean };

export interface ReadQuestion {
  readonly kind: "read";
  readonly statement: StatementName;
  readonly args: readonly SqlValue[];
}

export interface EventsQuestion {
  readonly kind: "events";
  readonly key: number;
  readonly after: number;
  readonly limit: number;
  readonly maxCharacters: number;
}

export type ReadAnswer =
  | {
      readonly rows: readonly unknown[];
      /** There is more: ask with `next`. */
      readonly more: number | undefined;
      readonly failure?: never;
    }
  | { readonly failure: string; readonly isBusy: boolean };

/**
 * A part of a large body: JSON text, or pieces that stand in their own table. Those of `text` are the inside of one JSON
 * string, those of `json` are any JSON text.
 */
export type BodyPart =
  | string
  | { readonly text: number; readonly pieces: number }
  | { readonly json: number; readonly pieces: number };

/**
 * How a large body stands in its row, as JSON: about how many characters it has, then its parts. Every other body is an
 * object, so the first character tells them apart.
 */
export type SplitBody = readonly [characters: number, ...parts: BodyPart[]];

type LongText = Extract<BodyPart, { readonly text: number }>;
/** By the name that stands for each while its body is parsed. */
type LongTexts = Map<string, LongText>;

/** A body that is too large to be handed over in one piece stands in its row as this. */
export interface EngineRequest {
  readonly parcel: number;
}

/** How a large JSON value is put together again, step by step. Keys of lists are not used. */
export type AssemblyStep =
  | readonly ["value", key: string, value: unknown]
  /** Several small members of the current list, or pairs of the current object. */
  | readonly ["members", members: readonly unknown[]]
  | readonly ["list" | "object", key: string]
  | readonly ["end"]
  | readonly ["piece", text: number, piece: string]
  /** A text whose pieces have all come; the same one may come up again. */
  | readonly ["text", key: string, text: number];

export interface EngineAnswer {
  readonly failure?: never;
  readonly steps: readonly AssemblyStep[];
  readonly isLast: boolean;
}

export type EngineQuestion =
  | CommitQuestion
  | ReadQuestion
  | EventsQuestion
  | { readonly kind: "next"; readonly more: number }
  | { readonly kind: "open"; readonly parcel: number };

/**
 * Creates what carries out questions on one connection. Never throws.
 *
 * It also runs as the text of itself, in a worker: it may use nothing but its parameters and what JavaScript has, no
 * import and nothing else of this file.
 */
export function createEngine(
  database: SqlDatabase,
  statements: Readonly<Record<StatementName, string>>,
): (question: EngineQuestion) => unknown {
  /** More characters than these are handed over in several answers. */
  const ANSWER_CHARACTERS = 262_144;
  /** A text that is longer becomes a parcel. */
  const LARGE_CHARACTERS = 262_144;
  const LONG_TEXT = 65_536;
  /** Events are taken from the database in small pages: each may have many megabytes. */
  const PAGE_EVENTS = 16;

  /** So many pieces are taken from the database at a time. */
  const PAGE_PIECES = 4;
  const GONE = "A part of what is read is gone.";

  const prepared = new Map<StatementName, SqlStatement>();
  const rest = new Map<number, readonly unknown[]>();
  const parcels = new Map<number, { body: string | undefined; steps: Iterator<AssemblyStep> | undefined }>();
  let tickets = 0;

  function statement(name: StatementName): SqlStatement {
    let found = prepared.get(name);
    if (found === undefined) {
      found = database.prepare(statements[name]);
      prepared.set(name, found);
    }
    return found;
  }

  /** Whether asking again may help. */
  function isBusy(error: unknown): boolean {
    const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message?: unknown };
    return (
      (typeof code === "string" && code.startsWith("SQLITE_BUSY")) ||
      errcode === 5 ||
      (typeof message === "string" && message.includes("database is locked")) ||
      message === GONE
    );
  }

  function failed(error: unknown): { readonly failure: string; readonly isBusy: boolean } {
    return { failure: error instanceof Error ? error.message : String(error), isBusy: isBusy(error) };
  }

  function writeRows({ keys, seqs, bodies, entry, dropTo }: RowsToWrite): void {
    if (keys.length > 0) {
      const add = statement("addEvent");
      const texts = bodies.split("\n");
      for (let at = 0; at < keys.length; at += 1) add.run(keys[at] as number, seqs[at] as number, texts[at] as string);
    }
    if (entry !== undefined) statement("addFresh").run(entry.number, entry.text);
    if (dropTo !== undefined) statement("dropFresh").run(dropTo);
  }

  function carryOut(steps: readonly WorkStep[]): WorkReply {
    const rows: unknown[] = [];
    for (let at = 0; at < steps.length; at += 1) {
      const [mode, name, ...args] = steps[at] as WorkStep;
      if (mode === "run") {
        statement(name).run(...args);
        continue;
      }
      const row = statement(name).get(...args);
      const found = row === undefined ? undefined : { ...row };
      if ((mode === "some" && row === undefined) || (mode === "none" && row !== undefined)) {
        return { refusedAt: at, rows: [found] };
      }
      if (mode === "get") rows.push(found);
    }
    return { rows };
  }

  function commit({ group, isRepeated, rows, work }: CommitQuestion): CommitAnswer {
    try {
      if (isRepeated === true) {
        const done = statement("progress").get() as { readonly number: unknown; readonly replies: unknown };
        if (Number(done.number) === group) return { replies: JSON.parse(String(done.replies)) };
      }
      database.exec("BEGIN IMMEDIATE");
      if (rows !== undefined) writeRows(rows);
      const replies = work.map(carryOut);
      statement("setProgress").run(group, JSON.stringify(replies));
      database.exec("COMMIT");
      return { replies };
    } catch (error) {
      try {
        database.exec("ROLLBACK");
      } catch {
        // There was no transaction: it could not be begun, or the failure has undone it already.
      }
      return failed(error);
    }
  }

  function ticketFor<Value>(shelf: Map<number, Value>, value: Value): number {
    tickets += 1;
    shelf.set(tickets, value);
    return tickets;
  }

  function isParted(body: string): boolean {
    return body.charCodeAt(0) === 0x5b;
  }

  function lengthOf(body: string): number {
    return isParted(body) ? Number.parseInt(body.slice(1, 32), 10) : body.length;
  }

  /** A row as it is handed over. */
  function pack(row: unknown): unknown {
    const packed: Record<string, unknown> = { ...(row as object) };
    for (const name of Object.keys(packed)) {
      const text = packed[name];
      if (typeof text !== "string" || (text.length <= LARGE_CHARACTERS && !(name === "body" && isParted(text))))
        continue;
      packed[name] = { parcel: ticketFor(parcels, { body: text, steps: undefined }) };
    }
    return packed;
  }

  function charactersOf(row: unknown): number {
    let characters = 64;
    for (const value of Object.values(row as object)) if (typeof value === "string") characters += value.length;
    return characters;
  }

  /** As many rows as one answer takes; at least one. */
  function answerRows(all: readonly unknown[]): ReadAnswer {
    const rows: unknown[] = [];
    let characters = 0;
    for (const row of all) {
      const packed = pack(row);
      rows.push(packed);
      characters += charactersOf(packed);
      if (characters >= ANSWER_CHARACTERS) break;
    }
    const left = all.slice(rows.length);
    return { rows, more: left.length === 0 ? undefined : ticketFor(rest, left) };
  }

  function readEvents({ key, after, limit, maxCharacters }: EventsQuestion): readonly unknown[] {
    const rows: unknown[] = [];
    let characters = 0;
    let cursor = after;
    for (;;) {
      const page = Math.min(PAGE_EVENTS, limit - rows.length);
      const found = statement("events").all(key, cursor, page) as { readonly seq: unknown; readonly body: unknown }[];
      for (const row of found) {
        cursor = Number(row.seq);
        rows.push(row);
        characters += lengthOf(String(row.body));
        if (rows.length >= limit || characters >= maxCharacters) return rows;
      }
      if (found.length < page) return rows;
    }
  }

  function read(take: () => readonly unknown[]): ReadAnswer {
    try {
      return answerRows(take());
    } catch (error) {
      return failed(error);
    }
  }

  /** How many characters a value has, `most` at least. Looks no further than it has to. */
  function measure(value: unknown, most: number, long: LongTexts | undefined): number {
    if (typeof value === "string") return long?.has(value) === true ? most : 8 + value.length;
    if (typeof value !== "object" || value === null) return 8;
    let characters = 8;
    for (const key of Object.keys(value)) {
      if (characters >= most) break;
      characters += key.length + measure((value as Record<string, unknown>)[key], most - characters, long);
    }
    return characters;
  }

  /** Pieces of a part, read as they are asked for. */
  function* readPieces(part: number, pieces: number): Generator<string, undefined> {
    for (let from = 0; from < pieces; from += PAGE_PIECES) {
      const found = statement("pieces").all(part, from, PAGE_PIECES) as { readonly body: string }[];
      // Its thread may have been removed since its row was read: whoever asks again is not given that row.
      if (found.length < Math.min(PAGE_PIECES, pieces - from)) throw new Error(GONE);
      for (const { body } of found) yield body;
    }
    return undefined;
  }

  /** The steps of a body that stands in parts: its long texts are left out while it is parsed, and put in by name. */
  function openParted([, ...parts]: SplitBody): Iterator<AssemblyStep> {
    const pieces = parts.map((part) => {
      if (typeof part === "string") return part;
      return "json" in part ? [...readPieces(part.json, part.pieces)].join("") : part;
    });
    const bare = pieces.filter((piece) => typeof piece === "string").join("");
    let name = "text ";
    while (bare.includes(name)) name += "=";
    const long: LongTexts = new Map();
    let json = "";
    for (const piece of pieces) {
      if (typeof piece === "string") {
        json += piece;
      } else {
        long.set(name + piece.text, piece);
        json += JSON.stringify(name + piece.text);
      }
    }
    return takeApart(JSON.parse(json), "", new Map(), long);
  }

  function* takeApart(
    value: unknown,
    key: string,
    texts: Map<string, number>,
    long: LongTexts | undefined,
  ): Generator<AssemblyStep, undefined> {
    const parted = typeof value === "string" ? long?.get(value) : undefined;
    if (parted !== undefined) {
      let number = texts.get(value as string);
      if (number === undefined) {
        number = texts.size;
        texts.set(value as string, number);
        for (const piece of readPieces(parted.text, parted.pieces)) {
          yield ["piece", number, JSON.parse(`"${piece}"`) as string];
        }
      }
      yield ["text", key, number];
    } else if (typeof value === "string" && value.length > LONG_TEXT) {
      let number = texts.get(value);
      if (number === undefined) {
        number = texts.size;
        texts.set(value, number);
        for (let from = 0; from < value.length; from += LONG_TEXT) {
          yield ["piece", number, value.slice(from, from + LONG_TEXT)];
        }
      }
      yield ["text", key, number];
    } else if (measure(value, LONG_TEXT, long) < LONG_TEXT) {
      yield ["value", key, value];
    } else {
      const isList = Array.isArray(value);
      yield [isList ? "list" : "object", key];
      let members: unknown[] = [];
      let characters = 0;
      for (const name of Object.keys(value as object)) {
        const member = (value as Record<string, unknown>)[name];
        const size = measure(member, LONG_TEXT, long);
        if (size < LONG_TEXT) {
          members.push(isList ? member : [name, member]);
          characters += size + name.length;
        }
        if (members.length > 0 && (characters >= LONG_TEXT || size >= LONG_TEXT)) {
          yield ["members", members];
          members = [];
          characters = 0;
        }
        if (size >= LONG_TEXT) yield* takeApart(member, name, texts, long);
      }
      if (members.length > 0) yield ["members", members];
      yield ["end"];
    }
    return undefined;
  }

  function openBody(body: string): Iterator<AssemblyStep> {
    const value: unknown = JSON.parse(body);
    return isParted(body) ? openParted(value as SplitBody) : takeApart(value, "", new Map(), undefined);
  }

  function openParcel(number: number): EngineAnswer | { readonly failure: string; readonly isBusy: boolean } {
    const parcel = parcels.get(number);
    if (parcel === undefined) return failed("A part of the answer is gone.");
    try {
      parcel.steps ??= openBody(parcel.body as string);
      parcel.body = undefined;
      const steps: AssemblyStep[] = [];
      for (let characters = 0; characters < ANSWER_CHARACTERS; ) {
        const next = parcel.steps.next();
        if (next.done === true) {
          parcels.delete(number);
          return { steps, isLast: true };
        }
        steps.push(next.value);
        characters += measure(next.value, ANSWER_CHARACTERS, undefined);
      }
      return { steps, isLast: false };
    } catch (error) {
      parcels.delete(number);
      return failed(error);
    }
  }

  return (question) => {
    switch (question.kind) {
      case "commit":
        return commit(question);
      case "read":
        return read(() => statement(question.statement).all(...question.args));
      case "events":
        return read(() => readEvents(question));
      case "next": {
        const rows = rest.get(question.more);
        rest.delete(question.more);
        return rows === undefined ? failed("A part of the answer is gone.") : answerRows(rows);
      }
      case "open":
        return openParcel(question.parcel);
      default:
        return undefined;
    }
  };
}
