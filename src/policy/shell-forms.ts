import type { Glob } from "./matcher.ts";
import {
  carriedFrom,
  isAssignment,
  isEval,
  isFeeder,
  isShell,
  programName,
  startOfCommand,
  startsOfCommands,
} from "./shell-names.ts";
import { commandInAssignment, loadsSomething, runsUnseen } from "./shell-unseen.ts";
import { readShell, type ShellCommand } from "./shell-words.ts";

/** Shell texts inside shell texts (`sh -c "…"`) are followed this far down. */
const DEEPEST = 3;

/** A command that may begin in more places than this is not followed. */
const MOST_STARTS = 100;

/** A word in which a shell sees nothing to do. */
const PLAIN_WORD = /^[\w./:@%+,-]*$/;

/** Programs that do nothing with their arguments but show, compare or keep them. */
const INERT: ReadonlySet<string> = new Set(
  "echo printf grep egrep fgrep zgrep rg ag ack git gh test [ [[ jq ls cat cd for select case".split(" "),
);

/** Everything a shell text may run, as far as it can be known beforehand. */
export interface ShellForms {
  /** The whole text, and each command in it, in every way in which it may be meant. */
  readonly texts: readonly string[];
  /** What may be run as well, as patterns: a part of it is not known, or it may be data after all. */
  readonly maybes: readonly Glob[];
  /** Something is run that is written down nowhere (`$x`, `… | sh`, `python -c`): it may be anything. */
  readonly isOpen: boolean;
}

/**
 * Lists what a shell text may run: each of its commands, also one behind `;`, `&&`, `|`, a line break, in `$(…)` or
 * backticks, behind assignments, `sudo` and the like, in quotes, or given to another shell. For rules that deny or
 * ask: better one too many.
 */
export function listShellForms(text: string): ShellForms {
  const list: FormList = { texts: [text, text.trim()], maybes: [], isOpen: false };
  addText(list, text, { depth: DEEPEST, isFed: false });
  return list;
}

interface FormList {
  readonly texts: string[];
  readonly maybes: Glob[];
  isOpen: boolean;
}

interface TextPlace {
  /** How much deeper texts inside this one are followed. */
  readonly depth: number;
  /** Whoever runs it adds further arguments. */
  readonly isFed: boolean;
}

function addText(list: FormList, text: string, place: TextPlace): void {
  const { commands, isPlain } = readShell(text);
  const written = filesWritten(commands);
  for (const command of commands) addCommand(list, command, place, written);
  if (!isPlain) addLooseForms(list, text);
  else if (commands.some(({ words }) => startsOfCommands(words).some((at) => isShell(words[at] ?? "")))) {
    // What is piped into a shell stands in another command.
    addLooseForms(list, text);
  }
}

function addCommand(list: FormList, command: ShellCommand, place: TextPlace, written: ReadonlySet<string>): void {
  const { words } = command;
  addAssignments(list, command, place);
  const all = startsOfCommands(words);
  const starts = all.slice(0, MOST_STARTS);
  if (all.length > starts.length) list.isOpen = true;
  const [first] = starts;
  if (first === undefined) return;
  const isFed = place.isFed || isFeeder(words[first] ?? "");
  addForms(list, command, starts, isFed);
  if (starts.some((start) => runsUnseen(command, start))) list.isOpen = true;
  if (isFed && isReplaced(words, first)) list.isOpen = true;
  if (starts.some((start) => runsFile(words, start, written))) list.isOpen = true;
  const reader = starts.find((start) => isShell(words[start] ?? "") || isEval(words[start] ?? ""));
  const carried = carriedFrom(words, first);
  if (reader !== undefined) addArguments(list, words.slice(reader + 1), place);
  else if (carried !== undefined) addArguments(list, words.slice(carried), { ...place, isFed });
  else addLooseArguments(list, command, first);
}

