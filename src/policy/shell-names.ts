/** Words of the shell grammar that may come before a command. */
const KEYWORDS: ReadonlySet<string> = new Set(
  "if then else elif fi do done while until ! { } esac [[ ]] - and or not begin always".split(" "),
);

/** Programs that run the command in their arguments ("carriers"). */
const CARRIERS: ReadonlySet<string> = new Set(
  (
    "sudo doas su runuser sg pkexec run0 env nohup nice ionice chrt taskset setsid setpriv setarch linux64 linux32 arch " +
    "timeout stdbuf unbuffer command builtin exec coproc time noglob nocorrect repeat xargs parallel rush watch entr " +
    "busybox toybox chroot unshare nsenter bwrap firejail proot fakeroot systemd-run systemd-inhibit dbus-run-session " +
    "xvfb-run caffeinate numactl prlimit strace ltrace gdb lldb valgrind flock script expect rlwrap ssh rsh mosh nix-shell " +
    "npx bunx pnpx uvx hyperfine concurrently watchexec nodemon gtimeout gxargs gnice genv gstdbuf start-stop-daemon " +
    "cross-env dotenv dotenvx gosu su-exec tini dumb-init chpst setuidgid s6-setuidgid softlimit choom cpulimit cgexec faketime " +
    "eatmydata nocache torsocks torify proxychains proxychains4 schroot fakechroot systemd-nspawn chronic ifne pee mispipe sem " +
    "xe run-one retry timelimit lockf zargs setlock capsh screen dtach abduco xterm konsole alacritty kitty foot gnome-terminal " +
    "wsl cmd winpty Start-Process distrobox toolbox pdsh pssh clush fab"
  ).split(" "),
);

/** Programs that run the command in their arguments when one of these subcommands or options is given. */
const SOMETIMES_CARRIERS: Readonly<Record<string, readonly string[]>> = {
  find: ["-exec", "-execdir", "-ok", "-okdir"],
  gfind: ["-exec", "-execdir", "-ok", "-okdir"],
  fd: ["-x", "-X", "--exec", "--exec-batch"],
  fdfind: ["-x", "-X", "--exec", "--exec-batch"],
  docker: ["run", "exec"],
  podman: ["run", "exec"],
  kubectl: ["exec", "run", "debug"],
  // Without a script of that name, `npm run env` is the program.
  npm: ["exec", "x", "explore", "env"],
  pnpm: ["exec", "dlx", "env"],
  yarn: ["exec", "dlx", "run"],
  bun: ["x"],
  uv: ["run"],
  poetry: ["run"],
  pipenv: ["run"],
  conda: ["run"],
  bundle: ["exec"],
  direnv: ["exec"],
  perf: ["stat", "record", "trace"],
  nerdctl: ["run", "exec"],
  "docker-compose": ["run", "exec"],
  lxc: ["exec"],
  incus: ["exec"],
  multipass: ["exec"],
  oc: ["exec", "rsh", "run", "debug"],
  ip: ["exec"],
  nix: ["-c", "--command", "run"],
  guix: ["--", "-c"],
  mise: ["exec", "x"],
  asdf: ["exec"],
  rbenv: ["exec"],
  pyenv: ["exec"],
  nvm: ["exec", "run"],
  volta: ["run"],
  rustup: ["run"],
  hatch: ["run"],
  pdm: ["run"],
  rye: ["run"],
  pipx: ["run"],
  op: ["run"],
  doppler: ["run"],
  chamber: ["exec"],
  "aws-vault": ["exec"],
  wezterm: ["start", "cli"],
  cmake: ["-E"],
  buildah: ["run"],
  heroku: ["run"],
  composer: ["exec"],
  lerna: ["exec"],
  gh: ["ssh"],
  tmux: ["new", "new-session", "new-window", "neww", "split-window", "splitw", "run-shell", "run"],
};

