import { displayWidth, foldLine } from "#sinks";
import type { CommandIo, Output } from "./io.ts";

/** Writes lines to stderr; on a terminal they end between words. They must be plain already. */
export function say(text: string, io: Pick<CommandIo, "err">): void {
  io.err.write(`${foldText(text, io.err)}\n`);
}

/** The same text; what is longer than a terminal is wide goes on in the next line, as far in as it began. */
export function foldText(text: string, { isTerminal, columns }: Output): string {
  if (!isTerminal) return text;
  const fold = (line: string): string => {
    if (displayWidth(line) <= columns) return line;
    const [indent = ""] = /^ */.exec(line) ?? [];
    return indent + foldLine(line.slice(indent.length), columns, indent.length);
  };
  return text.split("\n").map(fold).join("\n");
}
