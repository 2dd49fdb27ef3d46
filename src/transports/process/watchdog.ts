import type { ChildProcess } from "node:child_process";
import { type ProcessEntry, type ProcessFamily, type ProcessTag, StartError } from "#domain";
import { writeCompanion } from "./watchdog-script.ts";
import { WINDOWS_COMPANION } from "./watchdog-windows.ts";
import { WINDOWS_QUERY } from "./windows-table.ts";

/**
 * Ends what our processes have started when this process dies without having done it: by `kill -9`, by a crash, by
 * running out of memory.
 */
export interface Watchdog {
  /**
   * From now on what carries this tag ends with us. Call it before the process is started; the first call starts the
   * companion. Resolves when the companion knows; on a platform without one it resolves and guards nothing.
   */
  guard(tag: ProcessTag): Promise<void>;
  /** From now on the companion knows who belongs to a guarded tag besides those that carry it. */
  follow?(tag: ProcessTag, family: ProcessFamily): void;
  /** What carries this tag is gone, or may stay. */
  release(tag: ProcessTag): void;
  /** Ends the companion, and with it what is still guarded. Idempotent. */
  close(): void;
}

export interface WatchdogOptions {
  /** Default: the one we run on. */
  readonly platform?: NodeJS.Platform;
  /** Reads with `ps` where there is `/proc` as well. */
  readonly source?: "ps";
  /** Where Windows is. Default: the variable `SystemRoot`. */
  readonly systemRoot?: string;
}

/** Creates a watchdog. One per process is enough; nothing is started before the first `guard`. */
export function createWatchdog(options: WatchdogOptions = {}): Watchdog {
  const plan = planCompanion(options);
  const guarded = new Set<string>();
  let companion: Promise<ChildProcess | undefined> | undefined;
  let closed = false;

  const tell = (line: string): Promise<void> =>
    Promise.resolve(companion).then(
      (child) =>
        new Promise((resolve) => {
          if (child?.stdin?.writable !== true) resolve();
          else child.stdin.write(`${line}\n`, () => resolve());
        }),
    );
  const mention = (line: string): void => {
    tell(line).catch(() => undefined);
  };

  return {
    async guard(tag) {
      if (closed) return;
      const name = writeTag(tag);
      companion ??= startCompanion(plan);
      guarded.add(name);
      await tell(`+${name}`);
    },
    follow(tag, family) {
      const name = writeTag(tag);
      const report = (living: readonly ProcessEntry[]): void => {
        // A look that ends after the release must not put anybody under guard again.
        if (guarded.has(name)) mention(`=${name}\t${living.map((one) => `${one.pid}:${plan?.stamp(one)}`).join(" ")}`);
      };
      family.onChange = report;
      // The group holds everybody, now and later.
      if (family.controlGroup === undefined) family.look().then(report, () => undefined);
      else if (guarded.has(name)) mention(`@${name}\t${family.controlGroup}`);
    },
    release(tag) {
      const name = writeTag(tag);
      if (guarded.delete(name)) mention(`-${name}`);
    },
    close() {
      if (closed) return;
      closed = true;
      companion?.then((child) => child?.stdin?.end()).catch(() => undefined);
    },
  };
}

/** How the companion is started on a platform. */
interface CompanionPlan {
  readonly executable: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The start of a process as the companion reads it. */
  stamp(entry: ProcessEntry): string;
}

const WITH_PS: readonly string[] = ["darwin", "freebsd", "netbsd", "openbsd"];

function planCompanion(options: WatchdogOptions): CompanionPlan | undefined {
  const { platform = process.platform } = options;
  const ticks = ({ startTicks }: ProcessEntry): string => String(startTicks);
  if (platform === "win32") {
    const root = options.systemRoot ?? process.env["SystemRoot"] ?? "C:\\Windows";
    return {
      executable: process.execPath,
      args: ["-e", WINDOWS_COMPANION, WINDOWS_QUERY],
      env: { SystemRoot: root, windir: root, ELECTRON_RUN_AS_NODE: "1" },
      cwd: root,
      stamp: ticks,
    };
  }
  const source = options.source ?? (WITH_PS.includes(platform) ? "ps" : "proc");
  if (source === "proc" && platform !== "linux") return undefined;
  return {
    executable: "/bin/sh",
    args: ["-c", writeCompanion(source, platform), "millrace-watchdog"],
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC0" },
    cwd: "/",
    stamp: source === "ps" ? stampOfPs : ticks,
  };
}

/** As `ps` writes it, with `_` in place of blanks: `Tue_Nov_17_14:24:34_2026`. */
function stampOfPs({ startTicks }: ProcessEntry): string {
  const [day, date, month, year, time] = new Date(startTicks).toUTCString().replace(",", "").split(" ");
  return [day, month, Number(date), time, year].join("_");
}

/** The companion has a session of its own, no output, and does not keep us alive. */
async function startCompanion(plan: CompanionPlan | undefined): Promise<ChildProcess | undefined> {
  if (plan === undefined) return undefined;
  const { spawn } = await import("node:child_process");
  return new Promise((resolve) => {
    const child = spawn(plan.executable, [...plan.args], {
      cwd: plan.cwd,
      env: { ...plan.env },
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
      windowsHide: true,
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
  if (/[\n\t\0]/.test(tag)) {
    throw new StartError(
      "invalid-option",
      `The tag ${JSON.stringify(tag)} must be one line without tabs and NUL bytes.`,
    );
  }
  return tag;
}
