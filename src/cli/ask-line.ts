import type { CommandIo } from "./io.ts";

/**
 * Asks for one line on the terminal. `undefined` if there is no terminal, its input has ended, or the signal was
 * aborted. Ctrl-C is passed on to the program.
 */
export async function askLine(question: string, signal: AbortSignal, io: CommandIo): Promise<string | undefined> {
  if (io.input.isTTY !== true || !io.err.isTerminal || signal.aborted) return undefined;
  // Earlier output must be on the screen before the question.
  await io.written();
  const { createInterface } = await import("node:readline");
  const reader = createInterface({ input: io.input, output: process.stderr, terminal: true });
  return await new Promise((resolve) => {
    let answer: string | undefined;
    reader.on("close", () => {
      if (answer === undefined) io.err.write("\n");
      resolve(answer);
    });
    // The line editor intercepts Ctrl-C. Pass it on to the program; the question ends with the aborted run.
    reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
    signal.addEventListener("abort", () => reader.close(), { once: true });
    reader.question(question, (line) => {
      answer = line;
      reader.close();
    });
  });
}
