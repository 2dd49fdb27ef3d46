/** The limits of tapes. */
export const TAPE_LIMITS = {
  /** A recording stops here; what was recorded until then can be played as a torn tape. */
  recordedBytes: 268_435_456,
  /** A larger file is not opened. */
  fileBytes: 536_870_912,
  /** A longer line is not read. */
  lineBytes: 67_108_864,
  /** A longer text that goes out or comes back is kept as its length and a sum, or not at all. */
  keptCharacters: 16_777_216,
  /** Entries that wait for a piece which is not settled yet. */
  waitingEntries: 512,
} as const;
