import { type ControlGroups, createControlGroups } from "./control-group.ts";

/** How what a process has started is found and ended on a machine, and what escapes. */
export interface Stopping {
  readonly means: "control group" | "/proc" | "ps" | "taskkill" | "process group";
  /** One sentence for a person. */
  readonly says: string;
  /** What is not promised, with the remedy where there is one. */
  readonly limits: readonly string[];
}

const ESCAPE = "escapes abort() and the watchdog";

const BY_PLATFORM: Readonly<Partial<Record<NodeJS.Platform, Stopping>>> = {
  linux: {
    means: "/proc",
    says: "What it starts is found by parents, groups, sessions and variables (/proc); a watchdog ends it if this process dies.",
    limits: [
      `A daemon that clears its variables, enters another session and loses its parent within half a second ${ESCAPE}. ` +
        "Where control groups (cgroup v2) can be made it does not: as root, or in a systemd unit with Delegate=yes.",
    ],
  },
  darwin: {
    means: "ps",
    says: "What it starts is found by parents, process groups and variables (ps); a watchdog ends it if this process dies.",
    limits: [
      "macOS hides the variables of its own programs (/bin/sh, /bin/sleep): one of them that leaves its process group and " +
        `loses its parent within two seconds ${ESCAPE}.`,
    ],
  },
  win32: {
    means: "taskkill",
    says: "What it starts is found by parents (Win32_Process) and ended by taskkill; a watchdog ends it if this process dies.",
    limits: [
      `Windows hides the variables of processes: one whose parent came and went within ten seconds ${ESCAPE}.`,
      "Windows has no signals: a process that does not end with its input is ended at once and cannot clean up, and " +
        "interrupt() in plain mode ends the process.",
    ],
  },
};

const BSD: Stopping = {
  means: "ps",
  says: "What it starts is found by parents, process groups and variables (ps); a watchdog ends it if this process dies.",
  limits: [`A daemon that clears its variables, leaves its group and loses its parent within two seconds ${ESCAPE}.`],
};

const ELSEWHERE: Stopping = {
  means: "process group",
  says: "The process and its process group are ended.",
  limits: ["What leaves the process group goes on, and nothing is ended if this process dies suddenly."],
};

/** What is promised on a platform without looking at the machine. */
export function stoppingOn(platform: NodeJS.Platform): Stopping {
  const isBsd = platform === "freebsd" || platform === "openbsd" || platform === "netbsd";
  return BY_PLATFORM[platform] ?? (isBsd ? BSD : ELSEWHERE);
}

/** What is promised on this machine. Tries to make a control group, and removes it. */
export function inspectStopping(
  platform: NodeJS.Platform = process.platform,
  groups: ControlGroups = createControlGroups(platform),
): Stopping {
  const group = groups.create(`millrace-probe-${process.pid}`);
  group?.remove();
  if (group === undefined) return stoppingOn(platform);
  return {
    means: "control group",
    says: "What it starts is kept in a control group, which nothing leaves by accident; a watchdog ends it if this process dies.",
    limits: ["A program with the rights of root may leave its control group on purpose."],
  };
}
