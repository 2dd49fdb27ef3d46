import type { Glob } from "./matcher.ts";
import { isKnownProgram } from "./shell-known.ts";
import {
  carriedFrom,
  isAssignment,
  isCarrier,
  isEval,
  isFeeder,
  isShell,
  programName,
  startOfCommand,
  startsOfCommands,
} from "./shell-names.ts";
import { commandInAssignment, loadsSomething, runsUnseen } from "./shell-unseen.ts";
import { readShell, type ShellCommand } from "./shell-words.ts";
import { runsWritten, type WrittenFiles, writtenFiles } from "./shell-written.ts";

/** How deeply shell texts inside shell texts (`sh -c "…"`) are followed. */
const DEEPEST = 3;

/** A command with more possible starts than this is not followed. */
const MOST_STARTS = 100;

/** A word without any character that is special to a shell. */
const PLAIN_WORD = /^[\w./:@%+,-]*$/;

/** Programs that only show, compare or store their arguments. */
const INERT: ReadonlySet<string> = new Set(
  "echo printf grep egrep fgrep zgrep rg ag ack git gh test [ [[ jq ls cat cd for select case".split(" "),
);

/** Programs that can read commands from their standard input. */
const INPUT_READERS: ReadonlySet<string> = new Set(
  "ed ex vi vim m4 dc gnuplot sqlite3 psql mysql mariadb duckdb gdb lldb ftp sftp at batch crontab tclsh expect octave maxima R".split(
    " ",
  ),
);

/** Builtins that evaluate array indexes in their arguments, and thus a command inside an index, or print it for one that does. */
const INDEX_READERS: ReadonlySet<string> = new Set("test [ [[ echo printf read unset wait".split(" "));

/** Everything a shell text may run, as far as this can be known in advance. */
export interface ShellForms {
  /** The whole text, and each command in it, in every way it may be meant. */
  readonly texts: readonly string[];
  /** Patterns of further commands that may run: a part of them is unknown, or they may only be data. */
  readonly maybes: readonly Glob[];
  /** Something runs that is not visible in the text (`$x`, `… | sh`, `python -c`): it may be anything. */
  readonly isOpen: boolean;
}

/**
 * Lists the commands a shell text may run, including those after `;`, `&&`, `|` or a line break, in `$(…)` or
 * backticks, after assignments, `sudo` and the like, in quotes, or passed to another shell. For rules that deny or ask:
 * better one too many.
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

interface TextPosition {
  /** How many more levels of inner texts are followed. */
  readonly depth: number;
  /** The program that runs it adds further arguments. */
  readonly isFed: boolean;
  /** It is made of several arguments, each of which may be a command of its own. */
  readonly isJoined?: boolean;
}

function addText(list: FormList, text: string, place: TextPosition): void {
  const { commands, isPlain } = readShell(text);
  const written = writtenFiles(commands);
  if (written.isLoaded) list.isOpen = true;
  for (const command of commands) addCommand(list, command, place, written);
  // The text piped into a shell is in another command.
  if (!isPlain || commands.some(readsInput)) addLooseForms(list, text);
}

function readsInput({ words }: ShellCommand): boolean {
  return startsOfCommands(words).some(
    (at) => isShell(words[at] ?? "") || INPUT_READERS.has(programName(words[at] ?? "")),
  );
}

function addCommand(list: FormList, command: ShellCommand, place: TextPosition, written: WrittenFiles): void {
  const { words } = command;
  addAssignments(list, command, place);
  if (words.some((word, at) => command.expands[at] === true && isEvaluated(word))) list.isOpen = true;
  const all = startsOfCommands(words);
  const starts = all.slice(0, MOST_STARTS);
  if (all.length > starts.length) list.isOpen = true;
  const [first] = starts;
  if (first === undefined) return;
  const isFed = place.isFed || starts.some((start) => isFeeder(words[start] ?? ""));
  addForms(list, command, starts, isFed);
  if (starts.some((start) => runsUnseen(command, start))) list.isOpen = true;
  if (isFed && (isReplaced(words, first) || starts.some((start) => carriesInput(words, start, first))))
    list.isOpen = true;
  const runsSeveral = place.isJoined === true || /^(?:g?find|fd|fdfind)$/.test(programName(words[first] ?? ""));
  if (starts.some((start) => runsWritten(command, start, written, runsSeveral))) list.isOpen = true;
  const reader = starts.find((start) => isShell(words[start] ?? "") || isEval(words[start] ?? ""));
  if (isFed && reader !== undefined && evaluatesInput(words, first, reader)) list.isOpen = true;
  const carried = carriedFrom(words, first);
  if (reader !== undefined) addArguments(list, words.slice(reader + 1), place);
  else if (carried !== undefined) addArguments(list, words.slice(carried), { ...place, isFed });
  else addLooseArguments(list, command, first, place);
}

