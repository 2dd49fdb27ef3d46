import { type Chunk, describeThrown } from "#domain";
import type { Decoder } from "#dialects";
import type { CliProcess } from "../cli-process.ts";

/**
 * How many bytes are read ahead of readers that lag. Control messages are mixed with the events and must be answered
 * even if the events are not read, so reading continues for a while, but not without limit (C20, I10).
 */
export const READ_AHEAD_BYTES = 8 * 1024 * 1024;

/** Receives decoded chunks. A promise: readers lag; it resolves when they have caught up. */
export type TakeChunks = (chunks: Chunk[]) => Promise<void> | undefined;

/**
 * Reads a process's output to its end, or until nothing more can be decoded. Never rejects: an output that breaks is an
 * output that ends, and `outputFailure` contains the reason.
 */
export async function pumpOutput(
  process: Pick<CliProcess, "stdout" | "outputFailure" | "cover">,
  decoder: Decoder,
  take: TakeChunks,
): Promise<void> {
  const lag = createLag();
  try {
    for await (const bytes of process.stdout) {
      const wait = lag.note(bytes.length, take(decoder.push(bytes)));
      if (wait !== undefined) await wait;
      if (decoder.isOver) return;
    }
  } catch (error) {
    process.outputFailure = process.cover(describeThrown(error));
  }
}

/** Counts what was read while readers lag; returns a promise when it is time to wait for them. */
function createLag() {
  let behind = 0;
  let latest: Promise<void> | undefined;
  return {
    note(bytes: number, room: Promise<void> | undefined): Promise<void> | undefined {
      if (room !== undefined) {
        latest = room;
        room.then(
          () => {
            if (latest !== room) return;
            latest = undefined;
            behind = 0;
          },
          () => undefined,
        );
      }
      if (latest === undefined) return undefined;
      behind += bytes;
      return behind < READ_AHEAD_BYTES ? undefined : latest;
    },
  };
}
