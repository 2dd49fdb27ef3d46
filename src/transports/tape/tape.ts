import type { ProcessExit } from "#domain";

/** The first line of a tape. */
export interface TapeHeader {
  readonly format: "millrace-tape";
  readonly version: 1;
  /** When the recording began, in milliseconds since 1970. Every other time of the tape counts from here. */
  readonly startedAt: number;
  /** What was run, as data: whoever plays the tape runs the same. Its meaning is the business of whoever recorded. */
  readonly program?: unknown;
}

/** A failure as it is kept: enough to make an error that reads and acts the same. */
export interface TapeFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly host?: string;
  readonly answered?: boolean;
}

/** Bytes as they are kept: as text where they are UTF-8. */
export type TapeBytes = { readonly text: string } | { readonly base64: string };

/** What every entry has besides what happened. */
export interface TapePlace {
  /** Milliseconds since the start. */
  readonly at: number;
  /** What the clock said since the entry before, in milliseconds since the start. */
  readonly now?: readonly number[];
  /** The ids and numbers that chance gave since the entry before. */
  readonly ids?: readonly string[];
  readonly draws?: readonly number[];
}

/** What the program did to the world. `id` tells exchanges and processes apart. */
export type TapeAction =
  | {
      readonly type: "request";
      readonly id: number;
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: TapeBytes | TapeDigest;
    }
  | {
      readonly type: "spawn";
      readonly id: number;
      readonly executable: string;
      readonly args: readonly string[];
      readonly cwd?: string;
      /** The names of the variables; never their values. */
      readonly env: readonly string[];
    }
  | ({ readonly type: "stdin"; readonly id: number } & TapeBytes)
  | { readonly type: "stdin-end"; readonly id: number }
  | { readonly type: "kill"; readonly id: number; readonly signal: string };

/** What is too large to keep is known by its length and a sum. */
export interface TapeDigest {
  readonly length: number;
  readonly sum: string;
}

/** What the world gave to the program. */
export type TapeDelivery =
  | {
      readonly type: "head";
      readonly id: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
    }
  | ({ readonly type: "body"; readonly id: number } & TapeBytes)
  | { readonly type: "body-end"; readonly id: number }
  | { readonly type: "body-break"; readonly id: number; readonly failure: TapeFailure }
  | { readonly type: "no-answer"; readonly id: number; readonly failure: TapeFailure }
  | { readonly type: "spawned"; readonly id: number; readonly pid?: number }
  | { readonly type: "not-spawned"; readonly id: number; readonly failure: TapeFailure }
  | { readonly type: "stdin-refused"; readonly id: number; readonly failure: TapeFailure }
  | ({ readonly type: "stdout"; readonly id: number } & TapeBytes)
  | ({ readonly type: "stderr"; readonly id: number } & TapeBytes)
  | { readonly type: "stdout-end"; readonly id: number; readonly failure?: TapeFailure }
  | { readonly type: "stderr-end"; readonly id: number; readonly failure?: TapeFailure }
  | ({ readonly type: "exit"; readonly id: number } & ProcessExit)
  | ({ readonly type: "answer"; readonly key: string; readonly sync?: true } & TapeAnswer)
  | { readonly type: "progress"; readonly key: string; readonly state: unknown }
  | { readonly type: "decision"; readonly callId: string; readonly decision: unknown }
  | { readonly type: "timer"; readonly ms: number }
  | { readonly type: "abort"; readonly reason: string };

/** What a callback of the caller answered. `odd`: a value that is no JSON, by its kind. */
export type TapeAnswer =
  | { readonly value?: unknown }
  | { readonly failure: TapeFailure }
  | { readonly odd: "function" | "symbol" | "unprintable"; readonly why: string };

export type TapeEntry = TapePlace & (TapeAction | TapeDelivery | { readonly type: "end" });

export type TapeEntryType = TapeEntry["type"];

/** Where an entry stands in its file, for messages. Lines count from 1, bytes from 0. */
export interface TapeSpot {
  readonly line: number;
  readonly offset: number;
}

/** A tape that has been read and checked. Plain data; any number of players may play it. */
export interface Tape {
  readonly header: TapeHeader;
  /** Without the last one, `end`, whose readings of the clock are in `last`. */
  readonly entries: readonly TapeEntry[];
  readonly spots: readonly TapeSpot[];
  /** The closing entry; missing when the tape is torn. */
  readonly last: (TapePlace & { readonly type: "end" }) | undefined;
  /** Why and where the tape breaks off, when it does. */
  readonly torn: string | undefined;
}