/** Variables that name a program, or make a program load something. */
function addAssignments(list: FormList, { words, expands }: ShellCommand, { depth }: TextPosition): void {
  const start = startOfCommand(words);
  const isExporting = ["export", "declare", "typeset", "local", "readonly", "env"].includes(words[start] ?? "");
  for (const [at, word] of words.entries()) {
    if (!isAssignment(word)) {
      if (at >= start && !isExporting) return;
      continue;
    }
    if (loadsSomething(word)) list.isOpen = true;
    if (holdsCommand(word)) addHeldCommand(list, word, depth);
    const value = commandInAssignment(word);
    if (value === undefined || value === "") continue;
    if (expands[at] === true || depth === 0) list.isOpen = true;
    else addText(list, value, { depth: depth - 1, isFed: true });
  }
}

/** The arguments of a program that runs them: each word may be a shell text, and all of them together may be one. */
function addArguments(list: FormList, words: readonly string[], { depth, isFed }: TextPosition): void {
  const texts = words.filter((word) => !PLAIN_WORD.test(word));
  if (depth === 0) {
    if (texts.length > 0 || words.length > 1) list.isOpen = true;
    return;
  }
  for (const word of texts) {
    const alias = /^[\w-]+=(.*)$/s.exec(word)?.[1];
    addText(list, alias ?? word, { depth: depth - 1, isFed: isFed || alias !== undefined });
    // `-S'rm x'`, `--split-string='rm x'`, `!rm x`.
    const value = /^(?:-[A-Za-z]|--[\w-]+=|[!|@]+)(.+)$/s.exec(word)?.[1];
    if (value !== undefined) addText(list, value, { depth: depth - 1, isFed });
  }
  const start = words.findIndex((word) => !word.startsWith("-"));
  if (start !== -1 && start < words.length - 1 && texts.length > 0) {
    addText(list, words.slice(start).join(" "), { depth: depth - 1, isFed, isJoined: true });
  } else if (start !== -1) addPlainForms(list, words, start);
}

/** Words without special characters form a command as they are. */
function addPlainForms(list: FormList, words: readonly string[], start: number): void {
  const expands = words.map(() => false);
  const fixed = words.map((word) => word.length);
  addForms(list, { words, expands, fixed, redirects: false, targets: [] }, [start], false);
}

/** The commands that may begin at these words, with and without the program's folder. */
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
      // On a file system that ignores case, `RM` is `rm`.
      if (name !== name.toLowerCase()) list.texts.push(name.toLowerCase() + joined.slice(rest) + added);
      addWithoutOptions(list, words, at, added);
      if (lastOpen >= at) addPattern(list, patternOf(command, at, isFed));
      else if (isFed) list.maybes.push([`${name}${joined.slice(rest)} `, ""]);
    }
    offset += word.length + 1;
  }
}

/** How many options between a program and its subcommand are skipped. */
const MOST_OPTIONS = 8;

/**
 * `git -C folder push` is `git push`. It is unknown here whether an option takes the next word, so both readings count.
 */
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

/** With and without the program's folder, as far as both are known. */
function addPattern(list: FormList, pattern: Glob): void {
  const [start = "", ...more] = pattern;
  const end = start.indexOf(" ");
  const word = end === -1 ? start : start.slice(0, end);
  list.maybes.push(pattern, [programName(word) + start.slice(word.length), ...more]);
}

/** The pattern of a command that the shell partly expands: its known parts, with a gap for each unknown word. */
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

/** Arguments that a program may run although nothing marks them as commands: texts, option values, program names. */
function addLooseArguments(list: FormList, { words }: ShellCommand, start: number, { depth }: TextPosition): void {
  const name = programName(words[start] ?? "");
  const isInert = INERT.has(name);
  if (!isInert && !isKnownProgram(name)) addUnknownArguments(list, words, start);
  // The first word of an arithmetic expression: `$(( 'a[$(x)]' ))`.
  if (holdsCommand(words[start] ?? "")) addHeldCommand(list, words[start] ?? "", depth);
  for (const word of words.slice(start + 1)) {
    if (holdsCommand(word) && (!isInert || (INDEX_READERS.has(name) && word.includes("["))))
      addHeldCommand(list, word, depth);
    if (isInert) continue;
    const value = /^--?[\w-]+=(.+)$/s.exec(word)?.[1] ?? /^-[A-Za-z](.+)$/s.exec(word)?.[1];
    if (value !== undefined) list.maybes.push([value, ""]);
    if (/(?:^|\/)s?bin\/[^/]+$/.test(word)) list.maybes.push([`${programName(word)} `, ""]);
    if (!PLAIN_WORD.test(word)) addLooseForms(list, word);
  }
}

/** How many arguments of an unknown program are treated as a possible start of a command. */
const UNKNOWN_WORDS = 40;

