/** Words a shell reads before a command, and commands that run the command behind them. */
const KEYWORDS: ReadonlySet<string> = new Set(
  "if then else elif fi do done while until ! { } time coproc function esac [[ ]]".split(" "),
);

const CARRIERS: ReadonlySet<string> = new Set(
  (
    "sudo doas su runuser env nohup nice ionice chrt taskset setsid timeout stdbuf unbuffer command builtin exec " +
    "xargs parallel find watch busybox toybox chroot unshare nsenter strace ltrace gdb flock script time ssh entr fd"
  ).split(" "),
);

/** Commands that read their arguments, or what is piped into them, as a shell text. */
const SHELLS: ReadonlySet<string> = new Set("sh bash zsh dash ash ksh mksh fish csh tcsh eval trap".split(" "));

/** How many words behind a carrier are taken for the beginning of what it runs. */
const CARRIED_WORDS = 40;

/** The name of a program without the folder it is in. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

export function isShell(word: string): boolean {
  return SHELLS.has(programName(word));
}

/** Where the command itself begins: behind assignments and words of the shell's own grammar. */
export function startOfCommand(words: readonly string[]): number {
  const start = words.findIndex((word) => !KEYWORDS.has(word) && !isAssignment(word));
  return start === -1 ? words.length : start;
}

/**
 * Every place where a command may begin: the first word, and behind a command that runs others, each of the next words,
 * because which of them are its own options cannot be known here.
 */
export function startsOfCommands(words: readonly string[]): readonly number[] {
  const start = startOfCommand(words);
  if (start === words.length) return [];
  const starts = [start];
  if (!CARRIERS.has(programName(words[start] ?? ""))) return starts;
  const end = Math.min(words.length, start + 1 + CARRIED_WORDS);
  for (let at = start + 1; at < end; at += 1) starts.push(at);
  return starts;
}

/** `NAME=value`, in front of a command. */
function isAssignment(word: string): boolean {
  const equals = word.indexOf("=");
  return equals > 0 && /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?$/.test(word.slice(0, equals));
}
