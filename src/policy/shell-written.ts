import { isShell, programName, startOfCommand } from "./shell-names.ts";
import { assignedName } from "./shell-unseen.ts";
import type { ShellCommand } from "./shell-words.ts";

/** The files that the commands of one text write; their content is unknown. */
export interface WrittenFiles {
  /** The last segments of their paths, with the commands that write them: the working folder may have changed in between. */
  readonly names: ReadonlyMap<string, ReadonlySet<ShellCommand>>;
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
  const names = new Map<string, Set<ShellCommand>>();
  let isLoaded = false;
  for (const command of commands) {
    const { words } = command;
    const targets = [...command.targets, ...(programName(words[0] ?? "") === "tee" ? words.slice(1) : [])];
    if (targets.some((path) => LOADED_FILE.test(path))) isLoaded = true;
    const start = startOfCommand(words);
    const named = makesFiles(words[start] ?? "") ? words.slice(start + 1).flatMap(namesIn) : [];
    for (const name of [...targets.map(programName), ...named]) {
      const writers = names.get(name) ?? new Set();
      names.set(name, writers.add(command));
    }
  }
  return {
    names,
    isLoaded,
    isPathSet: commands.some(({ words }) => words.some((word) => word.includes("=") && assignedName(word) === "PATH")),
  };
}

/**
 * Whether a command runs a file that the same text has written. A command that names a file of its own has not written
 * it before, unless it runs several commands.
 */
export function runsWritten(
  command: ShellCommand,
  start: number,
  written: WrittenFiles,
  runsSeveral: boolean,
): boolean {
  const { words } = command;
  const isWritten = (word: string): boolean => {
    const writers = written.names.get(programName(word));
    return writers !== undefined && (runsSeveral || writers.size > 1 || !writers.has(command));
  };
  if (written.names.size === 0) return false;
  const program = words[start] ?? "";
  if ((program.includes("/") || written.isPathSet) && isWritten(program)) return true;
  if (!isShell(program) && !FILE_RUNNERS.test(programName(program))) return false;
  // Python looks for a module, and for what it imports, in the working folder.
  const runsModule = /^(?:python|pypy)/.test(programName(program)) && words.some((word) => /^-[A-Za-z]*m/.test(word));
  if (runsModule && [...written.names.keys()].some((name) => name.endsWith(".py"))) return true;
  return words.slice(start + 1).some(isWritten);
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
