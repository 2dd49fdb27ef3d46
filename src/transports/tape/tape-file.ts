import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from "node:fs";
import { describeThrown, StartError } from "#domain";
import { type OpenTapeOptions, openTape } from "./open-tape.ts";
import type { Tape } from "./tape.ts";
import { TAPE_LIMITS } from "./tape-limits.ts";

// A link planted at our path would send the bytes elsewhere (SEC19); Windows has neither the flag nor the danger.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const OWNER_ONLY = 0o600;

/** Reads a tape from a file. @throws StartError `invalid-tape`. */
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
    throw new StartError("invalid-tape", `The tape ${path} cannot be read: ${describeThrown(error)}. Check the path.`, {
      cause: error,
    });
  }
  try {
    return openTape(bytes, options);
  } catch (error) {
    throw new StartError("invalid-tape", `${path}: ${describeThrown(error)}`, { cause: error });
  }
}

/** A file a tape is written to. */
export interface TapeFile {
  /** Puts a line behind the others, at once: what was recorded survives whatever happens to the process. */
  write(line: string): void;
  /** Idempotent. */
  close(): void;
}

/**
 * Makes a new file for a tape, readable by its owner alone. Nothing that is there is written over or followed.
 *
 * @throws StartError `invalid-option`.
 */
export function createTapeFile(path: string): TapeFile {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, OWNER_ONLY);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    const why =
      code === "EEXIST" ? "there is something already" : code === "ENOENT" ? "there is no such folder" : `${code}`;
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