/** An unknown program may run its arguments as a command, and the text after `-e` as a program. */
function addUnknownArguments(list: FormList, words: readonly string[], start: number): void {
  const end = Math.min(words.length, start + 1 + UNKNOWN_WORDS);
  for (let at = start + 1; at < end; at += 1) {
    const word = words[at] ?? "";
    const isProgram = /^(?:-[a-zA-Z]*[ecEr]|--?(?:eval|exec|execute|command|run|expression|script))$/.test(
      words[at - 1] ?? "",
    );
    if (isProgram && !PLAIN_WORD.test(word)) list.isOpen = true;
    if (!isOption(word)) list.maybes.push([[programName(word), ...words.slice(at + 1)].join(" ")]);
  }
}

/** `${a@P}`, and in zsh `${(e)a}`, execute commands in the value of a variable. */
export function isEvaluated(word: string): boolean {
  return word.includes("@P}") || word.includes("${(");
}

/** A quoted substitution: the shell does not execute it, but a program that evaluates the word later may. */
function holdsCommand(word: string): boolean {
  return word.includes("$(") || word.includes("`");
}

function addHeldCommand(list: FormList, word: string, depth: number): void {
  if (depth === 0) {
    list.isOpen = true;
    return;
  }
  const from = word.search(/\$\(|`/);
  const inner: FormList = { texts: [], maybes: [], isOpen: false };
  addText(inner, word.slice(from), { depth: depth - 1, isFed: false });
  list.maybes.push(...inner.maybes, ...inner.texts.map((text): Glob => [text]));
  if (inner.isOpen) list.isOpen = true;
}

/** For texts that cannot be followed: quotes are ignored, and a command may also begin after `echo`. */
function addLooseForms(list: FormList, text: string): void {
  for (const piece of text.split(/[;&|\n\r()`'"{}<>#!=]/)) {
    const words = piece.replaceAll("\\", "").split(/\s+/).filter(Boolean);
    const start = startOfCommand(words);
    const name = programName(words[start] ?? "").replace(/^[.:@]/, "");
    const isEcho = ["echo", "printf", "spawn", "shell", "system", "sh", "syscmd", "e", "eval", "exec"].includes(name);
    const starts = isEcho ? [start, start + 1, start + 2] : startsOfCommands(words);
    for (const at of starts) {
      const word = words[at];
      if (word === undefined) continue;
      const rest = words.slice(at + 1).join(" ");
      list.maybes.push([rest === "" ? programName(word) : `${programName(word)} ${rest}`]);
    }
  }
}

/** Whether a builtin evaluates a command inside an array index, or sets a variable that another command evaluates. */
export function setsOrEvaluates([name = "", ...rest]: readonly string[]): boolean {
  if (name === "printf" && rest.some((word) => word.startsWith("-v"))) return true;
  return name !== "echo" && INDEX_READERS.has(name) && rest.some((word) => word.includes("[") && holdsCommand(word));
}

/** Whether the program that a feeder runs is itself replaced by the input (`xargs -I{} {} x`). */
function isReplaced(words: readonly string[], start: number): boolean {
  const carried = carriedFrom(words, start);
  if (carried === undefined) return false;
  const { mark, at } = markOf(words, start, carried);
  return words[at]?.includes(mark) === true || words[at]?.includes("{}") === true;
}

/** Whether a shell that a feeder runs evaluates the input (`xargs -I{} sh -c '{} x'`). */
function evaluatesInput(words: readonly string[], start: number, reader: number): boolean {
  const { mark } = markOf(words, start, carriedFrom(words, start) ?? start + 1);
  const inline = words.findIndex((word, at) => at > reader && /^-[A-Za-z]*c$/.test(word));
  const texts = isShell(words[reader] ?? "") ? words.slice(inline + 1, inline + 2) : words.slice(reader + 1);
  return (
    (inline !== -1 || isEval(words[reader] ?? "")) && texts.some((word) => word.includes(mark) || word.includes("{}"))
  );
}

/** What a feeder replaces with its input, and where the program it runs begins. */
function markOf(words: readonly string[], start: number, carried: number): { mark: string; at: number } {
  let at = carried;
  let mark = "{}";
  const isXargs = /xargs|parallel|rush/.test(words[start] ?? "");
  while (isXargs && isOption(words[at])) {
    if (words[at] === "-I" || words[at] === "-J") mark = words[at + 1] ?? mark;
    else mark = /^-[IJ](.+)$/.exec(words[at] ?? "")?.[1] ?? mark;
    at += /^-[InPLsdEaJRj]$/.test(words[at] ?? "") ? 2 : 1;
  }
  return { mark, at };
}

/** Whether a program that runs others receives its program from the input, which is unknown here. */
function carriesInput(words: readonly string[], start: number, first: number): boolean {
  const name = words[start] ?? "";
  if (start === first || !(isCarrier(name) || isEval(name)) || isFeeder(name)) return false;
  const next = words.slice(start + 1).find((word) => !/^[\d.]+[smhd]?$/.test(word)) ?? "-";
  return next.startsWith("-") || isAssignment(next);
}
