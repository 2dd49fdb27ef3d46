import type { TapeEntry } from "../tape.ts";

/** An entry of one process, and where it stands on the tape. */
export interface ProcessEntryAt {
  readonly entry: Extract<TapeEntry, { readonly id: number }>;
  readonly index: number;
}
