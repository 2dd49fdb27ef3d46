import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { displayWidth } from "#sinks";
import type { CommandIo, Output } from "../io.ts";
import { filterKeys, PASTE_MARKS_OFF, PASTE_MARKS_ON, PASTED_LINE_END } from "./pasted-text.ts";

const HISTORY_SIZE = 500;
/** Escape sequences for cursor and colours, as far as we write them ourselves. */
const CODES = /\u001b\[[\d;?]*[A-Za-z]/g;
const FIRST_LINE_END = /^((?:\u001b\[[\d;?]*[A-Za-z])*)\n/;

export interface InputLineEvents {
  /** Enter sent a line. */
  onLine(text: string): void;
  /** Ctrl-C; `typed` is the current text of the line. */
  onInterrupt(typed: string): void;
  /** Ctrl-D on an empty line, or the terminal is gone. */
  onEnd(): void;
}

/** The line for typing, below all output. */
export interface InputLine {
  /** The same command line, with its outputs above the line. */
  readonly io: CommandIo;
  /** Shows the line after a prompt, even if it is empty, until a line is sent. */
  open(prompt: string): void;
  /** From now on the line is shown only while it has text. */
  close(): void;
  /** Removes the text from the line and returns it; `put` restores it. */
  take(): string;
  put(text: string): void;
  /** Adds a line to the history, or removes it. */
  remember(text: string): void;
  forget(text: string): void;
  /** Restores the terminal. */
  end(): void;
}

/**
 * Creates the input line of a chat, with an editor, a history and completion. The terminal is in raw mode all the time,
 * so that text typed while an answer arrives is neither echoed into it nor lost at Ctrl-C. While there is text, the
 * line is below the answer; each piece of the answer hides the line and shows it again.
 */
export function createInputLine(io: CommandIo, names: readonly string[], events: InputLineEvents): InputLine {
  const isDumb = io.world.env["TERM"] === "dumb";
  /** Whether it is shown even if it is empty. */
  let isOpen = false;
  let isShown = false;
  let isMuted = false;
  let isOver = false;
  let redraw: NodeJS.Immediate | undefined;
  /** The column at which the output above the line ends. */
  let column = 0;
  /** The output above filled its last row, and the cursor is on the row below: a line end would leave that one empty. */
  let isBelowFullRow = false;

  const write = (text: string): void => {
    if (isMuted || !isShown) return;
    // Enter: while an answer arrives, the line disappears instead of staying in the middle of it.
    if (text === "\r\n" && !isOpen) hide();
    else io.err.write(text);
  };
  const output = new Writable({
    decodeStrings: false,
    write(text: string | Uint8Array, _, done) {
      write(typeof text === "string" ? text : new TextDecoder().decode(text));
      done();
    },
  });
  Object.defineProperties(output, { isTTY: { value: true }, columns: { get: () => io.err.columns } });
  const keys = filterKeys(io.input);
  const reader = createInterface({
    input: keys,
    output,
    terminal: true,
    prompt: "> ",
    historySize: HISTORY_SIZE,
    removeHistoryDuplicates: true,
    completer: (line: string) => [names.filter((name) => line.startsWith("/") && name.startsWith(line)), line],
  }) as Interface & { history?: string[]; prevRows?: number };

  const show = (): void => {
    if (isShown || isOver || (isDumb && !isOpen)) return;
    if (column > 0) io.err.write("\n");
    isShown = true;
    // Draw the line from its current row, not from where it was before.
    reader.prevRows = 0;
    reader.prompt(true);
    if (isDumb) io.err.write(reader.line);
  };
  /** Removes the line from the screen; the cursor moves to the end of the output above. */
  const hide = (): void => {
    if (!isShown) return;
    isShown = false;
    if (isDumb) return io.err.write("\n");
    const { rows } = reader.getCursorPos();
    io.err.write(`${rows > 0 ? `\u001b[${rows}A` : ""}\r\u001b[J`);
    if (column > 0 && column < io.err.columns) io.err.write(`\u001b[A\u001b[${column + 1}G`);
    else {
      isBelowFullRow ||= column > 0;
      column = 0;
    }
  };
  const settle = (): void => {
    const isWanted = isOpen || reader.line !== "";
    if (isWanted) show();
    else hide();
  };
  /** Deferred: more text may follow in the same turn of the event loop. */
  const settleSoon = (): void => {
    redraw ??= setImmediate(() => {
      redraw = undefined;
      if (!isOver) settle();
    });
  };
  const above = (real: Output): Output => ({
    write(text) {
      if (text === "") return;
      hide();
      const rest = isBelowFullRow ? text.replace(FIRST_LINE_END, "$1") : text;
      isBelowFullRow = false;
      real.write(rest);
      column = columnAfter(rest, column, io.err.columns);
      settleSoon();
    },
    room: () => real.room(),
    get isGone() {
      return real.isGone;
    },
    isTerminal: real.isTerminal,
    get columns() {
      return real.columns;
    },
  });
  const onResize = (): void => void output.emit("resize");
  const quietly = (act: () => void): void => {
    isMuted = true;
    act();
    isMuted = false;
  };
  const clear = (): void =>
    quietly(() => {
      reader.write(null, { ctrl: true, name: "e" });
      reader.write(null, { ctrl: true, name: "u" });
    });

  // After the editor's own listener, so that the key is already applied.
  keys.on("keypress", settle);
  reader.on("line", (line) => {
    if (isOpen) {
      // The editor has moved to the next row, and the sent line stays above.
      isOpen = false;
      isShown = false;
      column = 0;
      isBelowFullRow = false;
    }
    events.onLine(line.replaceAll(PASTED_LINE_END, "\n"));
  });
  reader.on("SIGINT", () => events.onInterrupt(reader.line));
  reader.on("close", () => {
    if (isOver) return;
    finish();
    events.onEnd();
  });
  const finish = (): void => {
    const wasShown = isShown;
    isOver = true;
    isShown = false;
    clearImmediate(redraw);
    process.stderr.off("resize", onResize);
    io.input.unpipe(keys).pause();
    io.err.write(`${isDumb ? "" : PASTE_MARKS_OFF}${wasShown ? "\n" : ""}`);
  };
  process.stderr.on("resize", onResize);
  if (!isDumb) io.err.write(PASTE_MARKS_ON);
  io.input.pipe(keys);

  return {
    io: {
      ...io,
      get input() {
        return io.input;
      },
      get inputKind() {
        return io.inputKind;
      },
      out: io.out.isTerminal ? above(io.out) : io.out,
      err: above(io.err),
      cut() {
        const wasCut = io.cut();
        if (!wasCut) return false;
        // Unwritten output was dropped, including the line.
        isShown = false;
        column = 0;
        isBelowFullRow = false;
        settleSoon();
        return true;
      },
    },
    open(prompt) {
      hide();
      reader.setPrompt(prompt);
      isOpen = true;
      show();
    },
    close() {
      isOpen = false;
      settle();
    },
    take() {
      hide();
      const { line } = reader;
      clear();
      return line;
    },
    put(text) {
      hide();
      if (text !== "") quietly(() => reader.write(text));
      settleSoon();
    },
    remember(text) {
      reader.history?.unshift(text);
    },
    forget(text) {
      if (reader.history?.[0] === text) reader.history.shift();
    },
    end() {
      if (isOver) return;
      hide();
      finish();
      reader.close();
    },
  };
}

/** The cursor's column after a text that was written from `column` on. */
export function columnAfter(text: string, column: number, columns: number): number {
  const bare = text.replace(CODES, "");
  const start = Math.max(bare.lastIndexOf("\n"), bare.lastIndexOf("\r"));
  const end = (start === -1 ? column : 0) + displayWidth(bare.slice(start + 1));
  return end > columns ? ((end - 1) % columns) + 1 : end;
}
