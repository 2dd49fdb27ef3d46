import { type ControlGroups, createControlGroups } from "./control-group.ts";

/** How everything that a process has started is found and ended on a machine, and what can escape. */
export interface Stopping {
  readonly means: "control group" | "/proc" | "ps" | "taskkill" | "process group";
  /** One sentence for a person. */
  readonly says: string;
  /** What is not guaranteed, with the remedy if there is one. */
  readonly limits: readonly string[];
}

const ESCAPE = "escapes abort() and the watchdog";

const BY_PLATFORM: Readonly<Partial<Record<NodeJS.Platform, Stopping>>> = {
  linux: {
    means: "/proc",
    says: "What an agent or a command starts is found by parents, groups, sessions and variables (/proc); a watchdog ends it if this process dies.",
    limits: [
      `A daemon that clears its variables, enters another session and loses its parent within half a second ${ESCAPE}. ` +
        "Where control groups (cgroup v2) can be made it does not: as root, or in a systemd unit with Delegate=yes.",
    ],
  },
  darwin: {
    means: "ps",
    says: "What an agent or a command starts is found by parents, process groups and variables (ps); a watchdog ends it if this process dies.",
    limits: [
      "macOS hides the variables of its own programs (/bin/sh, /bin/sleep): one of them that leaves its process group and " +
        `loses its parent within two seconds ${ESCAPE}.`,
    ],
  },
  win32: {
    means: "taskkill",
    says: "What an agent or a command starts is found by parents (Win32_Process) and ended by taskkill; a watchdog ends it if this process dies.",
    limits: [
      `Windows hides the variables of processes: one whose parent came and went within ten seconds ${ESCAPE}.`,
      "Windows has no signals: a process that does not end with its input is ended at once and cannot clean up, and " +
        "interrupt() in plain mode ends the process.",
    ],
  },
};

const BSD: Stopping = {
  means: "ps",
  says: "What an agent or a command starts is found by parents, process groups and variables (ps); a watchdog ends it if this process dies.",
  limits: [`A daemon that clears its variables, leaves its group and loses its parent within two seconds ${ESCAPE}.`],
};

const ELSEWHERE: Stopping = {
  means: "process group",
  says: "The process and its process group are ended.",
  limits: ["A process that leaves its group continues to run, and nothing is ended if this process dies suddenly."],
};

/** What is guaranteed on a platform, without inspecting the machine. */
export function stoppingOn(platform: NodeJS.Platform): Stopping {
  const isBsd = platform === "freebsd" || platform === "openbsd" || platform === "netbsd";
  return BY_PLATFORM[platform] ?? (isBsd ? BSD : ELSEWHERE);
}

/** What is guaranteed on this machine. As a test, creates a control group, moves this process into it and out of it again, and removes it. */
export function inspectStopping(
  platform: NodeJS.Platform = process.platform,
  groups: Pick<ControlGroups, "create"> = createControlGroups(platform),
  self: number = process.pid,
): Stopping {
  const group = groups.create(`millrace-probe-${self}`);
  if (group === undefined) return stoppingOn(platform);
  // Even if a folder can be created, the process may not be allowed to move: that requires write access to the group it leaves.
  const { isInside } = group.startInside(() => ({ pid: undefined, isInside: group.pids().includes(self) }));
  group.remove();
  if (!isInside) return stoppingOn(platform);
  return {
    means: "control group",
    says: "What an agent or a command starts is kept in a control group, which nothing leaves by accident; a watchdog ends it if this process dies.",
    limits: ["A program with the rights of root may leave its control group on purpose."],
  };
}
