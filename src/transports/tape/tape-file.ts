import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from "node:fs";
import { describeReadFailure, describeThrown, describeWriteFailure, StartError } from "#domain";
import { type OpenTapeOptions, openTape } from "./open-tape.ts";
import { type Tape, TAPE_LIMITS } from "./tape.ts";

// A link planted at our path would redirect the bytes (SEC19); Windows has neither the flag nor the danger.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const OWNER_ONLY = 0o600;

/**
 * Reads a tape from a file.
 * @throws StartError `invalid-tape`.
 */
export function readTape(path: string, options: OpenTapeOptions = {}): Tape {
  let bytes: Uint8Array;
  try {
    const file = openSync(path, constants.O_RDONLY);
    try {
      const { size } = fstatSync(file);
      if (size > TAPE_LIMITS.fileBytes) throw new Error(`it has ${size} bytes, more than a tape may have`);
      bytes = readFileSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const why = describeReadFailure(error);
    throw new StartError("invalid-tape", `The tape ${path} cannot be read: ${why}. Check the path.`, { cause: error });
  }
  try {
    return openTape(bytes, options);
  } catch (error) {
    throw new StartError("invalid-tape", `${path}: ${describeThrown(error)}`, { cause: error });
  }
}

/** The file of a tape. */
export interface TapeFile {
  /** Appends a line synchronously, so that everything recorded survives a crash of the process. */
  write(line: string): void;
  /** Idempotent. */
  close(): void;
}

/**
 * Creates a new file for a tape, readable only by its owner. An existing file is not overwritten, and a link is not
 * followed.
 *
 * @throws StartError `invalid-option`.
 */
export function createTapeFile(path: string): TapeFile {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, OWNER_ONLY);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    const why = isThere ? "it already exists" : describeWriteFailure(error);
    throw new StartError("invalid-option", `record is "${path}", but ${why}. Give the path of a new file.`, {
      cause: error,
    });
  }
  return {
    write(line) {
      if (file !== undefined) writeSync(file, line);
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
