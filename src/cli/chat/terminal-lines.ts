import { createInterface } from "node:readline";
import type { CommandIo } from "../io.ts";
import type { ChatLines } from "./lines.ts";
import { filterKeys, PASTE_MARKS_OFF, PASTE_MARKS_ON, PASTED_LINE_END } from "./pasted-text.ts";

const HISTORY_SIZE = 500;

/**
 * The lines a person writes at a terminal: with an editor and a history, and pasted text as one message. Between two
 * questions the terminal is in its usual mode, so that Ctrl-C is an interrupt and what is typed ahead is kept.
 */
export function createTerminalLines(io: CommandIo, names: readonly string[]): ChatLines {
  let history: string[] = [];
  const waiting: string[] = [];
  let isOver = false;
  let wasLeft = false;
  let closeEditor: () => void = () => undefined;

  const edit = (prompt: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      const keys = filterKeys(io.input);
      const reader = createInterface({
        input: keys,
        output: process.stderr,
        terminal: true,
        prompt,
        history: [...history],
        historySize: HISTORY_SIZE,
        removeHistoryDuplicates: true,
        completer: (line: string) => [names.filter((name) => line.startsWith("/") && name.startsWith(line)), line],
      });
      let answer: string | undefined;
      let presses = 0;
      closeEditor = () => reader.close();
      reader.on("history", (lines) => {
        history = lines;
      });
      reader.on("line", (line) => {
        const text = line.replaceAll(PASTED_LINE_END, "\n");
        if (answer !== undefined) waiting.push(text);
        else answer = text;
        // Not at once: more lines may have come with this one.
        setImmediate(() => reader.close());
      });
      reader.on("SIGINT", () => {
        presses += reader.line === "" ? 1 : 0;
        if (presses >= 2) {
          wasLeft = true;
          isOver = true;
          reader.close();
          return;
        }
        process.stderr.write(reader.line === "" ? "\nCtrl-C again leaves.\n" : "\n");
        reader.write(null, { ctrl: true, name: "e" });
        reader.write(null, { ctrl: true, name: "u" });
        reader.prompt();
      });
      reader.on("close", () => {
        io.input.unpipe(keys).pause();
        process.stderr.write(answer === undefined ? `${PASTE_MARKS_OFF}\n` : PASTE_MARKS_OFF);
        if (answer === undefined) isOver = true;
        resolve(answer);
      });
      io.input.pipe(keys);
      process.stderr.write(PASTE_MARKS_ON);
      reader.prompt();
    });

  return {
    async next(isMore) {
      const line = waiting.shift();
      if (line !== undefined) return line;
      if (isOver) return undefined;
      await io.written();
      return await edit(isMore ? "… " : "> ");
    },
    listen(hear) {
      const decoder = new TextDecoder();
      let text = "";
      const onData = (bytes: Uint8Array | string): void => {
        text += typeof bytes === "string" ? bytes : decoder.decode(bytes, { stream: true });
        const lines = text.split("\n");
        text = lines.pop() ?? "";
        waiting.push(...lines.filter((line) => !hear(line)));
      };
      io.input.on("data", onData).resume();
      return () => io.input.off("data", onData).pause();
    },
    close() {
      isOver = true;
      waiting.length = 0;
      closeEditor();
    },
    get wasLeft() {
      return wasLeft;
    },
  };
}
