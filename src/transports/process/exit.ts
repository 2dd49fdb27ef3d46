import type { ChildProcess } from "node:child_process";
import type { Clock, ProcessExit } from "#domain";
import type { ReadableBytes } from "../readable-bytes.ts";

/**
 * Resolves when the process has exited and its streams have ended; never rejects.
 *
 * After the exit a stream may stay open, because another process that it started holds it. A stream that is silent for
 * `silenceMs` while its reader waits is closed. A stream with a slow reader is left alone: it may still contain bytes.
 */
export function watchExit(
  child: ChildProcess,
  streams: readonly ReadableBytes[],
  { clock, silenceMs }: { readonly clock: Clock; readonly silenceMs: number },
): Promise<ProcessExit> {
  return new Promise((resolve) => {
    let stopWatching = (): void => undefined;
    child.on("exit", () => {
      stopWatching = closeWhenSilent(streams, clock, silenceMs);
    });
    child.on("close", (code: number | null, signal: NodeJS.Signals | null) => {
      stopWatching();
      resolve({ code, signal });
    });
  });
}

/** Returns a function that ends the watch. */
function closeWhenSilent(streams: readonly ReadableBytes[], clock: Clock, silenceMs: number): () => void {
  const seen = streams.map((stream) => ({ stream, received: -1, quiet: 0 }));
  const look = (): void => {
    for (const entry of seen) {
      const { state, receivedBytes } = entry.stream;
      const isQuiet = state !== "over" && state !== "busy" && receivedBytes === entry.received;
      entry.quiet = isQuiet ? entry.quiet + 1 : 0;
      entry.received = receivedBytes;
      if (entry.quiet === 2) entry.stream.destroy();
    }
    stop = clock.after(silenceMs / 2, look);
  };
  // Check twice, at half the time: a timer that is late because our event loop was blocked fires before the bytes that
  // arrived meanwhile are read.
  for (const entry of seen) entry.received = entry.stream.receivedBytes;
  let stop = clock.after(silenceMs / 2, look);
  return () => stop();
}
