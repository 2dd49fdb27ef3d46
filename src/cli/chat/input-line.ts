import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { displayWidth } from "#sinks";
import type { CommandIo, Output } from "../io.ts";
import { filterKeys, PASTE_MARKS_OFF, PASTE_MARKS_ON, PASTED_LINE_END } from "./pasted-text.ts";

const HISTORY_SIZE = 500;
/** What moves the cursor or colours, as far as we write it ourselves. */
const CODES = /\u001b\[[\d;?]*[A-Za-z]/g;

export interface InputLineEvents {
  /** A line was sent with Enter. */
  onLine(text: string): void;
  /** Ctrl-C; `typed` is what stands on the line. */
  onInterrupt(typed: string): void;
  /** Ctrl-D on an empty line, or the terminal is gone. */
  onEnd(): void;
}

/** The line a person types on, below everything that is shown. */
export interface InputLine {
  /** The same command line, whose outputs go above the line. */
  readonly io: CommandIo;
  /** Shows the line behind a prompt, also while it is empty, until something is sent. */
  open(prompt: string): void;
  /** From now on the line is shown only while something stands on it. */
  close(): void;
  /** Takes what stands on the line off it, and gives it; `put` brings it back. */
  take(): string;
  put(text: string): void;
  /** The arrow keys bring this line back, or no longer. */
  remember(text: string): void;
  forget(text: string): void;
  /** Gives the terminal back. */
  end(): void;
}

/**
 * Creates the input line of a chat: with an editor, a history and completion. The terminal is in raw mode all the time,
 * so that what is typed while an answer comes is neither echoed into it nor lost at Ctrl-C. While something is typed,
 * the line stands below the answer, and each piece of the answer takes it away and puts it back.
 */
export function createInputLine(io: CommandIo, names: readonly string[], events: InputLineEvents): InputLine {
  const isDumb = io.world.env["TERM"] === "dumb";
  /** It is to be seen even while nothing stands on it. */
  let isOpen = false;
  let isShown = false;
  let isMuted = false;
  let isOver = false;
  let redraw: NodeJS.Immediate | undefined;
  /** Where the text above the line ends. */
  let column = 0;

  const write = (text: string): void => {
    if (isMuted || !isShown) return;
    // Enter: while an answer comes the line goes away instead of staying in the middle of it.
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
    // The line is drawn from the row it stands on, and not from where it was before.
    reader.prevRows = 0;
    reader.prompt(true);
    if (isDumb) io.err.write(reader.line);
  };
  /** Takes the line off the screen; the cursor is where the text above ended. */
  const hide = (): void => {
    if (!isShown) return;
    isShown = false;
    if (isDumb) return io.err.write("\n");
    const { rows } = reader.getCursorPos();
    io.err.write(`${rows > 0 ? `\u001b[${rows}A` : ""}\r\u001b[J`);
    // Behind a full line the next one has begun already.
    if (column > 0 && column < io.err.columns) io.err.write(`\u001b[A\u001b[${column + 1}G`);
    else column = 0;
  };
  const settle = (): void => {
    const isWanted = isOpen || reader.line !== "";
    if (isWanted) show();
    else hide();
  };
  /** Not at once: more text may come in the same breath. */
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
      real.write(text);
      column = columnBehind(text, column, io.err.columns);
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

  // Behind the editor's own listener: the line is as the key left it.
  keys.on("keypress", settle);
  reader.on("line", (line) => {
    if (isOpen) {
      // The editor has gone to the next row, and what was sent stays above.
      isOpen = false;
      isShown = false;
      column = 0;
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
    io.err.write(wasShown ? `${PASTE_MARKS_OFF}\n` : PASTE_MARKS_OFF);
  };
  process.stderr.on("resize", onResize);
  io.err.write(PASTE_MARKS_ON);
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
        // Whatever was on its way to the screen is gone, the line included.
        isShown = false;
        column = 0;
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

/** The column in which the cursor stands behind a text that was written from `column` on. */
export function columnBehind(text: string, column: number, columns: number): number {
  const bare = text.replace(CODES, "");
  const start = Math.max(bare.lastIndexOf("\n"), bare.lastIndexOf("\r"));
  const end = (start === -1 ? column : 0) + displayWidth(bare.slice(start + 1));
  return end > columns ? ((end - 1) % columns) + 1 : end;
}
