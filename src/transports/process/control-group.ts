import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import type { ProcessEntry } from "#domain";
import { readProcEntry } from "./proc-table.ts";

/** A control group (cgroup v2) of Linux: what is started in it stays in it, whatever it does to its name or its parents. */
export interface ControlGroup {
  readonly path: string;
  /** Moves a process into it. `false`: the system does not let us. */
  add(pid: number): boolean;
  /**
   * Calls `start` while our own process is in the group, so that what it starts is in it from its first instruction. What
   * other threads of ours have started meanwhile goes back with us, unless we are the first process.
   */
  startInside<Child extends { readonly pid?: number | undefined }>(start: () => Child): Child;
  /** When a process started, in the ticks of the process table; `undefined` when it is gone. */
  startOf(pid: number): number | undefined;
  /** The numbers of everybody in it, nested groups included. */
  pids(): readonly number[];
  /** Kills everybody in it in one step. Does nothing before Linux 5.14, nor if we could not leave it ourselves. */
  kill(): void;
  /** `false`: there is still somebody in it. */
  remove(): boolean;
}

export interface ControlGroups {
  /** A new group below our own; `undefined` where groups cannot be had, and from then on. */
  create(name: string): ControlGroup | undefined;
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

/** Makes groups below the one our own process is in. Nothing is looked up before the first is made. */
export function createControlGroups(
  platform: NodeJS.Platform = process.platform,
  files: GroupFiles = systemGroupFiles,
  self: number = process.pid,
): ControlGroups {
  let folder: string | undefined;
  let isRefused = platform !== "linux";
  return {
    create(name) {
      if (isRefused) return undefined;
      try {
        folder ??= findOwnGroup(files.read("/proc/self/mountinfo"), files.read("/proc/self/cgroup"));
        if (folder === undefined) throw new Error("There is no control group of version 2.");
        const path = posix.join(folder, name);
        files.makeFolder(path);
        return openGroup(path, files, self);
      } catch {
        // Not root, nothing delegated to us, or a read-only file system: it will be no different the next time.
        isRefused = true;
        return undefined;
      }
    },
  };
}

/**
 * The folder of our own group: the place where the hierarchy is mounted, and our path in it.
 * See proc_pid_mountinfo(5) and cgroups(7).
 */
export function findOwnGroup(mountinfo: string, cgroup: string): string | undefined {
  const own = /^0::(\/.*)$/m.exec(cgroup)?.[1];
  // Outside of what our namespace shows: nothing there is ours to change.
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
    // 0 stands for a process of another namespace of numbers, which we can neither name nor signal.
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
        // As the first process (of a container) we are the parent of every orphan: of the daemons, too, that the child
        // has left meanwhile. Those must stay.
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
