import { isShell, programName, startOfCommand } from "./shell-names.ts";
import { assignedName } from "./shell-unseen.ts";
import type { ShellCommand } from "./shell-words.ts";

/** The files that the commands of one text write; their content is unknown. */
export interface WrittenFiles {
  /** The last segments of their paths: the working folder may have changed in between. */
  readonly names: ReadonlySet<string>;
  /** Some program loads one of them by itself: a makefile, a hook, a shell's startup file. */
  readonly isLoaded: boolean;
  /** The search path for programs is changed. */
  readonly isPathSet: boolean;
}

/** Programs that do not write the files they name: they only read, change or run them. */
const READERS: ReadonlySet<string> = new Set(
  "chmod chown cat bat head tail less more ls stat file wc grep egrep rg test [ [[ echo printf cd source . diff md5sum sha256sum".split(
    " ",
  ),
);

/** Programs that run a file in their arguments. */
const FILE_RUNNERS =
  /^(?:source|\.|python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|bun|deno|tsx|ts-node|php[\d.]*|lua[\d.]*|luajit|tclsh[\d.]*|expect|[gmn]?awk|g?sed|g?make|ninja|cmake|xargs|parallel|gdb|vim?|nvim|ex|sqlite3|psql|mysql|m4|gnuplot|crontab|at|java|go|osascript|pwsh)$/;

const LOADED_FILE =
  /(?:^|\/)(?:GNUmakefile|[Mm]akefile|package\.json|\.npmrc|\.(?:bash|zsh)\w*|\.profile|\.envrc|\.gitconfig|\.vimrc|\.exrc|conftest\.py|sitecustomize\.py|build\.rs|authorized_keys)$|\.git\/(?:hooks\/|config$)/;

export function writtenFiles(commands: readonly ShellCommand[]): WrittenFiles {
  const targets = commands.flatMap(({ words, targets: redirected }) => [
    ...redirected,
    ...(programName(words[0] ?? "") === "tee" ? words.slice(1) : []),
  ]);
  const named = commands.flatMap(({ words }) => {
    const start = startOfCommand(words);
    return makesFiles(words[start] ?? "") ? words.slice(start + 1).flatMap(namesIn) : [];
  });
  return {
    names: new Set([...targets.map(programName), ...named]),
    isLoaded: targets.some((path) => LOADED_FILE.test(path)),
    isPathSet: commands.some(({ words }) => words.some((word) => word.includes("=") && assignedName(word) === "PATH")),
  };
}

/** Whether a command runs a file that the same text has written. */
export function runsWritten(words: readonly string[], start: number, written: WrittenFiles): boolean {
  if (written.names.size === 0) return false;
  const program = words[start] ?? "";
  if ((program.includes("/") || written.isPathSet) && written.names.has(programName(program))) return true;
  if (!isShell(program) && !FILE_RUNNERS.test(programName(program))) return false;
  return words.slice(start + 1).some((word) => written.names.has(programName(word)));
}

function makesFiles(program: string): boolean {
  return (
    program !== "" &&
    !READERS.has(programName(program)) &&
    !isShell(program) &&
    !FILE_RUNNERS.test(programName(program))
  );
}

/** The parts of a word that may be a file name: `of=a.sh`, `https://example.com/a.sh`. */
function namesIn(word: string): readonly string[] {
  return word.split(/[^\w.+-]+/).filter((name) => /\w/.test(name) && !name.startsWith("-"));
}
