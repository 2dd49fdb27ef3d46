import type { CommandIo } from "../io.ts";
import { createInputLine } from "./input-line.ts";
import type { ChatLines } from "./lines.ts";
import { PASTED_LINE_END } from "./pasted-text.ts";

/** The lines of a person at a terminal, and the screen they are typed on. */
export interface TerminalLines extends ChatLines {
  /** The same command line, with its outputs above the line for typing. */
  readonly io: CommandIo;
  /**
   * Asks for a separate line; text that was being typed is restored afterwards. `undefined` at the end, or on an abort.
   */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

/**
 * The lines that a person types at a terminal, with an editor and a history, and pasted text as one message. Text typed
 * while an answer arrives stays on its line; once sent, it is the next message.
 */
export function createTerminalLines(real: CommandIo, names: readonly string[]): TerminalLines {
  const waiting: string[] = [];
  let isOver = false;
  let wasLeft = false;
  let presses = 0;
  let listener: ((line: string) => boolean) | undefined;
  /** The pending readers of a line: the chat, which needs a message, or a question, which needs its answer. */
  let reading: ((line: string | undefined) => void) | undefined;
  let asking: ((line: string | undefined) => void) | undefined;

  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  const settle = (line: string | undefined): void => {
    const answer = asking ?? reading;
    if (asking !== undefined) asking = undefined;
    else reading = undefined;
    answer?.(line);
  };
  const line = createInputLine(real, names, {
    onLine(text) {
      presses = 0;
      if (asking !== undefined || reading !== undefined) return settle(text);
      if (listener?.(text) === true || text.trim() === "") return;
      waiting.push(text);
    },
    onInterrupt(typed) {
      // While an answer arrives, and at a question, Ctrl-C is for the run. Typed text stays.
      if (reading === undefined || asking !== undefined) {
        process.kill(process.pid, "SIGINT");
        return;
      }
      presses += typed === "" ? 1 : 0;
      if (presses >= 2) {
        wasLeft = true;
        isOver = true;
        line.end();
        end();
        settle(undefined);
        return;
      }
      if (typed === "") {
        line.io.err.write("Press Ctrl-C again to leave.\n");
        return;
      }
      line.remember(line.take());
      line.io.err.write(`> ${typed}\n(not sent; the arrow key up brings it back)\n`);
    },
    onEnd() {
      isOver = true;
      end();
      asking?.(undefined);
      reading?.(undefined);
      asking = undefined;
      reading = undefined;
    },
  });

  return {
    io: line.io,
    async next(isMore) {
      const prompt = isMore ? "… " : "> ";
      const typedAhead = waiting.shift();
      if (typedAhead !== undefined) {
        line.io.err.write(`${prompt}${typedAhead.replaceAll("\n", PASTED_LINE_END)}\n`);
        return typedAhead;
      }
      if (isOver) return undefined;
      return await new Promise((resolve) => {
        reading = resolve;
        line.open(prompt);
      });
    },
    async ask(question, signal) {
      if (isOver || signal.aborted) return undefined;
      const typed = line.take();
      const rows = question.split("\n");
      const prompt = rows.pop() ?? "";
      if (rows.length > 0) line.io.err.write(`${rows.join("\n")}\n`);
      let onAbort = (): void => undefined;
      const answer = await new Promise<string | undefined>((resolve) => {
        asking = resolve;
        onAbort = () => {
          asking = undefined;
          line.take();
          resolve(undefined);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        line.open(prompt);
      });
      signal.removeEventListener("abort", onAbort);
      line.close();
      if (answer !== undefined) line.forget(answer);
      line.put(typed);
      return answer;
    },
    listen(visit) {
      listener = visit;
      return () => {
        listener = undefined;
      };
    },
    close() {
      isOver = true;
      waiting.length = 0;
      line.end();
      end();
      settle(undefined);
    },
    ended,
    get wasLeft() {
      return wasLeft;
    },
  };
}
