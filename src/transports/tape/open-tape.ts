import { StartError } from "#domain";
import { isRecord, parseJson } from "#wire";
import { findEntryFault } from "./entry-check.ts";
import { type Tape, TAPE_LIMITS, type TapeEntry, type TapeHeader, type TapePlace, type TapePosition } from "./tape.ts";
import { createDigester, DIGEST_BYTES, TAPE_VERSION } from "./tape-line.ts";

export interface OpenTapeOptions {
  /** Accept a tape that breaks off, up to that point. Default false: it is refused. */
  readonly allowTorn?: boolean;
  /** Accept a tape that was edited by hand: its digest is not checked. Default false. */
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
  const reader = createLineReader(bytes);
  const header = readHeader(reader);
  const entries: TapeEntry[] = [];
  const spots: TapePosition[] = [];
  let last: Tape["last"];
  let torn: string | undefined;
  while (last === undefined && torn === undefined) {
    const spot = reader.spot();
    const read = reader.next();
    if (read.kind === "over") torn = `the tape breaks off before ${describePosition(spot)}: its end is missing`;
    else if (read.kind === "torn") torn = `the tape breaks off in ${describePosition(spot)}`;
    else {
      const fault = findEntryFault(read.value);
      if (fault !== undefined) throw faultAt(fault, spot);
      const entry = read.value as TapeEntry;
      if (entry.type === "end") {
        last = entry as TapePlace & { readonly type: "end" };
        if (options.allowEdited !== true && !isUnchanged(bytes.subarray(0, reader.spot().offset - 1), header)) {
          throw faultAt("the digest at its end does not fit, so something before it was changed, lost or moved", spot);
        }
      } else {
        entries.push(entry);
        spots.push(spot);
      }
    }
  }
  if (torn !== undefined && options.allowTorn !== true) {
    throw invalid(`The tape is torn: ${torn}. It can be played up to there with allowTorn.`);
  }
  const afterEnd = reader.spot();
  if (last !== undefined && reader.next().kind !== "over") throw faultAt("there is more after the end", afterEnd);
  return { header, entries, spots, last, torn };
}

type Line = { readonly kind: "value"; readonly value: unknown } | { readonly kind: "over" } | { readonly kind: "torn" };

interface TapeLines {
  /** The position of the next line. */
  spot(): TapePosition;
  next(): Line;
}

/** Tapes of version 1 have no digest, and the checksums of their lines are not verified. */
function isUnchanged(bytes: Uint8Array, { version }: TapeHeader): boolean {
  const from = Math.max(0, bytes.length - DIGEST_BYTES);
  const found = new TextDecoder().decode(bytes.subarray(from));
  if (version === 1 && !found.startsWith(',"digest":')) return true;
  const digester = createDigester();
  digester.add(bytes.subarray(0, from));
  return digester.end() === found;
}

function createLineReader(bytes: Uint8Array): TapeLines {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let offset = 0;
  let line = 1;
  return {
    spot: () => ({ line, offset }),
    next() {
      if (offset >= bytes.length) return { kind: "over" };
      const spot = { line, offset };
      const end = bytes.indexOf(LF, offset);
      // Lines are written whole, with their line end: one without it was being written when the recording broke off.
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
      return { kind: "value", value: parsed.value };
    },
  };
}

function readHeader(reader: TapeLines): TapeHeader {
  const spot = reader.spot();
  const read = readFirst(reader, spot);
  const value = read.kind === "value" ? read.value : undefined;
  if (!isRecord(value) || value["format"] !== "millrace-tape") {
    throw faultAt('this is not a tape: its first line does not say "format":"millrace-tape"', spot);
  }
  const { version } = value;
  if (version !== 1 && version !== TAPE_VERSION) {
    const found = (JSON.stringify(version) ?? "missing").slice(0, 40);
    throw faultAt(
      `the tape's version is ${found}; this millrace plays versions 1 and ${TAPE_VERSION}. Play it with the millrace that recorded it`,
      spot,
    );
  }
  const startedAt = value["startedAt"];
  if (typeof startedAt !== "number" || !Number.isFinite(startedAt)) throw faultAt("startedAt is not a number", spot);
  const program = Object.hasOwn(value, "program") ? value["program"] : undefined;
  return { format: "millrace-tape", version, startedAt, ...(program !== undefined && { program }) };
}

/** If the file is not a tape at all, the message says this first. */
function readFirst(reader: TapeLines, spot: TapePosition): Line {
  try {
    return reader.next();
  } catch (error) {
    throw faultAt(`this is not a tape, or its first line is damaged: ${messageOf(error)}`, spot);
  }
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^The tape cannot be played: /, "").replace(/\. See line 1 .*$/, "");
}

/** A position in the file, for people. */
export function describePosition({ line, offset }: TapePosition): string {
  return `line ${line} (byte ${offset})`;
}

function faultAt(what: string, spot: TapePosition): StartError {
  return invalid(`The tape cannot be played: ${what}. See ${describePosition(spot)}.`);
}

function invalid(message: string): StartError {
  return new StartError("invalid-tape", message);
}
