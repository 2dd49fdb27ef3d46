import { plainLine } from "#sinks";
import type { Output } from "./io.ts";

/** A bar on the last line of a terminal, for work with a known length. Nothing is written to what is no terminal. */
export interface ProgressBar {
  /** `about` stands behind the bar. */
  show(finished: number, total: number, about: string): void;
  /** Takes the bar off the screen. */
  clear(): void;
}

const MAX_BAR_WIDTH = 24;
/** Left free behind the bar: a full line would make some terminals begin the next, and Ctrl-C is echoed there. */
const ROOM = 3;
const ERASE_LINE = "\r\u001b[K";

export function createProgressBar(output: Output): ProgressBar {
  let isDrawn = false;
  return {
    show(finished, total, about) {
      if (!output.isTerminal) return;
      const width = Math.min(MAX_BAR_WIDTH, Math.floor(output.columns / 4));
      const full = total === 0 ? width : Math.floor((finished / total) * width);
      const bar = `${"█".repeat(full)}${"░".repeat(width - full)}`;
      output.write(`${ERASE_LINE}${plainLine(`${bar} ${finished}/${total} ${about}`, output.columns - ROOM)}`);
      isDrawn = true;
    },
    clear() {
      if (isDrawn) output.write(ERASE_LINE);
      isDrawn = false;
    },
  };
}
