import type { ChildProcess } from "node:child_process";
import { type ProcessEntry, type ProcessFamily, type ProcessTag, StartError } from "#domain";
import { type ControlGroups, createControlGroups, groupNameOf } from "./control-group.ts";
import { writeCompanion } from "./watchdog-script.ts";
import { WINDOWS_COMPANION } from "./watchdog-windows.ts";
import { WINDOWS_QUERY } from "./windows-table.ts";

/**
 * Ends everything that our processes have started if this process dies without doing so: by `kill -9`, a crash, or lack
 * of memory.
 */
export interface Watchdog {
  /**
   * Guards every process that carries this tag from now on. Call it before the process is started; the first call
   * starts the companion process. Resolves when the companion has been informed; on a platform without one, it resolves
   * and guards nothing.
   */
  guard(tag: ProcessTag): Promise<void>;
  /** Keeps the companion informed of the other processes that belong to a guarded tag. */
  follow?(tag: ProcessTag, family: ProcessFamily): void;
  /** The processes that carry this tag are gone, or may stay. */
  release(tag: ProcessTag): void;
  /** Ends the companion, and with it everything that is still guarded. Idempotent. */
  close(): void;
}

export interface WatchdogOptions {
  /** Default: the current platform. */
  readonly platform?: NodeJS.Platform;
  /** Uses `ps` even if there is `/proc`. */
  readonly source?: "ps";
  /** The Windows folder. Default: the variable `SystemRoot`. */
  readonly systemRoot?: string;
  /** Default: those of this machine. */
  readonly groups?: Pick<ControlGroups, "pathOf">;
}

/** Creates a watchdog. One per process is enough; nothing is started before the first `guard`. */
export function createWatchdog(options: WatchdogOptions = {}): Watchdog {
  const plan = planCompanion(options);
  const { groups = createControlGroups(options.platform) } = options;
  const guarded = new Set<string>();
  let companion: Promise<ChildProcess | undefined> | undefined;
  let closed = false;

  const send = (line: string): Promise<void> =>
    Promise.resolve(companion).then(
      (child) =>
        new Promise((resolve) => {
          if (child?.stdin?.writable !== true) resolve();
          else child.stdin.write(`${line}\n`, () => resolve());
        }),
    );
  const mention = (line: string): void => {
    send(line).catch(() => undefined);
  };

  return {
    async guard(tag) {
      if (closed) return;
      const name = writeTag(tag);
      companion ??= startCompanion(plan);
      guarded.add(name);
      // The group is reported before it exists: this process may be killed just after the start, and by then a child may have hidden.
      const group = groups.pathOf(groupNameOf(tag));
      await send(group === undefined ? `+${name}` : `+${name}\n@${name}\t${group}`);
    },
    follow(tag, family) {
      const name = writeTag(tag);
      const report = (living: readonly ProcessEntry[]): void => {
        // A listing that finishes after the release must not add processes again.
        if (guarded.has(name)) mention(`=${name}\t${living.map((one) => `${one.pid}:${plan?.stamp(one)}`).join(" ")}`);
      };
      family.onChange = report;
      // The group contains all processes, now and later.
      if (family.controlGroup === undefined) family.look().then(report, () => undefined);
      else if (family.controlGroup !== groups.pathOf(groupNameOf(tag)) && guarded.has(name)) {
        mention(`@${name}\t${family.controlGroup}`);
      }
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
interface WatchdogCommand {
  readonly executable: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The start time of a process in the form that the companion reads. */
  stamp(entry: ProcessEntry): string;
}

const WITH_PS: readonly string[] = ["darwin", "freebsd", "netbsd", "openbsd"];

function planCompanion(options: WatchdogOptions): WatchdogCommand | undefined {
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

/** As `ps` prints it, with `_` instead of spaces: `Tue_Nov_17_14:24:34_2026`. */
function stampOfPs({ startTicks }: ProcessEntry): string {
  const [day, date, month, year, time] = new Date(startTicks).toUTCString().replace(",", "").split(" ");
  return [day, month, Number(date), time, year].join("_");
}

/** The companion has its own session and no output, and does not keep our process alive. */
async function startCompanion(plan: WatchdogCommand | undefined): Promise<ChildProcess | undefined> {
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
    // Without these listeners, a broken pipe or a missing shell would crash our process: the one thing a watchdog must
    // not do.
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
