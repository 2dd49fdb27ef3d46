import type { ChildProcess } from "node:child_process";
import { type ProcessTag, StartError } from "#domain";

/**
 * Ends what our processes have started when this process dies without having done it: by `kill -9`, by a crash, by
 * running out of memory.
 */
export interface Watchdog {
  /**
   * From now on what carries this tag ends with us. Call it before the process is started; the first call starts the
   * companion. Resolves when the companion knows; without `/bin/sh` and `/proc` it resolves and guards nothing.
   */
  guard(tag: ProcessTag): Promise<void>;
  /** What carries this tag is gone, or may stay. */
  release(tag: ProcessTag): void;
  /** Ends the companion, and with it what is still guarded. Idempotent. */
  close(): void;
}

/**
 * Reads `+name=value` and `-name=value` until the pipe ends, which happens when whoever holds the other end is gone.
 * Then everything that carries a tag, and its children, gets SIGTERM, a second, and SIGKILL until nothing is left.
 *
 * A shell costs a megabyte where another of ourselves would cost forty. Signals are ignored: a terminal sends them to
 * everybody, and who dies first cannot clean up.
 */
const SCRIPT = `
trap '' HUP INT TERM PIPE
tags=""
nl='
'
while IFS= read -r line; do
  tag=\${line#?}
  case $line in
    +*) tags="$tags$tag$nl" ;;
    -*)
      kept=""
      while IFS= read -r one; do
        if [ -n "$one" ] && [ "$one" != "$tag" ]; then kept="$kept$one$nl"; fi
      done <<END
$tags
END
      tags=$kept ;;
  esac
done
[ -n "$tags" ] || exit 0
members=" "
find_members() {
  for file in $(printf '%s' "$tags" | grep -lzxFf - /proc/[0-9]*/environ 2>/dev/null); do
    pid=\${file#/proc/}; pid=\${pid%/environ}
    case $members in *" $pid "*) ;; *) members="$members$pid " ;; esac
  done
  grown=1
  while [ $grown = 1 ]; do
    grown=0
    for file in /proc/[0-9]*/stat; do
      { read -r stat < "$file"; } 2>/dev/null || continue
      set -- \${stat##*) }
      pid=\${file#/proc/}; pid=\${pid%/stat}
      case $members in *" $pid "*) continue ;; esac
      case $members in *" $2 "*) members="$members$pid "; grown=1 ;; esac
    done
  done
}
living() {
  alive=""
  for pid in $members; do
    { read -r stat < "/proc/$pid/stat"; } 2>/dev/null || continue
    set -- \${stat##*) }
    case $1 in Z|X) ;; *) alive="$alive $pid" ;; esac
  done
  members=" $alive "
}
find_members; living
kill -TERM $alive 2>/dev/null
for round in 1 2 3 4 5 6 7 8 9 10; do
  [ -n "$alive" ] || break
  sleep 0.1
  find_members; living
done
for round in 1 2 3 4 5 6 7 8 9 10; do
  find_members; living
  [ -n "$alive" ] || exit 0
  kill -KILL $alive 2>/dev/null
  sleep 0.1
done
`;

/** Creates a watchdog. One per process is enough; nothing is started before the first `guard`. */
export function createWatchdog(): Watchdog {
  let companion: Promise<ChildProcess | undefined> | undefined;
  let closed = false;

  const tell = (child: ChildProcess | undefined, line: string): Promise<void> =>
    new Promise((resolve) => {
      if (child?.stdin?.writable !== true) resolve();
      else child.stdin.write(line, () => resolve());
    });

  return {
    async guard(tag) {
      if (closed) return;
      const line = writeTag(tag);
      companion ??= startCompanion();
      await tell(await companion, `+${line}\n`);
    },
    release(tag) {
      companion?.then((child) => tell(child, `-${writeTag(tag)}\n`)).catch(() => undefined);
    },
    close() {
      if (closed) return;
      closed = true;
      companion?.then((child) => child?.stdin?.end()).catch(() => undefined);
    },
  };
}

/** The companion has a session of its own, no output, and does not keep us alive. */
async function startCompanion(): Promise<ChildProcess | undefined> {
  if (process.platform !== "linux") return undefined;
  const { spawn } = await import("node:child_process");
  return new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", SCRIPT, "millrace-watchdog"], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
      shell: false,
    });
    // Without it a broken pipe, or a missing shell, would bring us down: the one thing a watchdog must not do.
    child.stdin.on("error", () => undefined);
    child.on("error", () => resolve(undefined));
    child.on("spawn", () => {
      child.unref();
      (child.stdin as unknown as { unref?: () => void }).unref?.();
      resolve(child);
    });
  });
}

function writeTag({ name, value }: ProcessTag): string {
  const tag = `${name}=${value}`;
  if (/[\n\0]/.test(tag)) {
    throw new StartError("invalid-option", `The tag ${JSON.stringify(tag)} must be one line without NUL bytes.`);
  }
  return tag;
}
