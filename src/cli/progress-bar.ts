import type { Output } from "./io.ts";

const WIDTH = 24;
const CLEAR_LINE = "\r\u001b[K";

/** Shows how far a long operation is, on one line of a terminal; elsewhere nothing. */
export function progressBar(output: Output): {
  show(progress: { readonly phase: string; readonly done: number; readonly total: number }): void;
  clear(): void;
} {
  let shown = "";
  return {
    show({ phase, done, total }) {
      if (!output.isTerminal) return;
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const full = Math.floor(share * WIDTH);
      const line = `${phase} ${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${Math.floor(share * 100)} %`;
      if (line === shown) return;
      shown = line;
      output.write(`${CLEAR_LINE}${line}`);
    },
    clear() {
      if (shown !== "") output.write(CLEAR_LINE);
      shown = "";
    },
  };
}
