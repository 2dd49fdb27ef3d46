import type { ProcessExit } from "#domain";

/** The first line of a tape. */
export interface TapeHeader {
  readonly format: "millrace-tape";
  readonly version: 1 | 2;
  /** When the recording began, in milliseconds since 1970. All other times on the tape are relative to it. */
  readonly startedAt: number;
  /** What was run, as data, so that a replay can run the same. The tape itself does not interpret it. */
  readonly program?: unknown;
}

/** A recorded failure: enough to rebuild an equivalent error. */
export interface TapeFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly host?: string;
  readonly answered?: boolean;
}

/** Recorded bytes: as text if they are UTF-8. */
export type TapeBytes = { readonly text: string } | { readonly base64: string };

/** The fields that every entry has. */
export interface TapePlace {
  /** Milliseconds since the start. */
  readonly at: number;
  /** The clock readings since the previous entry, in milliseconds since the start. */
  readonly now?: readonly number[];
  /** The random ids and numbers drawn since the previous entry. */
  readonly ids?: readonly string[];
  readonly draws?: readonly number[];
}

/** Actions of the program on the outside world. `id` identifies the exchange or the process. */
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

/** Identifies data that is too large to store, by its length and its SHA-256. */
export interface TapeDigest {
  readonly length: number;
  readonly sum: string;
}

/** Deliveries from the outside world to the program. */
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

/** The answer of one of the caller's callbacks. `odd`: the kind of a value that is not JSON. */
export type TapeAnswer =
  | { readonly value?: unknown }
  | { readonly failure: TapeFailure }
  | { readonly odd: "function" | "symbol" | "unprintable"; readonly why: string };

export type TapeEntry = TapePlace & (TapeAction | TapeDelivery | { readonly type: "end" });

export type TapeEntryType = TapeEntry["type"];

/** The position of an entry in its file, for messages. Lines count from 1, bytes from 0. */
export interface TapePosition {
  readonly line: number;
  readonly offset: number;
}

/** A tape that has been read and checked. Plain data; any number of players may replay it. */
export interface Tape {
  readonly header: TapeHeader;
  /** Without the last one, `end`; that is in `last`. */
  readonly entries: readonly TapeEntry[];
  readonly spots: readonly TapePosition[];
  /** The closing entry; missing when the tape is torn. */
  readonly last: (TapePlace & { readonly type: "end" }) | undefined;
  /** Why and where the tape breaks off, if it does. */
  readonly torn: string | undefined;
}

/** The limits of tapes. */
export const TAPE_LIMITS = {
  /** A recording stops at this size; what was recorded so far can be replayed as a torn tape. */
  recordedBytes: 268_435_456,
  /** Larger files are not opened. */
  fileBytes: 536_870_912,
  /** Longer lines are not read. */
  lineBytes: 67_108_864,
  /** Longer texts, sent or received, are stored as their length and a checksum, or not at all. */
  keptCharacters: 16_777_216,
  /** How many entries may wait for a piece that is not final yet. */
  waitingEntries: 512,
} as const;
