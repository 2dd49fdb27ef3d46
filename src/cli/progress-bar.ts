import { plainLine } from "#sinks";
import { canErase, type CommandIo } from "./io.ts";

/** A bar on the last line of a terminal, for work of a known length. Writes nothing where a line cannot be erased. */
export interface ProgressBar {
  /** Shows how much of the work is done, between two texts. */
  show(done: number, total: number, texts: { readonly before?: string; readonly after: string }): void;
  /** Removes the bar from the screen. */
  clear(): void;
}

const MAX_BAR_WIDTH = 24;
/**
 * Columns left free after the bar: a full line would make some terminals start the next one, and Ctrl-C is echoed
 * there.
 */
const ROOM = 3;
const ERASE_LINE = "\r\u001b[K";

export function createProgressBar(io: Pick<CommandIo, "err" | "world">): ProgressBar {
  const { err } = io;
  let shown = "";
  return {
    show(done, total, { before = "", after }) {
      if (!canErase(io)) return;
      const width = Math.min(MAX_BAR_WIDTH, Math.floor(err.columns / 4));
      const full = total === 0 ? width : Math.min(width, Math.floor((done / total) * width));
      const bar = `${"█".repeat(full)}${"░".repeat(width - full)}`;
      const line = plainLine(`${before}${bar} ${after}`, err.columns - ROOM);
      if (line === shown) return;
      shown = line;
      err.write(`${ERASE_LINE}${line}`);
    },
    clear() {
      if (shown !== "") err.write(ERASE_LINE);
      shown = "";
    },
  };
}
