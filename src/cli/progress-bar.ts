import { plainLine } from "#sinks";
import type { Output } from "./io.ts";

/** A bar on the last line of a terminal, for work with a known length. Nothing is written to what is no terminal. */
export interface ProgressBar {
  /** `about` stands behind the bar. */
  show(finished: number, total: number, about: string): void;
  /** Takes the bar off the screen. */
  clear(): void;
}

const BAR_WIDTH = 24;
const ERASE_LINE = "\r\u001b[K";

export function createProgressBar(output: Output): ProgressBar {
  let isDrawn = false;
  return {
    show(finished, total, about) {
      if (!output.isTerminal) return;
      const full = total === 0 ? BAR_WIDTH : Math.floor((finished / total) * BAR_WIDTH);
      const bar = `${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)}`;
      // One column less: a full line would make some terminals begin the next.
      output.write(`${ERASE_LINE}${plainLine(`${bar} ${finished}/${total} ${about}`, output.columns - 1)}`);
      isDrawn = true;
    },
    clear() {
      if (isDrawn) output.write(ERASE_LINE);
      isDrawn = false;
    },
  };
}
