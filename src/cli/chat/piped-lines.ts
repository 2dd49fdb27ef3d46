import { createInterface } from "node:readline";
import type { ChatLines } from "./lines.ts";

/** The number of buffered lines above which the pipe is paused. */
const MAX_WAITING = 1000;

/** The lines of a pipe or a file. */
export function createPipedLines(input: NodeJS.ReadableStream): ChatLines {
  const reader = createInterface({ input, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
  const waiting: string[] = [];
  let isOver = false;
  let wake: (() => void) | undefined;
  let listener: ((line: string) => boolean) | undefined;

  reader.on("line", (line) => {
    if (listener?.(line) === true) return;
    waiting.push(line);
    if (waiting.length > MAX_WAITING) reader.pause();
    wake?.();
  });
  const ended = new Promise<void>((resolve) => {
    reader.on("close", () => {
      isOver = true;
      wake?.();
      resolve();
    });
  });
  return {
    async next() {
      while (waiting.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const line = waiting.shift();
      if (waiting.length === 0 && !isOver) reader.resume();
      return line;
    },
    listen(visit) {
      listener = visit;
      return () => {
        listener = undefined;
      };
    },
    close() {
      waiting.length = 0;
      reader.close();
    },
    ended,
    wasLeft: false,
  };
}
