import { StoreError } from "../store-error.ts";
import type { CommitQueue } from "./commit-queue.ts";
import type { LargeBodyWriter } from "./large-bodies.ts";
import type { Reader } from "./reads.ts";
import type { WorkStep } from "./worker/requests.ts";

export interface FilesParts {
  readonly queue: CommitQueue;
  readonly reader: Reader;
  readonly large: LargeBodyWriter;
}

type Guard = (write: () => Promise<unknown>) => Promise<unknown>;

/** The size of one row: 64 K characters of base64. */
const PIECE_BYTES = 49_152;

/** How many pieces are encoded and written, or read, before yielding to the event loop. */
const TURN_PIECES = 3;

/** Parts of files belong to no run. The keys of runs begin at 1. */
const NO_RUN = 0;

/**
 * Keeps files as parts, in pieces of base64: both drivers of SQLite bind and return text in the same way. The pieces
 * are written before the row that refers to them; those that a killed program left behind are removed at the next
 * start.
 */
export class Files {
  private readonly _parts: FilesParts;
  /** By name, the last call that changes the file: the next one waits for it, so that the last call counts. */
  private readonly _turns = new Map<string, Promise<unknown>>();

  constructor(parts: FilesParts) {
    this._parts = parts;
  }

  /** The write that makes the file appear under its name is made by `guard`, which may refuse it. */
  keep(name: string, data: Uint8Array, guard: Guard = (write) => write()): Promise<void> {
    return this._inTurn(name, () => this._write(name, data, guard));
  }

  remove(name: string): Promise<boolean> {
    return this._inTurn(name, async () => {
      const work: WorkStep[] = [
        ["some", "file", name],
        ["run", "removeFile", name],
      ];
      return (await this._parts.queue.add({ work })).refusedAt === undefined;
    });
  }

  async find(name: string): Promise<Uint8Array | undefined> {
    for (let failed: number | undefined; ; ) {
      const row = await this._parts.reader.first("file", name);
      if (row === undefined) return undefined;
      const part = Number(row["part"]);
      const data = await this._read(part, Number(row["bytes"]));
      if (data !== undefined) return data;
      // Usually it was replaced or removed meanwhile.
      if (part === failed) throw new StoreError("store-failed", `The file ${name} in the database is damaged.`);
      failed = part;
    }
  }

  /** Resolves when no change is on its way. */
  async drain(): Promise<void> {
    await Promise.allSettled(this._turns.values());
  }

  private _inTurn<Value>(name: string, change: () => Promise<Value>): Promise<Value> {
    const changed = (this._turns.get(name) ?? Promise.resolve()).then(change, change);
    this._turns.set(name, changed);
    const forget = (): void => void (this._turns.get(name) === changed && this._turns.delete(name));
    changed.then(forget, forget);
    return changed;
  }

  private async _write(name: string, data: Uint8Array, guard: Guard): Promise<void> {
    const { queue, large } = this._parts;
    const part = large.nextPart();
    let work: WorkStep[] = [["run", "addPart", part, NO_RUN]];
    try {
      for (let piece = 0; piece * PIECE_BYTES < data.length; piece += 1) {
        if (work.length > TURN_PIECES) {
          await queue.add({ work });
          work = [];
        }
        work.push(["run", "addPiece", part, piece, encodePiece(data, piece * PIECE_BYTES)]);
      }
      work.push(["run", "keepPart", data.length, part], ["run", "setFile", name, part, data.length]);
      const last = work;
      await guard(() => queue.add({ work: last }));
    } catch (error) {
      // If this fails too, the part is removed at the next start.
      queue.add({ work: [["run", "dropPart", part]] }).catch(() => undefined);
      throw error;
    }
  }

  /** `undefined` if a piece is missing. */
  private async _read(part: number, bytes: number): Promise<Uint8Array | undefined> {
    const data = new Uint8Array(bytes);
    for (let at = 0; at < bytes; ) {
      const rows = await this._parts.reader.all("pieces", part, Math.ceil(at / PIECE_BYTES), TURN_PIECES);
      if (rows.length === 0) return undefined;
      for (const { body } of rows) {
        const piece = Buffer.from(String(body), "base64");
        if (at + piece.length > bytes || piece.length === 0) return undefined;
        data.set(piece, at);
        at += piece.length;
      }
    }
    return data;
  }
}

function encodePiece(data: Uint8Array, from: number): string {
  const end = Math.min(data.length, from + PIECE_BYTES);
  return Buffer.from(data.buffer, data.byteOffset + from, end - from).toString("base64");
}