/** Variables that name a program, or make one load something. */
function addAssignments(list: FormList, { words, expands }: ShellCommand, { depth }: TextPlace): void {
  const start = startOfCommand(words);
  const isExporting = ["export", "declare", "typeset", "local", "readonly", "env"].includes(words[start] ?? "");
  for (const [at, word] of words.entries()) {
    if (!isAssignment(word)) {
      if (at >= start && !isExporting) return;
      continue;
    }
    if (loadsSomething(word)) list.isOpen = true;
    const value = commandInAssignment(word);
    if (value === undefined || value === "") continue;
    if (expands[at] === true || depth === 0) list.isOpen = true;
    else addText(list, value, { depth: depth - 1, isFed: true });
  }
}

/** What a program is given that runs it: each word may be a text of its own, and together they may be one. */
function addArguments(list: FormList, words: readonly string[], { depth, isFed }: TextPlace): void {
  const texts = words.filter((word) => !PLAIN_WORD.test(word));
  if (depth === 0) {
    if (texts.length > 0 || words.length > 1) list.isOpen = true;
    return;
  }
  for (const word of texts) {
    const alias = /^[\w-]+=(.*)$/s.exec(word)?.[1];
    addText(list, alias ?? word, { depth: depth - 1, isFed: isFed || alias !== undefined });
  }
  const start = words.findIndex((word) => !word.startsWith("-"));
  if (start !== -1 && start < words.length - 1 && texts.length > 0) {
    addText(list, words.slice(start).join(" "), { depth: depth - 1, isFed });
  } else if (start !== -1) addPlainForms(list, words, start);
}

/** Words in which there is nothing to be read are commands as they stand. */
function addPlainForms(list: FormList, words: readonly string[], start: number): void {
  const expands = words.map(() => false);
  const fixed = words.map((word) => word.length);
  addForms(list, { words, expands, fixed, redirects: false, targets: [] }, [start], false);
}

/** The commands that may begin at these words, with and without the folder they are in. */
function addForms(list: FormList, command: ShellCommand, starts: readonly number[], isFed: boolean): void {
  const { words, expands } = command;
  const joined = words.join(" ");
  const lastOpen = expands.lastIndexOf(true);
  let offset = 0;
  let next = 0;
  for (const [at, word] of words.entries()) {
    if (next === starts.length) return;
    if (at === starts[next]) {
      next += 1;
      const name = programName(word);
      const rest = offset + word.length;
      const added = isFed ? " {}" : "";
      list.texts.push(joined.slice(offset) + added, name + joined.slice(rest) + added);
      addWithoutOptions(list, words, at, added);
      if (lastOpen >= at) addPattern(list, patternOf(command, at, isFed));
      else if (isFed) list.maybes.push([`${name}${joined.slice(rest)} `, ""]);
    }
    offset += word.length + 1;
  }
}

/** How many options between a program and its subcommand are looked past. */
const MOST_OPTIONS = 8;

/** `git -C folder push` is `git push`; whether an option takes the next word cannot be known here, so both count. */
function addWithoutOptions(list: FormList, words: readonly string[], start: number, added: string): void {
  if (!isOption(words[start + 1])) return;
  const name = programName(words[start] ?? "");
  const end = Math.min(words.length, start + 1 + 2 * MOST_OPTIONS);
  for (let at = start + 2; at < end; at += 1) {
    const before = words[at - 1];
    if (!isOption(before) && !isOption(words[at - 2])) return;
    if (!isOption(words[at])) list.texts.push(`${name} ${words.slice(at).join(" ")}${added}`);
  }
}

function isOption(word: string | undefined): boolean {
  return word?.startsWith("-") === true;
}

/** With and without the folder the program is in, as far as both are known. */
function addPattern(list: FormList, pattern: Glob): void {
  const [start = "", ...more] = pattern;
  const end = start.indexOf(" ");
  const word = end === -1 ? start : start.slice(0, end);
  list.maybes.push(pattern, [programName(word) + start.slice(word.length), ...more]);
}

