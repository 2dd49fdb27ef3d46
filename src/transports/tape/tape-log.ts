import type { HeldPiece, StreamMask } from "#secrets";
import type { TapeAction, TapeDelivery, TapeHeader, TapePlace } from "./tape.ts";
import { FIRST_SEAL, keepBytes, writeLine } from "./tape-line.ts";
import { TAPE_LIMITS } from "./tape-limits.ts";

/** An entry that is a piece of a stream: what it is, and the bytes once they are settled. */
export interface PieceEntry {
  readonly type: "body" | "stdin" | "stdout" | "stderr";
  readonly id: number;
}

/** Writes the lines of a tape in order. Never throws: a recording that fails changes nothing for the run. */
export interface TapeLog {
  add(entry: TapeAction | TapeDelivery, place: TapePlace): void;
  /** A piece keeps its place in the order, and is written when nothing in it can turn out to be a secret any more. */
  addPiece(entry: PieceEntry, place: TapePlace, bytes: Uint8Array, mask: StreamMask): void;
  /** Writes what waits and can be written. */
  flush(): void;
  /** Writes everything, then the end. What comes later is dropped. */
  end(place: TapePlace): void;
  /** Why the recording stopped before its end. */
  readonly failure: unknown;
}

interface Waiting {
  readonly render: () => object;
  readonly piece: HeldPiece | undefined;
  readonly mask: StreamMask | undefined;
}

export function createTapeLog(
  header: TapeHeader,
  write: (line: string) => void,
  maxBytes: number = TAPE_LIMITS.recordedBytes,
): TapeLog {
  const waiting: Waiting[] = [];
  let seal = FIRST_SEAL;
  let written = 0;
  let isOver = false;
  let failed: { readonly error: unknown } | undefined;

  const put = (value: object): void => {
    if (failed !== undefined) return;
    try {
      const made = writeLine(value, seal);
      written += made.line.length;
      if (written > maxBytes) throw new Error(`The recording has reached ${maxBytes} bytes and stopped there.`);
      write(made.line);
      seal = made.seal;
    } catch (error) {
      failed = { error };
      waiting.length = 0;
    }
  };

  const flush = (): void => {
    let count = 0;
    for (const { piece, render } of waiting) {
      if (piece !== undefined && !piece.isSettled) break;
      put(render());
      count += 1;
    }
    waiting.splice(0, count);
    if (waiting.length <= TAPE_LIMITS.waitingEntries) return;
    // Rather too much is covered than that memory grows with what others do meanwhile.
    waiting[0]?.mask?.settle(false);
    flush();
  };

  const enqueue = (one: Waiting): void => {
    if (failed !== undefined || isOver) return;
    waiting.push(one);
    flush();
  };

  put(header);
  return {
    add(entry, place) {
      enqueue({ render: () => ({ ...place, ...entry }), piece: undefined, mask: undefined });
    },
    addPiece(entry, place, bytes, mask) {
      const piece = mask.push(bytes);
      enqueue({ render: () => ({ ...place, ...entry, ...keepBytes(piece.bytes) }), piece, mask });
    },
    flush,
    end(place) {
      for (const { mask } of waiting) mask?.settle(false);
      flush();
      isOver = true;
      put({ ...place, type: "end" });
    },
    get failure() {
      return failed?.error;
    },
  };
}
