import { isShell, programName } from "./shell-names.ts";
import { isRunningSed } from "./shell-sed.ts";

/** A program and its arguments. */
export interface Given {
  readonly words: readonly string[];
  /** Per word: its value is known only after expansion by the shell. */
  readonly expands: readonly boolean[];
}

/** The options with which each interpreter takes a program text as an argument. */
const INLINE: readonly (readonly [name: RegExp, option: RegExp])[] = [
  [/^(?:[ij]|micro)?python[\d.]*$|^pypy[\d.]*$/, /^-[A-Za-z]*c/],
  [/^perl[\d.]*$/, /^-[A-Za-z0-9]*[eE]/],
  [/^ruby[\d.]*$/, /^-[A-Za-z]*e/],
  [/^(?:node|nodejs|bun|tsx|ts-node|esno|jiti)$/, /^(?:-[a-z]*[ep]|--eval|--print)(?:=|$)|data:/],
  [/^deno$/, /^eval$|data:/],
  [/^php[\d.]*$/, /^-[rRBE]/],
  [/^(?:lua[\d.]*|luajit|julia|osascript|elixir|Rscript|guile|racket|ghc|scala|groovy)$/, /^-[eEc]|^--eval/],
  [/^(?:pwsh|powershell)$/i, /^-(?:c|e)/i],
  [/^(?:tclsh|wish|expect)[\d.]*$/, /^-c/],
  [/^(?:irb|pry)$/, /^-e/],
];

/** Python modules that take a program text from their arguments or their input. */
const PYTHON_MODULE = /^(?:timeit|code|pdb|asyncio|idlelib)$/;