/** A command of which the shell makes a part: what is known of it, with a gap for each word that is not. */
function patternOf({ words, expands, fixed }: ShellCommand, start: number, isFed: boolean): Glob {
  const pieces: string[] = [];
  let piece = "";
  for (let at = start; at < words.length; at += 1) {
    const word = words[at] as string;
    if (expands[at] !== true) {
      piece += piece === "" ? word : ` ${word}`;
      continue;
    }
    const known = word.slice(0, fixed[at]);
    if (known !== "") piece += piece === "" ? known : ` ${known}`;
    pieces.push(piece);
    piece = "";
  }
  return isFed ? [...pieces, piece, ""] : [...pieces, piece];
}

/** What a program may take for a command although nothing says so: texts, values of options, programs by their place. */
function addLooseArguments(list: FormList, { words }: ShellCommand, start: number): void {
  if (INERT.has(programName(words[start] ?? ""))) return;
  for (const word of words.slice(start + 1)) {
    const value = /^--?[\w-]+=(.+)$/s.exec(word)?.[1];
    if (value !== undefined) list.maybes.push([value, ""]);
    if (/(?:^|\/)s?bin\/[^/]+$/.test(word)) list.maybes.push([`${programName(word)} `, ""]);
    if (!PLAIN_WORD.test(word)) addLooseForms(list, word);
  }
}

/** For texts nobody can follow: quotes count for nothing, and behind `echo` a command may begin as well. */
function addLooseForms(list: FormList, text: string): void {
  for (const piece of text.split(/[;&|\n\r()`'"{}<>#!=]/)) {
    const words = piece.replaceAll("\\", "").split(/\s+/).filter(Boolean);
    const start = startOfCommand(words);
    const isEcho = ["echo", "printf", "spawn", "shell", "e", "exec"].includes(programName(words[start] ?? ""));
    const starts = isEcho ? [start, start + 1, start + 2] : startsOfCommands(words);
    for (const at of starts) {
      const word = words[at];
      if (word === undefined) continue;
      const rest = words.slice(at + 1).join(" ");
      list.maybes.push([rest === "" ? programName(word) : `${programName(word)} ${rest}`]);
    }
  }
}

/** Where a feeder puts what it was fed: as the program itself? */
function isReplaced(words: readonly string[], start: number): boolean {
  const carried = carriedFrom(words, start);
  if (carried === undefined) return false;
  let at = carried;
  let mark = "{}";
  const isXargs = /xargs|parallel|rush/.test(words[start] ?? "");
  while (isXargs && isOption(words[at])) {
    if (words[at] === "-I" || words[at] === "-J") mark = words[at + 1] ?? mark;
    at += /^-[InPLsdEaJRj]$/.test(words[at] ?? "") ? 2 : 1;
  }
  return words[at]?.includes(mark) === true || words[at]?.includes("{}") === true;
}

/** The files that commands of a text write into, by redirection or with `tee`. */
function filesWritten(commands: readonly ShellCommand[]): ReadonlySet<string> {
  const files = commands.flatMap(({ words, targets }) => [
    ...targets,
    ...(programName(words[0] ?? "") === "tee" ? words.slice(1) : []),
  ]);
  return new Set(files.map(plainPath));
}

/** Whether a command runs a file that the same text has written, so that nobody knows what is in it. */
function runsFile(words: readonly string[], start: number, written: ReadonlySet<string>): boolean {
  if (written.size === 0) return false;
  const program = words[start] ?? "";
  if (program.includes("/") && written.has(plainPath(program))) return true;
  if (!isShell(program) && program !== "source" && program !== ".") return false;
  return words.slice(start + 1).some((word) => written.has(plainPath(word)));
}

function plainPath(path: string): string {
  return path.replace(/^(?:\.\/)+/, "");
}
