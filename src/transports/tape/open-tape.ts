import { StartError } from "#domain";
import { isRecord, parseJson } from "#wire";
import { findEntryFault } from "./entry-check.ts";
import type { Tape, TapeEntry, TapeHeader, TapePlace, TapeSpot } from "./tape.ts";
import { FIRST_SEAL, readSeal } from "./tape-line.ts";
import { TAPE_LIMITS } from "./tape-limits.ts";

export interface OpenTapeOptions {
  /** Take a tape that breaks off, up to where it does. Default false: it is refused. */
  readonly allowTorn?: boolean;
  /** Take a tape that was changed by hand: its seals are not looked at. Default false. */
  readonly allowEdited?: boolean;
}

const LF = 0x0a;

/**
 * Reads a tape and checks all of it.
 *
 * @throws StartError `invalid-tape` naming what is wrong, the line (from 1) and the byte (from 0).
 * @example
 * const { header, entries } = openTape(await readFile("bug.tape"))
 */
export function openTape(bytes: Uint8Array, options: OpenTapeOptions = {}): Tape {
  if (bytes.length > TAPE_LIMITS.fileBytes) {
    throw invalid(`The tape has ${bytes.length} bytes, more than the ${TAPE_LIMITS.fileBytes} a tape may have.`);
  }
  const reader = createLineReader(bytes, options.allowEdited === true);
  const header = readHeader(reader);
  const entries: TapeEntry[] = [];
  const spots: TapeSpot[] = [];
  let last: Tape["last"];
  let torn: string | undefined;
  while (last === undefined && torn === undefined) {
    const spot = reader.spot();
    const read = reader.next();
    if (read.kind === "over") torn = `the tape breaks off before ${describeSpot(spot)}: its end is missing`;
    else if (read.kind === "torn") torn = `the tape breaks off in ${describeSpot(spot)}`;
    else {
      const fault = findEntryFault(read.value);
      if (fault !== undefined) throw faultAt(fault, spot);
      const entry = read.value as TapeEntry;
      if (entry.type === "end") last = entry as TapePlace & { readonly type: "end" };
      else {
        entries.push(entry);
        spots.push(spot);
      }
    }
  }
  if (torn !== undefined && options.allowTorn !== true) {
    throw invalid(`The tape is torn: ${torn}. It can be played up to there with allowTorn.`);
  }
  const behind = reader.spot();
  if (last !== undefined && reader.next().kind !== "over") throw faultAt("there is more behind the end", behind);
  return { header, entries, spots, last, torn };
}

type Line = { readonly kind: "value"; readonly value: unknown } | { readonly kind: "over" } | { readonly kind: "torn" };

interface TapeLines {
  /** Where the next line begins. */
  spot(): TapeSpot;
  next(): Line;
}

function createLineReader(bytes: Uint8Array, allowEdited: boolean): TapeLines {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let offset = 0;
  let line = 1;
  let seal = FIRST_SEAL;
  return {
    spot: () => ({ line, offset }),
    next() {
      if (offset >= bytes.length) return { kind: "over" };
      const spot = { line, offset };
      const end = bytes.indexOf(LF, offset);
      // Lines are written whole, with their end: one without it was being written when the recording broke off.
      if (end === -1) {
        offset = bytes.length;
        return { kind: "torn" };
      }
      if (end - offset > TAPE_LIMITS.lineBytes) {
        throw faultAt(`the line has more than the ${TAPE_LIMITS.lineBytes} bytes a line may have`, spot);
      }
      let text: string;
      try {
        text = decoder.decode(bytes.subarray(offset, end));
      } catch {
        throw faultAt("the line is not UTF-8", spot);
      }
      offset = end + 1;
      line += 1;
      const parsed = parseJson(text);
      if (parsed.fault !== undefined) throw faultAt(`the line is not JSON (${parsed.fault})`, spot);
      if (!allowEdited) {
        const { found, expected } = readSeal(text, seal);
        if (found !== expected) {
          throw faultAt("the seal does not fit, so this line or the one before it was changed, lost or moved", spot);
        }
        seal = found;
      }
      return { kind: "value", value: parsed.value };
    },
  };
}

function readHeader(reader: TapeLines): TapeHeader {
  const spot = reader.spot();
  const read = readFirst(reader, spot);
  const value = read.kind === "value" ? read.value : undefined;
  if (!isRecord(value) || value["format"] !== "millrace-tape") {
    throw faultAt('this is no tape: its first line does not say "format":"millrace-tape"', spot);
  }
  if (value["version"] !== 1) {
    const version = JSON.stringify(value["version"]) ?? "missing";
    throw faultAt(`the tape's version is ${version.slice(0, 40)}; this program plays version 1`, spot);
  }
  const startedAt = value["startedAt"];
  if (typeof startedAt !== "number" || !Number.isFinite(startedAt)) throw faultAt("startedAt is no number", spot);
  const program = Object.hasOwn(value, "program") ? value["program"] : undefined;
  return { format: "millrace-tape", version: 1, startedAt, ...(program !== undefined && { program }) };
}

/** What is no tape at all is not told that its seal is wrong. */
function readFirst(reader: TapeLines, spot: TapeSpot): Line {
  try {
    return reader.next();
  } catch (error) {
    throw faultAt(`this is no tape, or its first line is damaged: ${messageOf(error)}`, spot);
  }
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^The tape cannot be played: /, "").replace(/\. See line 1 .*$/, "");
}

/** Where something stands in the file, for people. */
export function describeSpot({ line, offset }: TapeSpot): string {
  return `line ${line} (byte ${offset})`;
}

function faultAt(what: string, spot: TapeSpot): StartError {
  return invalid(`The tape cannot be played: ${what}. See ${describeSpot(spot)}.`);
}

function invalid(message: string): StartError {
  return new StartError("invalid-tape", message);
}
