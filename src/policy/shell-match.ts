import { type Glob, matchesGlob } from "./matcher.ts";
import { isShell, programName, startOfCommand, startsOfCommands } from "./shell-names.ts";
import { readShell, type ShellCommand } from "./shell-words.ts";

/** Shell texts inside shell texts (`sh -c "…"`) are followed this far down. */
const DEEPEST = 3;

/** A word in which a shell sees nothing to do. */
const PLAIN_WORD = /^[\w./:@%+,-]*$/;

/** Everything a shell text may run, as far as it can be known beforehand. */
export interface ShellForms {
  /** The whole text, and each command in it, in every way in which it may be meant. */
  readonly texts: readonly string[];
  /** The name of some command is not written down (`$x`, `$(…)`, `r?`): it may be any. */
  readonly isOpen: boolean;
}

/**
 * Lists what a shell text may run: each of its commands, also one behind `;`, `&&`, `|`, a line break, in `$(…)` or
 * backticks, behind assignments, `sudo` and the like, in quotes, or given to another shell. For rules that deny or
 * ask: better one too many.
 */
export function listShellForms(text: string): ShellForms {
  const list = { texts: [text, text.trim()], isOpen: false };
  addCommands(list, text, DEEPEST);
  return list;
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

function isCovered(patterns: readonly Glob[], { words, expands, redirects }: ShellCommand): boolean {
  if (redirects || expands[0] !== false || startOfCommand(words) !== 0) return false;
  const text = words.join(" ");
  return patterns.some((glob) => matchesGlob(glob, text));
}

interface FormList {
  readonly texts: string[];
  isOpen: boolean;
}

function addCommands(list: FormList, text: string, depth: number): void {
  const { commands, isPlain } = readShell(text);
  let isFollowed = isPlain;
  for (const command of commands) {
    const { words } = command;
    const starts = startsOfCommands(words);
    if (isMadeByShell(command)) list.isOpen = true;
    addForms(list, words, starts);
    // The first shell is given everything behind it, so the others are seen through it.
    const shell = starts.find((start) => isShell(words[start] ?? ""));
    if (shell === undefined) continue;
    // Not followed for ever, and what is piped into a shell is not seen at all.
    if (depth === 0 || shell === words.length - 1) isFollowed = false;
    else addArguments(list, words.slice(shell + 1), depth - 1);
  }
  if (!isFollowed) addLooseForms(list, text);
}

/** What a shell is given: each word may be a text of its own, and together, behind the options, they may be one. */
function addArguments(list: FormList, words: readonly string[], depth: number): void {
  for (const word of words) {
    if (PLAIN_WORD.test(word)) addForms(list, [word], [0]);
    else addCommands(list, word, depth);
  }
  const start = words.findIndex((word) => !word.startsWith("-"));
  if (start !== -1 && start < words.length - 1) addCommands(list, words.slice(start).join(" "), depth);
}

/** The commands that may begin at these words, with and without the folder they are in. */
function addForms(list: FormList, words: readonly string[], starts: readonly number[]): void {
  const joined = words.join(" ");
  let offset = 0;
  let next = 0;
  for (const [at, word] of words.entries()) {
    if (next === starts.length) return;
    if (at === starts[next]) {
      next += 1;
      list.texts.push(joined.slice(offset));
      const folder = word.length - programName(word).length;
      if (folder > 0) list.texts.push(joined.slice(offset + folder));
    }
    offset += word.length + 1;
  }
}

function isMadeByShell({ words, expands }: ShellCommand): boolean {
  const start = startOfCommand(words);
  return expands[start] === true && words[start] !== "[";
}

/** For texts nobody can follow: quotes count for nothing, and behind `echo` a command may begin as well. */
function addLooseForms(list: FormList, text: string): void {
  for (const piece of text.split(/[;&|\n\r()`'"{}<>#]/)) {
    const words = piece.replaceAll("\\", "").split(/\s+/).filter(Boolean);
    const start = startOfCommand(words);
    const isEcho = ["echo", "printf"].includes(programName(words[start] ?? ""));
    addForms(list, words, isEcho ? [start, start + 1, start + 2] : startsOfCommands(words));
  }
}
