import { type Glob, matchesGlob, patternsMeet } from "./matcher.ts";
import { isEvaluated, listShellForms, type ShellForms } from "./shell-forms.ts";
import { carriedFrom, isEval, isShell, startOfCommand } from "./shell-names.ts";
import { runsUnseen } from "./shell-unseen.ts";
import { readShell, type ShellCommand } from "./shell-words.ts";

/** How surely a call falls under a rule. */
export type Certainty = "certain" | "possible" | "no";

/** A shell text that any number of rules are held against. */
export function createShellSubject(text: string): (patterns: readonly Glob[]) => Certainty {
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
  const program = words[0] ?? "";
  if (redirects || expands[0] !== false || startOfCommand(words) !== 0) return false;
  if (words.some((word, at) => expands[at] === true && isEvaluated(word))) return false;
  const text = words.join(" ");
  const fitting = patterns.filter((glob) => matchesGlob(glob, text));
  const runsAnother = isShell(program) || isEval(program) || runsUnseen(command, 0) || isCarrying(words);
  // What a program runs for its caller is covered by a pattern that says more than the name of that program.
  return runsAnother ? fitting.some((glob) => (glob[0] ?? "").trimEnd().length > program.length) : fitting.length > 0;
}

/** Runs what is in its arguments. Programs of which that is the whole purpose to a user are left out. */
function isCarrying(words: readonly string[]): boolean {
  return (
    carriedFrom(words, 0) !== undefined &&
    !/^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun|docker|podman)$/.test(words[0] ?? "")
  );
}
