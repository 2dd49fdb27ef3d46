import { checkOptionNames, waitForPerson } from "#domain";
import { displayWidth, plainLine } from "./display-width.ts";
import { createPalette, wantsColor } from "./palette.ts";
import { plainText } from "./safe-text.ts";
import { foldLine } from "./word-wrap.ts";

/** The question to a person: may this tool call run? */
export interface TerminalQuestion {
  readonly name: string;
  readonly input: unknown;
  readonly agent?: string | undefined;
  readonly runId: string;
  readonly reason?: string | undefined;
  readonly signal: AbortSignal;
}

/** A person's decision about a tool call. */
export type TerminalAnswer = { readonly allow: true } | { readonly allow: false; readonly reason: string };

/** The options of `createTerminalAsk`. */
export interface AskOptions {
  /**
   * Shows the question and resolves with the line that the person entered, or with `undefined` if there is no answer:
   * no terminal, the input has ended, or the signal was aborted.
   */
  readonly ask: (question: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly color: boolean;
  /** Columns of the terminal; a function if they can change. */
  readonly width: number | (() => number);
}

/** The number of lines of arguments that are shown, so that the question stays on the screen. */
const MAX_LINES = 12;
const MAX_REMEMBERED = 1000;
const QUESTION = "Allow? [y]es, [N]o, [a]lways this tool:";

/**
 * Creates a permission callback that asks a person. Questions are asked one after the other, even if several calls are
 * pending. "Always" applies to this tool as long as the callback is used. No answer is a denial.
 *
 * @example
 * const permission = createTerminalAsk({ ask: (question) => ask(question), color: true, width: 80 })
 */
export function createTerminalAsk(options: AskOptions): Asker {
  checkOptionNames(options, ["ask", "color", "width"] satisfies (keyof AskOptions)[], "createTerminalAsk");
  return waitForPerson(createAsker(options, ({ name }) => name));
}

type Asker = (question: TerminalQuestion) => Promise<TerminalAnswer>;

/** `keyOf` returns the key under which "always" is remembered. */
function createAsker(options: AskOptions, keyOf: (question: TerminalQuestion) => string): Asker {
  const always = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();

  const decide = async (question: TerminalQuestion): Promise<TerminalAnswer> => {
    if (question.signal.aborted) return deny("The run was aborted before an answer.");
    if (always.has(keyOf(question))) return { allow: true };
    let text = renderQuestion(question, options);
    for (;;) {
      const line = await options.ask(text, question.signal);
      if (question.signal.aborted) return deny("The run was aborted before an answer.");
      if (line === undefined) return deny("No one can be asked: there is no terminal, or its input has ended.");
      const answer = line.trim().toLowerCase();
      if (answer === "y" || answer === "yes") return { allow: true };
      if (answer === "a" || answer === "always") {
        always.add(keyOf(question));
        const [oldest] = always;
        if (always.size > MAX_REMEMBERED && oldest !== undefined) always.delete(oldest);
        return { allow: true };
      }
      if (answer === "" || answer === "n" || answer === "no") return deny("The user said no.");
      text = foldQuestion(`Please answer y, n or a. ${QUESTION}`, options);
    }
  };

  return (question) => {
    const answer = last.then(() => decide(question));
    last = answer.catch(() => undefined);
    return answer;
  };
}

/**
 * A permission callback that asks the person at this terminal, on stderr: the tool, its arguments, and the reason.
 * Without a terminal, or when its input ends, the answer is no. An abort ends the question. "Always" applies to the
 * run.
 *
 * @example
 * run("claude-code", "Tidy up", { permission: askInTerminal })
 */
export const askInTerminal: Asker = waitForPerson(askOnThisTerminal());

/** A terminal has one person in front of it: the questions of all runs share one queue per input. */
function askOnThisTerminal(): Asker {
  const askers = new WeakMap<object, Asker>();
  return async (question) => {
    const { stdin, stderr, env } = process;
    let asker = askers.get(stdin);
    if (asker === undefined) {
      const color = wantsColor(stderr.isTTY === true, env);
      const options = { ask: askOnStderr, color, width: () => stderr.columns ?? 100 };
      asker = createAsker(options, ({ runId, name }) => JSON.stringify([runId, name]));
      askers.set(stdin, asker);
    }
    return await asker(question);
  };
}

async function askOnStderr(question: string, signal: AbortSignal): Promise<string | undefined> {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
  const { createInterface } = await import("node:readline");
  const reader = createInterface({ input: stdin, output: stderr });
  return await new Promise((resolve) => {
    let answer: string | undefined;
    reader.on("close", () => resolve(answer));
    // The line editor intercepts Ctrl-C. Pass it on to the program; the question ends with the aborted run.
    reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
    signal.addEventListener("abort", () => reader.close(), { once: true });
    reader.question(question, (line) => {
      answer = line;
      reader.close();
    });
  });
}

function deny(reason: string): TerminalAnswer {
  return { allow: false, reason };
}

function renderQuestion({ name, input, agent, reason }: TerminalQuestion, options: AskOptions): string {
  const { bold, dim, yellow } = createPalette(options.color);
  const width = widthOf(options);
  const who = agent === undefined ? "The agent" : plainLine(agent, 40);
  const tool = plainLine(name, 64);
  const start = `? ${who} wants to use ${tool}`;
  const lead = foldLine(`${who} wants to use`, width - 1, 2);
  // Short arguments are shown next to the tool's name.
  const short = plainText(JSON.stringify(input) ?? "no arguments");
  const fits = !short.includes("\n") && displayWidth(`${start} ${short}`) < width;
  // The tool moves to a new line if it does not fit.
  const gap = displayWidth(start) < width ? " " : "\n  ";
  const lines = [`${yellow("?")} ${lead}${gap}${bold(tool)}${fits ? ` ${short}` : ""}`];
  if (reason !== undefined) lines.push(dim(`  ${foldLine(plainLine(reason, width * 4), width - 1, 2)}`));
  if (!fits) lines.push(...renderInput(input, width - 4).map((line) => `    ${line}`));
  return `${lines.join("\n")}\n${foldQuestion(QUESTION, options)}`;
}

/** Ends in a blank, with room for a word after it. */
function foldQuestion(text: string, options: AskOptions): string {
  return `${foldLine(text, widthOf(options) - 4, 0)} `;
}

function widthOf({ width }: AskOptions): number {
  return typeof width === "number" ? width : width();
}

/**
 * The arguments as JSON, one field per line. A note marks what is left out: a person must not allow what was not shown.
 */
function renderInput(input: unknown, width: number): string[] {
  const written = (JSON.stringify(input, undefined, 2) ?? "no arguments").split("\n");
  const lines = written.slice(0, MAX_LINES).flatMap((line) => wrap(plainText(line.slice(0, 8 * width)), width));
  const hidden = written.length - MAX_LINES;
  const isCut = hidden > 0 || lines.length > MAX_LINES || written.some((line) => line.length > 8 * width);
  const shown = lines.slice(0, MAX_LINES);
  return isCut
    ? [...shown, `… not all of the arguments are shown: ${JSON.stringify(input)?.length ?? 0} characters`]
    : shown;
}

function wrap(line: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const character of line) {
    if (displayWidth(piece) + displayWidth(character) > Math.max(10, width)) {
      pieces.push(piece);
      piece = "";
    }
    piece += character;
  }
  return [...pieces, piece];
}
