import { displayWidth, foldLine } from "#sinks";
import type { CommandIo, Output } from "./io.ts";

/** Writes lines to stderr, wrapped at words on a terminal. The text must be plain already. */
export function say(text: string, io: Pick<CommandIo, "err">): void {
  io.err.write(`${foldText(text, io.err)}\n`);
}

/** Folds lines that are wider than the terminal; continuation lines keep the indent. */
export function foldText(text: string, { isTerminal, columns }: Output): string {
  if (!isTerminal) return text;
  const fold = (line: string): string => {
    if (displayWidth(line) <= columns) return line;
    const [indent = ""] = /^ */.exec(line) ?? [];
    return indent + foldLine(line.slice(indent.length), columns, indent.length);
  };
  return text.split("\n").map(fold).join("\n");
}
