import { type Glob, matchesGlob, patternsMeet } from "./matcher.ts";
import { isEvaluated, listShellForms, type ShellForms } from "./shell-forms.ts";
import { isKnownProgram } from "./shell-known.ts";
import { carriedFrom, isAssignment, isCarrier, isEval, isShell, startOfCommand } from "./shell-names.ts";
import { type Given, isInterpreter, runsUnseen } from "./shell-unseen.ts";
import { readShell, type ShellCommand } from "./shell-words.ts";
import { writesByOption } from "./shell-writes.ts";

/** How surely a call falls under a rule. */
export type Certainty = "certain" | "possible" | "no";

/** A shell text that any number of rules are held against. */
export function createShellTarget(text: string): (patterns: readonly Glob[]) => Certainty {
  let forms: ShellForms | undefined;
  return (patterns) => {
    forms ??= listShellForms(text);
    const { texts, maybes, isOpen } = forms;
    if (patterns.some((glob) => texts.some((form) => matchesGlob(glob, form)))) return "certain";
    if (isOpen) return "possible";
    return patterns.some((glob) => maybes.some((form) => patternsMeet(glob, form))) ? "possible" : "no";
  };
}

/**
 * Whether a shell text is nothing but what some pattern describes: each of its commands fits one of them, none reads
 * from or writes to files, and none is made by the shell. For rules that allow: better not at all.
 */
export function isCoveredShell(patterns: readonly Glob[], text: string): boolean {
  if (patterns.some((glob) => glob.length === 1 && glob[0] === text)) return true;
  const { commands, isPlain } = readShell(text);
  return isPlain && commands.length > 0 && commands.every((command) => isCovered(patterns, command));
}

function isCovered(patterns: readonly Glob[], command: ShellCommand): boolean {
  const { words, expands, redirects } = command;
  if (redirects || expands[0] !== false || startOfCommand(words) !== 0) return false;
  if (words.some((word, at) => expands[at] === true && isEvaluated(word))) return false;
  const text = words.join(" ");
  return patterns.some((glob) => matchesGlob(glob, text) && isNamed(command, glob[0] ?? ""));
}

/**
 * Whether a command is the thing that the beginning of a pattern names, in so many words. What a program runs for its caller,
 * or writes because of an option, is another thing unless that stands before the pattern's first star.
 */
function isNamed(command: Given, head: string): boolean {
  if (!doesMore(command)) return true;
  const { words, expands } = command;
  const program = words[0] ?? "";
  const named = countWords(words, head);
  if (named < 2) return false;
  if (isInterpreter(program) || isEval(program)) return true;
  const carried = isCarrier(program) ? carriedProgram(words, named) : 0;
  if (carried === undefined) return false;
  const left = withoutNamed(command, named);
  if (runsUnseen(left, 0) || writesByOption(left.words)) return false;
  if (carried === 0) return !isCarrying(left.words);
  const offset = words.slice(0, carried).join(" ").length + 1;
  return isNamed({ words: words.slice(carried), expands: expands.slice(carried) }, head.slice(offset));
}

/**
 * A command without the options that a pattern names. Its other named words stay, because they say what an option behind
 * them means (`git rebase -x`), unless they are themselves what makes it do more: then they are meant.
 */
function withoutNamed({ words, expands }: Given, named: number): Given {
  const at = words.map((_, index) => index);
  const isValue = (index: number): boolean => words[0] === "git" && /^-[cC]$/.test(words[index - 1] ?? "");
  const kept = at.slice(1, named).filter((index) => words[index]?.startsWith("-") === false && !isValue(index));
  const pick = (chosen: readonly number[]): Given => ({
    words: chosen.map((index) => words[index] ?? ""),
    expands: chosen.map((index) => expands[index] ?? true),
  });
  const behind = at.slice(named);
  return doesMore(pick([0, ...kept])) ? pick([0, ...behind]) : pick([0, ...kept, ...behind]);
}

/** More than its name says: it runs what it is given, or writes by an option. */
function doesMore(command: Given): boolean {
  const program = command.words[0] ?? "";
  return (
    isShell(program) ||
    isEval(program) ||
    runsUnseen(command, 0) ||
    writesByOption(command.words) ||
    isCarrying(command.words)
  );
}

/** How many words of a command stand in the beginning of a pattern, the last one perhaps in part. */
function countWords(words: readonly string[], head: string): number {
  let offset = 0;
  let count = 0;
  for (const word of words) {
    if (offset >= head.trimEnd().length) break;
    count += 1;
    offset += word.length + 1;
  }
  return count;
}

/**
 * Where in the words that a pattern names the program stands that a carrier runs. Behind an option a word may be the value
 * of that option, unless it is the name of a program.
 */
function carriedProgram(words: readonly string[], named: number): number | undefined {
  for (let at = 1; at < named; at += 1) {
    const word = words[at] ?? "";
    if (word.startsWith("-") || isAssignment(word) || /^[\d.]+[smhd]?$/.test(word)) continue;
    if (at === 1 || !(words[at - 1] ?? "").startsWith("-") || isKnownProgram(word)) return at;
  }
  return undefined;
}

/** Runs what is in its arguments. Programs of which that is the whole purpose to a user are left out. */
function isCarrying(words: readonly string[]): boolean {
  return (
    carriedFrom(words, 0) !== undefined &&
    !/^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun|docker|podman)$/.test(words[0] ?? "")
  );
}
