import { type Glob, matchesGlob, patternsMeet } from "./matcher.ts";
import { isEvaluated, listShellForms, setsOrEvaluates, type ShellForms } from "./shell-forms.ts";
import { isKnownProgram } from "./shell-known.ts";
import { carriedFrom, isAssignment, isCarrier, isEval, isShell, startOfCommand } from "./shell-names.ts";
import { type Given, isInterpreter, runsUnseen } from "./shell-unseen.ts";
import { readShell, type ShellCommand } from "./shell-words.ts";
import { writesByOption } from "./shell-writes.ts";

/** How certainly a call falls under a rule. */
export type MatchResult = "certain" | "possible" | "no";

/** A shell text that any number of rules can be matched against. */
export function createShellTarget(text: string): (patterns: readonly Glob[]) => MatchResult {
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
 * Whether a shell text consists only of commands that match a pattern: none reads or writes files by redirection, and
 * none is produced by the shell. For rules that allow: when in doubt, no.
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
 * Whether the start of a pattern explicitly names what a command does. What a program runs for its caller, or writes
 * because of an option, must be written before the pattern's first `*`.
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
  if (runsUnseen(left, 0) || writesByOption(left.words) || setsOrEvaluates(left.words)) return false;
  if (carried === 0) return !isCarrying(left.words);
  const offset = words.slice(0, carried).join(" ").length + 1;
  return isNamed({ words: words.slice(carried), expands: expands.slice(carried) }, head.slice(offset));
}

/**
 * A command without the options that the pattern names. The other named words stay, because they determine what a later
 * option means (`git rebase -x`), unless they are themselves what makes the command do more: then the rule allows that
 * explicitly.
 */
function withoutNamed({ words, expands }: Given, named: number): Given {
  const at = words.map((_, index) => index);
  const isValue = (index: number): boolean => words[0] === "git" && /^-[cC]$/.test(words[index - 1] ?? "");
  const kept = at.slice(1, named).filter((index) => words[index]?.startsWith("-") === false && !isValue(index));
  const pick = (chosen: readonly number[]): Given => ({
    words: chosen.map((index) => words[index] ?? ""),
    expands: chosen.map((index) => expands[index] ?? true),
  });
  const rest = at.slice(named);
  return doesMore(pick([0, ...kept])) ? pick([0, ...rest]) : pick([0, ...kept, ...rest]);
}

/** Does more than its name says: it runs its arguments, or writes a file because of an option. */
function doesMore(command: Given): boolean {
  const program = command.words[0] ?? "";
  return (
    isShell(program) ||
    isEval(program) ||
    runsUnseen(command, 0) ||
    writesByOption(command.words) ||
    setsOrEvaluates(command.words) ||
    isCarrying(command.words)
  );
}

/** How many words of a command the start of a pattern covers, the last one possibly in part. */
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
 * The position, among the words the pattern names, of the program that a carrier runs. After an option a word may be
 * the value of that option, unless it is the name of a known program.
 */
function carriedProgram(words: readonly string[], named: number): number | undefined {
  for (let at = 1; at < named; at += 1) {
    const word = words[at] ?? "";
    if (word.startsWith("-") || isAssignment(word) || /^[\d.]+[smhd]?$/.test(word)) continue;
    if (at === 1 || !(words[at - 1] ?? "").startsWith("-") || isKnownProgram(word)) return at;
  }
  return undefined;
}

/** Whether it runs a command in its arguments. Programs whose whole purpose this is for a user are left out. */
function isCarrying(words: readonly string[]): boolean {
  const carried = carriedFrom(words, 0);
  if (carried === undefined) return false;
  return (
    words[carried - 1] === "env" || !/^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun|docker|podman)$/.test(words[0] ?? "")
  );
}
