import type { HeldPiece, StreamMask } from "#secrets";
import { TAPE_LIMITS, type TapeAction, type TapeDelivery, type TapeHeader, type TapePlace } from "./tape.ts";
import { createDigester, keepBytes } from "./tape-line.ts";

/** An entry that is a piece of a stream; its bytes follow when they are final. */
export interface PieceEntry {
  readonly type: "body" | "stdin" | "stdout" | "stderr";
  readonly id: number;
}

/** Writes the lines of a tape in order. Never throws: a failed recording does not affect the run. */
export interface TapeLog {
  add(entry: TapeAction | TapeDelivery, place: TapePlace): void;
  /**
   * Adds a piece at its place in the order; it is written as soon as no part of it can still turn out to be a secret.
   */
  addPiece(entry: PieceEntry, place: TapePlace, bytes: Uint8Array, mask: StreamMask): void;
  /** Writes the pending entries that can be written. */
  flush(): void;
  /** Writes everything, then the end. Later entries are dropped. */
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
  const digester = createDigester();
  let written = 0;
  let isOver = false;
  let failed: { readonly error: unknown } | undefined;

  const put = (value: object, isLast = false): void => {
    if (failed !== undefined) return;
    try {
      const text = JSON.stringify(value);
      const line = isLast ? text.slice(0, -1) : `${text}\n`;
      written += line.length;
      if (written > maxBytes) throw new Error(`The recording has reached ${maxBytes} bytes and stopped there.`);
      digester.add(line);
      write(isLast ? `${line}${digester.end()}\n` : line);
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
    // Masking too much is better than letting memory grow with other activity.
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
      put({ ...place, type: "end" }, true);
    },
    get failure() {
      return failed?.error;
    },
  };
}
