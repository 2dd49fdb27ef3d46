import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import type { ProcessEntry, ProcessTag } from "#domain";
import { readProcEntry } from "./proc-table.ts";

/**
 * A control group (cgroup v2) of Linux: every process started in it stays in it, even if it changes its name or its
 * parent.
 */
export interface ControlGroup {
  readonly path: string;
  /** Moves a process into it. `false`: the system does not allow this. */
  add(pid: number): boolean;
  /**
   * Calls `start` while our own process is in the group, so that the new process is in it from its first instruction.
   * Processes that other threads of ours start meanwhile are moved back together with ours, unless ours is the first
   * process.
   */
  startInside<Child extends { readonly pid?: number | undefined }>(start: () => Child): Child;
  /** When a process started, in the ticks of the process table; `undefined` when it is gone. */
  startOf(pid: number): number | undefined;
  /** The ids of all processes in it, including nested groups. */
  pids(): readonly number[];
  /**
   * Kills all processes in it in one step. Does nothing before Linux 5.14, or if our own process could not leave the
   * group.
   */
  kill(): void;
  /** `false`: a process is still in it. */
  remove(): boolean;
}

export interface ControlGroups {
  /** Creates a group below our own; `undefined` if that is not possible, then and on every later call. */
  create(name: string): ControlGroup | undefined;
  /** The path that a group of this name has, or would have; `undefined` if groups cannot be created. */
  pathOf(name: string): string | undefined;
}

/** The name of the group for a process that is started with this tag. */
export function groupNameOf({ value }: ProcessTag): string {
  return `millrace-${value.replaceAll(/[^\w-]/g, "_")}`;
}

/** The files of the system's control groups. Every function throws as `node:fs` does. */
export interface GroupFiles {
  read(path: string): string;
  write(path: string, text: string): void;
  makeFolder(path: string): void;
  removeFolder(path: string): void;
  /** The names of the folders in a folder. */
  folders(path: string): readonly string[];
  /** One process; `undefined` when it is gone. */
  processOf(pid: number): Pick<ProcessEntry, "parent" | "startTicks"> | undefined;
}

const systemGroupFiles: GroupFiles = {
  read: (path) => readFileSync(path, "utf8"),
  write: (path, text) => writeFileSync(path, text),
  makeFolder: (path) => {
    mkdirSync(path);
  },
  removeFolder: (path) => rmdirSync(path),
  folders: (path) =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name),
  processOf: readProcEntry,
};

/** Creates groups below that of our own process. Nothing is looked up before the first one is created. */
export function createControlGroups(
  platform: NodeJS.Platform = process.platform,
  files: GroupFiles = systemGroupFiles,
  self: number = process.pid,
): ControlGroups {
  let folder: string | undefined;
  let isRefused = platform !== "linux";
  // Not root, nothing delegated to us, or a read-only file system: the next attempt would fail too.
  const unlessRefused = <Value>(use: (path: string) => Value, name: string): Value | undefined => {
    if (isRefused) return undefined;
    try {
      folder ??= findOwnGroup(files.read("/proc/self/mountinfo"), files.read("/proc/self/cgroup"));
      if (folder === undefined) throw new Error("There is no control group of version 2.");
      return use(posix.join(folder, name));
    } catch {
      isRefused = true;
      return undefined;
    }
  };
  return {
    create: (name) =>
      unlessRefused((path) => {
        files.makeFolder(path);
        return openGroup(path, files, self);
      }, name),
    pathOf: (name) => unlessRefused((path) => path, name),
  };
}

/**
 * The folder of our own group: the mount point of the hierarchy plus our path in it. See proc_pid_mountinfo(5) and
 * cgroups(7).
 */
export function findOwnGroup(mountinfo: string, cgroup: string): string | undefined {
  const own = /^0::(\/.*)$/m.exec(cgroup)?.[1];
  // Outside our namespace: we may not change anything there.
  if (own === undefined || own.startsWith("/..")) return undefined;
  for (const line of mountinfo.split("\n")) {
    const [mount = "", system = ""] = line.split(" - ");
    if (!system.startsWith("cgroup2 ")) continue;
    const [, , , root = "/", place = ""] = mount.split(" ");
    const below = posix.relative(root, own);
    if (below.startsWith("..")) continue;
    return posix.join(unescapeOctal(place), below);
  }
  return undefined;
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function openGroup(path: string, files: GroupFiles, self: number): ControlGroup {
  const attempt = (change: () => void): boolean => {
    try {
      change();
      return true;
    } catch {
      return false;
    }
  };
  const nested = (folder: string): readonly string[] => {
    let names: readonly string[] = [];
    attempt(() => void (names = files.folders(folder)));
    return names.map((name) => posix.join(folder, name));
  };
  const pidsIn = (folder: string): readonly number[] => {
    let text = "";
    attempt(() => void (text = files.read(posix.join(folder, "cgroup.procs"))));
    // 0 stands for a process of another PID namespace, which can be neither named nor signalled.
    const own = text
      .split("\n")
      .map(Number)
      .filter((pid) => pid > 0);
    return [...own, ...nested(folder).flatMap(pidsIn)];
  };
  const removeFolder = (folder: string): boolean => {
    for (const one of nested(folder)) removeFolder(one);
    return attempt(() => files.removeFolder(folder));
  };
  const move = (pid: number, folder: string): boolean =>
    attempt(() => files.write(posix.join(folder, "cgroup.procs"), String(pid)));
  return {
    path,
    startInside(start) {
      if (!move(self, path)) return start();
      let child: ReturnType<typeof start> | undefined;
      try {
        child = start();
        return child;
      } finally {
        const outside = posix.dirname(path);
        move(self, outside);
        // As the first process (of a container) we become the parent of every orphan, including daemons that the child
        // has left meanwhile. Those must stay in the group.
        const others = self === 1 ? [] : pidsIn(path);
        for (const pid of others) {
          if (pid !== child?.pid && files.processOf(pid)?.parent === self) move(pid, outside);
        }
      }
    },
    add: (pid) => move(pid, path),
    startOf: (pid) => files.processOf(pid)?.startTicks,
    pids: () => pidsIn(path),
    kill() {
      if (!pidsIn(path).includes(self)) attempt(() => files.write(posix.join(path, "cgroup.kill"), "1"));
    },
    remove: () => removeFolder(path),
  };
}
