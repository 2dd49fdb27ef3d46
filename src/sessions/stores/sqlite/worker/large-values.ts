import { type Connection, MissingPart } from "./connection.ts";
import type { AssemblyStep, SplitBody } from "./requests.ts";

/** Longer JSON is transferred in pieces of this size. */
const PIECE_CHARACTERS = 65_536;

/** How many pieces are read from the database at a time. */
const PAGE_PIECES = 4;

/** Whether the body of a row is split into parts. */
export function isSplit(body: string): boolean {
  return body.startsWith("[");
}

/**
 * The steps that rebuild a large value. Pieces are read from the database when their step is requested, and JSON is not
 * parsed here: a value with very many members takes a multiple of its JSON text.
 */
export function* largeValueSteps(connection: Connection, body: string): Generator<AssemblyStep, undefined> {
  if (!isSplit(body)) return yield* cut(body);
  const [, ...parts] = JSON.parse(body) as SplitBody;
  const sent = new Set<number>();
  for (const part of parts) {
    if (typeof part === "string") yield* cut(part);
    else if ("json" in part) {
      for (const piece of readPieces(connection, part.json, part.pieces)) yield ["json", piece];
    } else {
      // A string that occurs several times is transferred once.
      if (!sent.has(part.text)) {
        for (const piece of readPieces(connection, part.text, part.pieces)) {
          yield ["piece", part.text, JSON.parse(`"${piece}"`) as string];
        }
      }
      sent.add(part.text);
      yield ["text", part.text];
    }
  }
  return undefined;
}

function* cut(json: string): Generator<AssemblyStep, undefined> {
  for (let from = 0; from < json.length; from += PIECE_CHARACTERS) {
    yield ["json", json.slice(from, from + PIECE_CHARACTERS)];
  }
  return undefined;
}

function* readPieces(connection: Connection, part: number, pieces: number): Generator<string, undefined> {
  for (let from = 0; from < pieces; from += PAGE_PIECES) {
    const found = connection.statement("pieces").all(part, from, PAGE_PIECES) as { readonly body: string }[];
    if (found.length < Math.min(PAGE_PIECES, pieces - from)) throw new MissingPart();
    for (const { body } of found) yield body;
  }
  return undefined;
}
