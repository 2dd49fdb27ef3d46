import { foldLine } from "#sinks";
import type { CommandIo } from "./io.ts";

/** Writes lines to stderr; on a terminal they end between words. They must be plain already. */
export function say(text: string, io: Pick<CommandIo, "err">): void {
  const columns = io.err.columns;
  const lines = text.split("\n").map((line) => (io.err.isTerminal ? foldLine(line, columns, 0) : line));
  io.err.write(`${lines.join("\n")}\n`);
}
