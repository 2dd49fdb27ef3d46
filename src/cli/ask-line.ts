import type { CommandIo } from "./io.ts";

/**
 * Asks for one line on the terminal. `undefined` when there is none, its input has ended, or the signal fired. Ctrl-C goes
 * to whoever minds interrupts.
 */
export async function askLine(question: string, signal: AbortSignal, io: CommandIo): Promise<string | undefined> {
  if (io.input.isTTY !== true || !io.err.isTerminal || signal.aborted) return undefined;
  // Everything before the question is on the screen before the question is.
  await io.written();
  const { createInterface } = await import("node:readline");
  const reader = createInterface({ input: io.input, output: process.stderr, terminal: true });
  return await new Promise((resolve) => {
    let answer: string | undefined;
    reader.on("close", () => {
      if (answer === undefined) io.err.write("\n");
      resolve(answer);
    });
    // The line editor takes Ctrl-C for itself; it is for the program, and the question ends with the run it aborts.
    reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
    signal.addEventListener("abort", () => reader.close(), { once: true });
    reader.question(question, (line) => {
      answer = line;
      reader.close();
    });
  });
}
