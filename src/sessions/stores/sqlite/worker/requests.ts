import type { SqlValue } from "../sql-driver.ts";
import type { StatementName } from "../statements.ts";

// Requests to the database as plain data: a worker executes them, or this thread if there is no worker.

/**
 * One statement of a piece of work. `some` and `none` are checks: the work is refused unless there is a row, or unless
 * there is none. `get` also returns its row. Checks come before everything that writes.
 */
export type WorkStep = readonly [mode: "some" | "none" | "get" | "run", statement: StatementName, ...args: SqlValue[]];

/**
 * The result of a piece of work: the index of the check that refused it, with the row it found; or the requested rows.
 */
export interface WorkReply {
  readonly refusedAt?: number;
  readonly rows: readonly unknown[];
}

/**
 * Rows of events. Their bodies are one string, because a thousand strings would be copied one by one; JSON has no raw
 * line breaks.
 */
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
  /** Counts up. `isRepeated`: a worker that has died may already have executed it. */
  readonly group: number;
  readonly isRepeated?: boolean;
  readonly rows: RowsToWrite | undefined;
  readonly work: readonly (readonly WorkStep[])[];
}

/** Nothing was written, or the data cannot be read. */
export interface Failure {
  readonly failure: string;
  /** A retry may help. */
  readonly isBusy: boolean;
}

export type CommitAnswer = { readonly replies: readonly WorkReply[]; readonly failure?: never } | Failure;

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
      /** Approximately. */
      readonly characters: number;
      /** There is more: request it with `next`. */
      readonly more: number | undefined;
      readonly failure?: never;
    }
  | Failure;

/**
 * A part of a large body: JSON text, or pieces in a separate table. Those of `text` are the inside of one JSON string,
 * those of `json` any JSON text.
 */
export type BodyPart =
  | string
  | { readonly text: number; readonly pieces: number }
  | { readonly json: number; readonly pieces: number };

/**
 * A large body in its row, as JSON: its approximate number of characters, then its parts. Every other body is an
 * object, so the first character distinguishes the two.
 */
export type SplitBody = readonly [characters: number, ...parts: BodyPart[]];

/** Replaces a body in a row that is too large to be transferred at once. */
export interface LargeValue {
  readonly ticket: number;
}

/** The steps that rebuild a large JSON value: its JSON text, in which long strings are left out. */
export type AssemblyStep =
  | readonly ["json", piece: string]
  | readonly ["piece", text: number, piece: string]
  /** A long string belongs here. Its pieces have all arrived; it may be used again. */
  | readonly ["text", text: number];

export interface LargeValueAnswer {
  readonly failure?: never;
  readonly steps: readonly AssemblyStep[];
  readonly characters: number;
  readonly isLast: boolean;
}

export type EngineQuestion =
  | CommitQuestion
  | ReadQuestion
  | EventsQuestion
  | { readonly kind: "next"; readonly more: number }
  | { readonly kind: "open"; readonly ticket: number };
