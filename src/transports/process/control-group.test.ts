import { describe, expect, it } from "vitest";
import { createControlGroups, findOwnGroup, type GroupFiles } from "./control-group.ts";

const MOUNTS = [
  "25 30 0:23 / /proc rw,nosuid - proc proc rw",
  "34 25 0:29 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755",
  "35 34 0:30 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw",
].join("\n");
const OWN = "4:memory:/other\n0::/user.slice/app\n";
const FOLDER = "/sys/fs/cgroup/unified/user.slice/app";

/** The files of a system on which a group can be created, unless the test overrides it. */
function createFiles(more: Partial<GroupFiles> = {}) {
  const written: string[] = [];
  const folders = new Set<string>();
  const procs = new Map<string, string>();
  const files: GroupFiles = {
    read(path) {
      if (path === "/proc/self/mountinfo") return MOUNTS;
      if (path === "/proc/self/cgroup") return OWN;
      const text = procs.get(path);
      if (text === undefined) throw new Error(`ENOENT ${path}`);
      return text;
    },
    write: (path, text) => void written.push(`${path} ${text}`),
    makeFolder: (path) => void folders.add(path),
    removeFolder(path) {
      if (!folders.delete(path)) throw new Error("EBUSY");
    },
    processOf: () => ({ parent: 1, startTicks: 7 }),
    folders: (path) =>
      [...folders].filter((one) => one.startsWith(`${path}/`)).map((one) => one.slice(path.length + 1)),
    ...more,
  };
  return { files, written, folders, procs };
}

describe("F-A5: the control group of our own process", () => {
  it.each([
    ["the only hierarchy", "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw", "0::/", "/sys/fs/cgroup"],
    ["a hierarchy beside those of version 1", MOUNTS, OWN, FOLDER],
    [
      "a mount of a part of it",
      "30 25 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw",
      "0::/docker/abc/inner",
      "/sys/fs/cgroup/inner",
    ],
    ["a place with a blank", "30 25 0:26 / /mnt/my\\040groups rw - cgroup2 none rw", "0::/a", "/mnt/my groups/a"],
  ])("is found in %s", (_name, mountinfo, cgroup, folder) => {
    expect(findOwnGroup(mountinfo, cgroup)).toBe(folder);
  });

  it.each([
    ["version 1 alone", "25 30 0:23 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory", "4:memory:/a"],
    ["no mount", "", "0::/a"],
    ["a group outside of our namespace", MOUNTS, "0::/../other"],
    ["a mount of another part", "30 25 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw", "0::/docker/x"],
  ])("is not found with %s", (_name, mountinfo, cgroup) => {
    expect(findOwnGroup(mountinfo, cgroup)).toBeUndefined();
  });
});

describe("F-A5: a control group", () => {
  it("accepts processes, lists them with those in nested groups, kills them in one step and is removed", () => {
    const { files, written, folders, procs } = createFiles();
    const group = createControlGroups("linux", files).create("millrace-a");
    const path = `${FOLDER}/millrace-a`;
    expect(group?.path).toBe(path);
    expect(group?.add(41)).toBe(true);
    folders.add(`${path}/inner`);
    procs.set(`${path}/cgroup.procs`, "41\n42\n0\n").set(`${path}/inner/cgroup.procs`, "43\n");
    expect(group?.pids()).toEqual([41, 42, 43]);
    expect(group?.startOf(41)).toBe(7);
    group?.kill();
    expect(written).toEqual([`${path}/cgroup.procs 41`, `${path}/cgroup.kill 1`]);
    expect([group?.remove(), folders.size]).toEqual([true, 0]);
  });

  it("contains what is started in it: we enter, start, and leave with everything else we have started meanwhile", () => {
    const { files, written, procs } = createFiles({
      processOf: (pid) => ({ parent: pid === 43 ? 42 : process.pid, startTicks: 7 }),
    });
    const path = `${FOLDER}/millrace-a`;
    const group = createControlGroups("linux", files).create("millrace-a");
    group?.startInside(() => {
      written.push("start");
      procs.set(`${path}/cgroup.procs`, "41\n42\n43\n");
      return { pid: 42 };
    });
    expect(written).toEqual([
      `${path}/cgroup.procs ${process.pid}`,
      "start",
      `${FOLDER}/cgroup.procs ${process.pid}`,
      `${FOLDER}/cgroup.procs 41`,
    ]);
  });

  it("keeps orphans of what was started in it if we are the first process, which all orphans become children of", () => {
    const { files, written, procs } = createFiles({ processOf: () => ({ parent: 1, startTicks: 7 }) });
    const path = `${FOLDER}/millrace-a`;
    const group = createControlGroups("linux", files, 1).create("millrace-a");
    group?.startInside(() => {
      procs.set(`${path}/cgroup.procs`, "43\n");
      return { pid: 42 };
    });
    expect(written).toEqual([`${path}/cgroup.procs 1`, `${FOLDER}/cgroup.procs 1`]);
  });

  it("is left if the start fails, and never killed with ourselves in it", () => {
    const { files, written, procs } = createFiles();
    const path = `${FOLDER}/millrace-a`;
    const group = createControlGroups("linux", files).create("millrace-a");
    const fail = (): never => {
      throw new Error("E2BIG");
    };
    expect(() => group?.startInside(fail)).toThrow("E2BIG");
    expect(written.at(-1)).toBe(`${FOLDER}/cgroup.procs ${process.pid}`);
    procs.set(`${path}/cgroup.procs`, `${process.pid}\n41\n`);
    group?.kill();
    expect(written.some((line) => line.includes("cgroup.kill"))).toBe(false);
  });

  it("throws nothing if the system refuses or the group is gone", () => {
    const fail = (): never => {
      throw new Error("EPERM");
    };
    const { files } = createFiles({ write: fail, removeFolder: fail, folders: fail });
    const group = createControlGroups("linux", files).create("millrace-a");
    expect([group?.add(41), group?.pids(), group?.kill(), group?.remove()]).toEqual([false, [], undefined, false]);
  });

  it("is unavailable if the folder is not writable, which is tried once, and on other platforms", () => {
    let attempts = 0;
    const { files } = createFiles({
      makeFolder() {
        attempts += 1;
        throw new Error("EROFS");
      },
    });
    const groups = createControlGroups("linux", files);
    expect([groups.create("a"), groups.create("b"), attempts]).toEqual([undefined, undefined, 1]);
    expect(createControlGroups("darwin", createFiles().files).create("a")).toBeUndefined();
  });
});