/** Carriers that add further arguments to the command, from their input or from a list. */
const FEEDERS: ReadonlySet<string> = new Set(
  "xargs gxargs zargs parallel sem rush xe find gfind fd fdfind entr".split(" "),
);

/** Commands that execute a file, `-c TEXT`, or their input as a shell text. */
const SHELLS: ReadonlySet<string> = new Set(
  "sh bash rbash zsh dash ash hush ksh ksh93 mksh oksh loksh pdksh yash posh fish csh tcsh nu xonsh elvish osh ysh".split(
    " ",
  ),
);

/** Commands that execute their arguments as a shell text, now or later. */
const EVALS: ReadonlySet<string> = new Set("eval trap alias complete compgen bind iex Invoke-Expression".split(" "));

/** How many nested groups are followed. */
const MOST_GROUPS = 120;

/** How many words after a carrier are treated as a possible start of the command it runs. */
const CARRIED_WORDS = 40;

/** The name of a program without its folder. In zsh, `=rm` means `rm`, and `zf_rm` is its builtin. */
export function programName(word: string): string {
  return word
    .slice(word.lastIndexOf("/") + 1)
    .replace(/\.exe$/i, "")
    .replace(/^(?:=|zf_)(?=[a-z])/, "");
}

/** Whether a program runs the command in its arguments, whatever the arguments are. */
export function isCarrier(word: string): boolean {
  return CARRIERS.has(programName(word));
}

export function isShell(word: string): boolean {
  return SHELLS.has(programName(word));
}

export function isEval(word: string): boolean {
  return EVALS.has(word);
}

/** Whether a program adds arguments to the command it runs that are not in the text. */
export function isFeeder(word: string): boolean {
  return FEEDERS.has(programName(word));
}

/** The index of the first word of the command itself, after assignments and shell keywords. */
export function startOfCommand(words: readonly string[]): number {
  let at = 0;
  while (at < words.length) {
    const word = words[at] as string;
    // The function's name comes between the keyword and the body.
    if (word === "function" && at === 0) at += 2;
    else if (KEYWORDS.has(word) || isAssignment(word)) at += 1;
    else break;
  }
  return Math.min(at, words.length);
}

/**
 * Every index at which a command may begin: the first word, the word after `{`, and, after a program that runs others,
 * each of the following words, because it is unknown here which of them are its options.
 */
export function startsOfCommands(words: readonly string[]): readonly number[] {
  const start = startOfCommand(words);
  if (start === words.length) return [];
  const starts = new Set([start]);
  for (let at = start; at < words.length - 1 && starts.size < MOST_GROUPS; at += 1) {
    if (words[at] === "{") starts.add(at + 1);
  }
  for (const first of [...starts]) {
    const carried = carriedFrom(words, first);
    if (carried === undefined) continue;
    const end = Math.min(words.length, carried + CARRIED_WORDS);
    for (let at = carried; at < end; at += 1) starts.add(at);
  }
  return [...starts].sort((left, right) => left - right);
}

/** The index after which a command's arguments may hold another command; `undefined`: there is none. */
export function carriedFrom(words: readonly string[], start: number): number | undefined {
  const name = programName(words[start] ?? "");
  // It only shows what would be run.
  if (name === "command" && /^-p?[vV]/.test(words[start + 1] ?? "")) return undefined;
  if (CARRIERS.has(name) || /^ld(?:-linux.*|-musl.*)?\.so(?:\.\d+)?$/.test(name)) return start + 1;
  if (!Object.hasOwn(SOMETIMES_CARRIERS, name)) return undefined;
  const switches = SOMETIMES_CARRIERS[name] as readonly string[];
  const at = words.findIndex((word, index) => index > start && switches.includes(word));
  return at === -1 ? undefined : at + 1;
}

/** `NAME=value` before a command. */
export function isAssignment(word: string): boolean {
  const equals = word.indexOf("=");
  return equals > 0 && /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?$/.test(word.slice(0, equals));
}