/** Options that make a program run a command or a program text. */
const RUNNING: readonly Running[] = [
  {
    name: /^g?tar$|^bsdtar$/,
    short: /^-[a-zA-Z]*[IF]/,
    long: "to-command checkpoint-action use-compress-program info-script",
  },
  { name: /^g?tar$|^bsdtar$|^cpio$/, long: "new-volume-script rsh-command rmt-command" },
  { name: /^rsync$/, short: /^-[a-zA-Z]*[eM]/, long: "rsh rsync-path remote-option" },
  {
    name: /^(?:ssh|scp|sftp|autossh|ssh-copy-id)$/,
    short: /^(?:-[a-zA-Z0-9]*o)?\s*(?:Proxy|Local|KnownHosts|PermitLocal)Command\b|^-[a-zA-Z0-9]*F/i,
  },
  { name: /^(?:scp|sftp)$/, short: /^-[a-zA-Z0-9]*[SD]/ },
  { name: /^ssh-(?:keygen|add)$/, short: /^-[a-zA-Z]*[Ds]/ },
  { name: /^zip$/, short: /^-[a-zA-Z]*TT/, long: "unzip-command" },
  { name: /^wget$/, short: /^-[a-zA-Z]*e/, long: "execute use-askpass config" },
  { name: /^openssl$/, short: /^-(?:engine|provider|provider-path|config)$/ },
  { name: /^gpg2?$/, long: "photo-viewer exec-path agent-program dirmngr-program pinentry-program" },
  { name: /^less$|^more$/, short: /^\+.*[!|]|^-[a-zA-Z]*k/s, long: "lesskey-file lesskey-src lesskey-content" },
  { name: /^bat$/, long: "pager" },
  { name: /^fzf$/, long: "preview bind" },
  { name: /^(?:vim?|nvim|ex|view|gvim|emacs|ed)$/, short: /^(?:-[cSsflu]|\+)/, long: "cmd eval load" },
  { name: /^emacsclient$/, short: /^-e/, long: "eval" },
  { name: /^man$/, short: /^-[PHC]/, long: "pager html config-file" },
  { name: /^g?make$/, short: /^(?:SHELL=|-E)/, long: "eval" },
  { name: /^split$/, long: "filter" },
  { name: /^sort$/, long: "compress-program" },
  { name: /^rg$/, long: "pre hostname-bin" },
  { name: /^(?:ag|ack)$/, long: "pager" },
  { name: /^gh$/, short: /^(?:alias|extension)$/ },
  { name: /^go$/, short: /^-(?:exec|toolexec|vettool|overlay)/ },
  { name: /^cargo$/, long: "config" },
  { name: /^(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+)$/, short: /^-(?:wrapper|specs|fplugin|B)/ },
  {
    name: /^(?:npm|pnpm|yarn)$/,
    short: /^(?:script-shell|node-options)/,
    long: "script-shell node-options call shell",
  },
  {
    name: /^(?:sqlite3|psql|mysql|mariadb|duckdb)$/,
    // The dot commands of sqlite3 may be shortened, and some of them read from a program or a file.
    short:
      /^\s*\.(?:sh(?:e(?:ll?)?)?|sy\w*|lo\w*|read?|imp\w*)\b|\\!|^system\b|\bprogram\b|\b(?:load_extension|edit|writefile)\s*\(/im,
  },
  { name: /^(?:gdb|lldb)$/, short: /^-(?:ex|o|x|s)$/, long: "eval-command one-line command source" },
  { name: /^socat$|^ncat?$/, short: /^(?:EXEC:|SYSTEM:|-e$|-c$)/i, long: "exec sh-exec lua-exec" },
  { name: /^tcpdump$/, short: /^-[a-zA-Z]*z$/ },
  { name: /^(?:mongosh?|octave|maxima|erl|sbcl|ecl|R)$/, short: /^-e/, long: "eval eval-file batch-string" },
  {
    name: /^(?:clisp|clojure|clj|bb|iex|mix|ocaml|jrunscript|kotlin|swift|csi|rake|gnuplot)$/,
    short: /^-[eEx]/,
    long: "eval",
  },
  { name: /^crontab$|^at$/, short: /^/ },
  { name: /^enable$/, short: /^-f/ },
  { name: /^hash$/, short: /^-[a-z]*p/ },
  { name: /^(?:mapfile|readarray)$/, short: /^-[a-zA-Z]*C/ },
  { name: /^(?:rails|jupyter)$/, short: /^(?:runner|r|run)$/ },
  { name: /^php[\d.]*$/, long: "execute" },
  { name: /^mvnw?$/, short: /^exec:|^-Dexec\./ },
];

interface Running {
  readonly name: RegExp;
  readonly short?: RegExp;
  /** Long options without the hyphens; any prefix of one counts as the option. */
  readonly long?: string;
}

/** Options that are also prefixes of the ones above, but do something else. */
const OPTIONS_OF_THEIR_OWN: ReadonlySet<string> = new Set(["--checkpoint", "--text", "--cookie", "--trace-time"]);

/** Variables whose value the next program loads or runs, or that say where it finds what it runs. */
const LOADED =
  /^(?:BASH_ENV|ENV|ZDOTDIR|INPUTRC|PROMPT_COMMAND|PS[0-4]|BASH_FUNC_.*|BASH_ALIASES|BASH_CMDS|aliases|functions|commands|LD_\w+|DYLD_\w+|PERL5(?:OPT|DB)|RUBYOPT|PYTHON(?:STARTUP|HOME|BREAKPOINT)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|G?MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|TAR_OPTIONS|MANOPT|LESSKEY\w*|LESSOPEN|GIT_(?:CONFIG\w*|EXEC_PATH|TEMPLATE_DIR|DIR|COMMON_DIR)|HOME|XDG_CONFIG_\w+)$/;

/**
 * Whether a command runs something that is not visible in its words as a command: a program text in an argument or on
 * its input, a shell without a file, an option that names a program.
 */
export function runsUnseen({ words, expands }: Given, start: number): boolean {
  const name = programName(words[start] ?? "");
  const rest = words.slice(start + 1);
  const unknown = expands.slice(start + 1);
  if (isShell(name)) return isUnseenShell(rest, unknown);
  if (name === "source" || name === ".") return rest.length > 0 && isUnseenFile(rest[0], unknown[0]);
  if (name === "eval") return unknown.includes(true);
  // Everything but the list of commands is run again.
  if (name === "fc") return !rest.some((word) => /^-[a-z]*l/.test(word));
  if (name === "parallel" || name === "rush") return !rest.some((word) => !word.startsWith("-"));
  if (name === "find" || name === "gfind") return rest.some((word) => /^-(?:delete|fprint[0f]?|fls)$/.test(word));
  if (name === "git") return isUnseenGit(rest, unknown);
  if (/^[gmn]?awk$/.test(name)) return rest.some(isRunningAwk) || isUnseenScript(rest, unknown);
  if (/^g?sed$/.test(name)) return isRunningSed(rest) || isUnseenScript(rest, unknown);
  // Without arguments it reads its table from the input.
  if (name === "batch" || (name === "crontab" && rest.length === 0)) return true;
  // The first argument of tar holds its options, with or without a hyphen.
  if (/^g?tar$|^bsdtar$/.test(name) && /^[a-zA-Z]*[IF][a-zA-Z]*$/.test(rest[0] ?? "")) return true;
  if (/^g?make$/.test(name) && isUnseenScript(rest, unknown)) return true;
  if (RUNNING.some((running) => running.name.test(name) && rest.some((word) => isRunningOption(word, running))))
    return true;
  return isUnseenProgram(name, rest, unknown);
}

function isRunningOption(word: string, { short, long }: Running): boolean {
  return short?.test(word) === true || (long !== undefined && isLongOption(word, long.split(" ")));
}

/** GNU programs and git accept any unambiguous prefix of a long option. */
export function isLongOption(word: string, options: readonly string[]): boolean {
  const [name = ""] = word.split("=", 1);
  if (!/^--./.test(name) || OPTIONS_OF_THEIR_OWN.has(name)) return false;
  return options.some((option) => option.startsWith(name.slice(2)));
}

/** The name of the assigned variable, without an index or `+`. */
export function assignedName(assignment: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*/.exec(assignment)?.[0] ?? "";
}

/** Whether an assignment makes the next program load or run something. */
export function loadsSomething(assignment: string): boolean {
  const name = assignedName(assignment);
  const value = assignment.slice(assignment.indexOf("=") + 1);
  if (value === "") return false;
  if (/^(?:NODE_OPTIONS|npm_config_node_options)$/i.test(name)) return /data:/.test(value);
  if (name === "LESS" || name === "MORE") return /[!|]/.test(value);
  return LOADED.test(name) || (name === "GOFLAGS" && /exec|tool|overlay/.test(value));
}

/** The value of an assignment that a program runs as a command, such as a pager. */
export function commandInAssignment(assignment: string): string | undefined {
  return /(?:PAGER|EDITOR|VISUAL|BROWSER|_COMMAND|_CMD|SHELL|ASKPASS|LESSCLOSE|LESSEDIT|_DIFF|_SSH|_RSH|_PROG|_WRAPPER|_LINKER|_RUNNER|^CC|^CXX|^LD|^AR|^GREP)$/i.test(
    assignedName(assignment),
  )
    ? assignment.slice(assignment.indexOf("=") + 1)
    : undefined;
}

/** `-c` texts are handled elsewhere, unless they are unknown; a shell with a file runs that file. */
function isUnseenShell(rest: readonly string[], unknown: readonly boolean[]): boolean {
  const inline = rest.findIndex((word) => /^-[A-Za-z]*c$/.test(word));
  if (inline !== -1) return unknown[inline + 1] !== false;
  if (rest.length > 0 && rest.every((word) => /^--(?:version|help)$/.test(word))) return false;
  // `-o` and similar options take the next word, which is not a file then.
  const takesNext = (word: string | undefined): boolean =>
    /^(?:[-+][A-Za-z]*[oO]|--(?:emulate|rcfile|init-file))$/.test(word ?? "");
  const file = rest.findIndex((word, at) => !/^[-+]/.test(word) && !takesNext(rest[at - 1]));
  const readsInput = rest.some((word) => /^-[A-Za-z]*s[A-Za-z]*$/.test(word));
  return readsInput || isUnseenFile(rest[file], unknown[file]);
}

/** There is no file, or its name is unknown. */
function isUnseenFile(file: string | undefined, isUnknown: boolean | undefined): boolean {
  // In zsh, `=(x)` is a file with the output of `x`.
  if (file === undefined || isUnknown === true || file === "-" || file === "=") return true;
  return /^\/|(?:^|\/)\.\.\//.test(file) && /\/(?:dev|proc)\//.test(file);
}

/** Whether a program's purpose is to run a program it is given: a shell or a language. */
export function isInterpreter(word: string): boolean {
  const name = programName(word);
  return isShell(name) || INLINE.some(([names]) => names.test(name));
}

/** Whether an interpreter receives a program text, or reads it from its input. */
function isUnseenProgram(name: string, rest: readonly string[], unknown: readonly boolean[]): boolean {
  const language = INLINE.find(([names]) => names.test(name));
  if (language === undefined) return false;
  if (rest.some((word) => language[1].test(word))) return true;
  if (rest.length === 1 && /^(?:-V|-v|-h|--version|--help|--test)$/.test(rest[0] ?? "")) return false;
  const module = /python|pypy/.test(name) ? moduleOf(rest) : undefined;
  if (module !== undefined) return PYTHON_MODULE.test(module);
  if (name.startsWith("node") && rest.some((word) => /^--(?:test|run)\b/.test(word)) && !rest.includes("-"))
    return false;
  const file = findFile(rest);
  return isUnseenFile(rest[file], unknown[file]);
}

/**
 * The first word that is not an option. A bare word after an option may be its value, in which case the program comes
 * from elsewhere.
 */
function findFile(rest: readonly string[]): number {
  return rest.findIndex((word, at) => {
    if (word === "-") return true;
    if (word.startsWith("-")) return false;
    const before = rest[at - 1] ?? "";
    return !before.startsWith("-") || before === "--" || /[./]/.test(word);
  });
}

function moduleOf(rest: readonly string[]): string | undefined {
  const at = rest.findIndex((word) => /^-[A-Za-z]*m/.test(word));
  if (at === -1 || rest.slice(0, at).includes("-")) return undefined;
  return /^-[A-Za-z]*?m(.+)$/.exec(rest[at] ?? "")?.[1] ?? rest[at + 1];
}

const GIT_KEY =
  /(?:^alias\.|pager|editor|command|hook|fsmonitor|helper|textconv|external|cmd|filter\.|askpass|program|include|driver|proxy|uploadpack|receivepack|\.path$|\.update$|\.vcs$|^url\.|insteadof)/i;
const GIT_OPTIONS = (
  "exec-path config-env upload-pack receive-pack exec extcmd open-files-in-pager output ext-diff textconv tree-filter index-filter " +
  "msg-filter env-filter commit-filter tag-name-filter parent-filter setup sendmail-cmd to-cmd cc-cmd smtp-server"
).split(" ");
/** Subcommands that run what is configured or what they are given. */
const GIT_COMMANDS: ReadonlySet<string> = new Set(
  (
    "filter-branch mergetool daemon instaweb hook send-email shell for-each-repo web--browse remote-ext remote-fd p4 svn cvsimport " +
    "cvsserver archimport credential http-backend imap-send"
  ).split(" "),
);

/** Whether options, configuration keys or subcommands make git run something else, or write to an unexpected place. */
function isUnseenGit(rest: readonly string[], unknown: readonly boolean[]): boolean {
  const command = rest.findIndex((word, at) => !word.startsWith("-") && !/^-[cC]$/.test(rest[at - 1] ?? ""));
  if (command !== -1 && unknown[command] === true) return true;
  const isKeyed = rest.some((word, at) => {
    const key = /^(?:-c|--con[a-z]*)$/.test(rest[at - 1] ?? "") ? word : /^--con[a-z]*=(.*)$/s.exec(word)?.[1];
    return key !== undefined && (GIT_KEY.test(key) || unknown[at] === true);
  });
  if (isKeyed || rest.some(isGitOption)) return true;
  const [name = "", ...more] = rest.slice(command === -1 ? rest.length : command);
  switch (name) {
    case "config":
      if (more.some((word) => word.startsWith("!"))) return true;
      return more.some((word) => GIT_KEY.test(word)) && more.filter((word) => !word.startsWith("-")).length > 1;
    case "clone":
    case "ls-remote":
      return more.some((word) => word.startsWith("-u")) || more.some((word) => word.startsWith("--template="));
    case "init":
      return more.some((word) => word.startsWith("--template="));
    case "rebase":
    case "difftool":
      return more.some((word) => word.startsWith("-x"));
    case "bisect":
      return more[0] === "run";
    case "submodule":
      return more.includes("foreach");
    default:
      return GIT_COMMANDS.has(name);
  }
}

/** `-c` or `-O` joined with its value, a transport that runs a program, or an option that does. */
function isGitOption(word: string): boolean {
  return /^-c.+=|^-O.|(?:^|=)ext::/.test(word) || isLongOption(word, GIT_OPTIONS);
}

/** In GNU awk, `@name(…)` calls the function whose name is in a variable. */
function isRunningAwk(word: string): boolean {
  return /system|getline|@\s*\w/.test(word) || /(?:^|[^|])\|(?!\|)/.test(word);
}

function isUnseenScript(rest: readonly string[], unknown: readonly boolean[]): boolean {
  return rest.some((word, at) => {
    if (/^(?:-f|--(?:make)?file=)(?:-|\/(?:dev|proc)\/.*)$/.test(word)) return true;
    const isNamed = /^(?:-f|--file|--makefile)$/.test(rest[at - 1] ?? "");
    return isNamed && isUnseenFile(word, unknown[at]);
  });
}
