import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ProcessEntry, ProcessFamily } from "#domain";
import { createWatchdog, systemRandom } from "#transports";
import { temporaryFolder } from "../temporary-folder.ts";
import { canMakeGroups, listProcesses, mountOfGroups, onLinux, readProc, tagged, until } from "./processes.ts";

const ROOT = join(import.meta.dirname, "../..");
const folder = temporaryFolder("watchdog");

/** A program of ours that starts a watchdog and a "CLI" with offspring, says so, and waits to be killed. */
const PROGRAM = `
import { createControlGroups, createFollow, createProcessTable, createSpawn, createWatchdog, systemClock } from "./transports.mjs";
const [value, script, after, means] = process.argv.slice(2);
const tag = { name: "MILLRACE_RUN", value };
const source = means === "ps" ? { source: "ps" } : {};
const watchdog = createWatchdog(source);
await watchdog.guard(tag);
const groups = means === "group" ? createControlGroups() : { create: () => undefined };
const follow = createFollow({ table: createProcessTable(source), groups, clock: systemClock });
const env = { PATH: process.env.PATH, MILLRACE_RUN: value };
const handle = await createSpawn({ follow })({ executable: "/bin/sh", args: ["-c", script], env, tag });
if (after !== "at once") watchdog.follow(tag, handle.family);
await handle.write(new TextEncoder().encode("go\\n"));
const reader = handle.stdout[Symbol.asyncIterator]();
await reader.next();
await handle.family.look();
// Lines arrive in order: when this one has been taken, so have those before it.
await watchdog.guard(tag);
if (after === "release") {
  handle.kill("SIGKILL");
  handle.family.close();
  watchdog.release(tag);
  await reader.return();
  await handle.stderr[Symbol.asyncIterator]().return();
  console.log("released");
} else console.log("standing");
if (after === "exit") process.exit(0);
if (after === "crash") setTimeout(() => { throw new Error("crash"); }, 0);
`;

beforeAll(async () => {
  const bundle = await rolldown({
    input: join(ROOT, "src/transports/index.ts"),
    platform: "node",
    resolve: { conditionNames: ["millrace-source", "import", "node"] },
  });
  await bundle.write({ file: join(folder, "transports.mjs"), format: "esm", codeSplitting: false });
  await bundle.close();
  writeFileSync(join(folder, "program.mjs"), PROGRAM);
});

const OFFSPRING = [
  "trap '' TERM; (while :; do sleep 60; done) & echo ready; while :; do sleep 60; done",
  "setsid sleep 60 & (setsid sleep 60 &); echo ready; cat > /dev/null; exec sleep 60",
  "env -i PATH=$PATH setsid sh -c 'trap \"\" TERM; while :; do sleep 60; done' & echo ready; exec sleep 60",
];

type Means = "proc" | "ps" | "group";
const MEANS: readonly Means[] = ["proc", "ps", ...(canMakeGroups() ? (["group"] as const) : [])];

function startProgram(
  tag: string,
  script: string,
  { after = "stay", means = "proc" }: { readonly after?: string; readonly means?: Means } = {},
): { child: ChildProcess; said: Promise<string> } {
  const child = spawn(process.execPath, [join(folder, "program.mjs"), tag, script, after, means], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const said = new Promise<string>((resolve) => {
    child.stdout?.on("data", (bytes: Uint8Array) => resolve(String(bytes).trim()));
  });
  return { child, said };
}

/** The companions of a process: children that read our script. */
function companionsOf(pid: number): readonly number[] {
  return listProcesses()
    .filter((entry) => entry.parent === pid && commandLine(entry.pid).includes("millrace-watchdog"))
    .map((entry) => entry.pid);
}

const commandLine = (pid: number): string => readProc(`${pid}/cmdline`);

const isAlive = (pid: number): boolean => listProcesses().some((entry) => entry.pid === pid);

describe.runIf(onLinux).each(MEANS)("F-A14: the watchdog, by means of %s", (means) => {
  it("R8: six times kill -9 of our own process leave nothing of what it started, nor the watchdog itself", async () => {
    const killOnce = async (round: number): Promise<void> => {
      const tag = systemRandom.id();
      const { child, said } = startProgram(tag, OFFSPRING[round % OFFSPRING.length] as string, { means });
      expect(await said).toBe("standing");
      const companions = companionsOf(child.pid as number);
      expect(companions).toHaveLength(1);
      const roots = new Set(tagged(tag).map((entry) => entry.pid));
      // The one without variables is found by its parent alone.
      const offspring = listProcesses().filter((entry) => roots.has(entry.pid) || roots.has(entry.parent));
      expect(offspring.length).toBeGreaterThan(1);
      child.kill("SIGKILL");
      const names = new Set(offspring.map((entry) => `${entry.pid} ${entry.startTicks}`));
      await until(() => !listProcesses().some((entry) => names.has(`${entry.pid} ${entry.startTicks}`)));
      expect(tagged(tag)).toEqual([]);
      await until(() => companions.every((pid) => !isAlive(pid)));
    };
    for (let round = 0; round < 6; round += 3) await Promise.all([0, 1, 2].map((step) => killOnce(round + step)));
  }, 60_000);

  it.each(["exit", "crash"])("ends what is left when we %s in the middle, and then itself", async (after) => {
    const tag = systemRandom.id();
    const { child, said } = startProgram(tag, OFFSPRING[0] as string, { after, means });
    expect(await said).toBe("standing");
    await until(() => tagged(tag).length === 0);
    await until(() => companionsOf(child.pid as number).length === 0);
  });

  it("does not keep our process alive, and is gone after it, when everything was released", async () => {
    const { child, said } = startProgram(systemRandom.id(), "echo ready; exec sleep 60", {
      after: "release",
      means,
    });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    expect(await said).toBe("released");
    expect(await ended).toBe(0);
    await until(() => companionsOf(1).length === 0 || companionsOf(1).every((pid) => !isAlive(pid)));
  });

  it("spares a process that has come to the number of a member", async () => {
    const stranger = spawn("/bin/sleep", ["60"], { stdio: "ignore", detached: true, env: {} });
    onTestFinished(() => void stranger.kill("SIGKILL"));
    const { group: _group, ...listed } = listProcesses().find(({ pid }) => pid === stranger.pid) as ProcessEntry;
    const watchdog = createWatchdog(means === "ps" ? { source: "ps" } : {});
    const tag = { name: "MILLRACE_RUN", value: systemRandom.id() };
    await watchdog.guard(tag);
    const before = companionsOf(process.pid);
    // The number is right and the start is not.
    const living = [{ ...listed, startTicks: means === "ps" ? 0 : listed.startTicks - 1 }];
    watchdog.follow?.(tag, {
      controlGroup: undefined,
      onChange: () => undefined,
      look: async () => living,
      killAtOnce: () => undefined,
      close: () => undefined,
    });
    await watchdog.guard(tag);
    watchdog.close();
    await until(() => before.every((pid) => !isAlive(pid)));
    expect(isAlive(stranger.pid as number)).toBe(true);
  });

  it("SEC1: refuses a tag that would be two", async () => {
    const watchdog = createWatchdog();
    for (const value of ["a\n+PATH=b", "a\tb", "a\0b"]) {
      await expect(watchdog.guard({ name: "MILLRACE_RUN", value })).rejects.toMatchObject({ code: "invalid-option" });
    }
    watchdog.close();
    watchdog.close();
    await watchdog.guard({ name: "MILLRACE_RUN", value: "a" });
  });
});

describe.runIf(onLinux && MEANS.includes("group"))("F-A5: the watchdog, with control groups", () => {
  it.each([
    ["62.5", "later", "stay"],
    ["62.6", "before it could follow anything", "at once"],
  ])(
    "ends a daemon without a trace (%s) when we are killed %s, and removes the group",
    async (seconds, _when, after) => {
      const tag = systemRandom.id();
      const script = `read go; env -i PATH=$PATH setsid sh -c 'sleep ${seconds} >/dev/null 2>&1 </dev/null & exit 0'; echo ready; cat`;
      const { child, said } = startProgram(tag, script, { means: "group", after });
      expect(await said).toBe("standing");
      const daemon = (): boolean =>
        listProcesses().some(({ pid }) => commandLine(pid) === ["sleep", seconds, ""].join("\0"));
      // The shell has forked it; it may not be "sleep" yet.
      await until(daemon);
      const group = readProc(`${tagged(tag)[0]?.pid}/cgroup`)
        .split("\n")
        .find((line) => line.startsWith("0::"))
        ?.slice(3);
      expect(group).toContain(tag);
      child.kill("SIGKILL");
      await until(() => !daemon());
      await until(() => !existsSync(`${mountOfGroups()}${group}`));
    },
  );
});

/** Stands in for Windows: a folder with the programs the companion uses, which say what they were asked. */
function writeSystemRoot(processes: string): { readonly root: string; readonly killed: () => string } {
  const root = temporaryFolder("windows");
  const system = join(root, "System32");
  mkdirSync(join(system, "WindowsPowerShell/v1.0"), { recursive: true });
  writeFileSync(join(root, "processes"), processes);
  const write = (name: string, text: string): void =>
    writeFileSync(join(system, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  write("WindowsPowerShell/v1.0/powershell.exe", `cat "${root}/processes"`);
  write("taskkill.exe", `echo "$@" >> "${root}/killed"; : > "${root}/processes"`);
  return { root, killed: () => (existsSync(join(root, "killed")) ? readFileSync(join(root, "killed"), "utf8") : "") };
}

describe.runIf(onLinux)("S3-46 F-A14: the watchdog of Windows", () => {
  const family = (living: readonly ProcessEntry[]): ProcessFamily => ({
    controlGroup: undefined,
    onChange: () => undefined,
    look: async () => living,
    killAtOnce: () => undefined,
    close: () => undefined,
  });
  // Number, parent and start. 30's parent is gone and still named; 50 has come to a number of ours; 60 is older than 20.
  const PROCESSES = "10 1 100\r\n20 10 200\r\n30 15 300\r\n50 1 999\r\n60 20 150\r\n70 1 400\r\n";
  const LIVING = [
    { pid: 10, parent: 1, startTicks: 100 },
    { pid: 15, parent: 10, startTicks: 110 },
    { pid: 50, parent: 10, startTicks: 120 },
  ];

  async function end(release: boolean): Promise<string> {
    const { root, killed } = writeSystemRoot(PROCESSES);
    const watchdog = createWatchdog({ platform: "win32", systemRoot: root });
    const tag = { name: "MILLRACE_RUN", value: systemRandom.id() };
    await watchdog.guard(tag);
    const [companion] = listProcesses().filter(
      ({ pid, parent }) => parent === process.pid && commandLine(pid).includes("taskkill.exe"),
    );
    watchdog.follow?.(tag, family(LIVING));
    await watchdog.guard({ name: "MILLRACE_RUN", value: "other" });
    if (release) watchdog.release(tag);
    watchdog.close();
    await until(() => companion !== undefined && !isAlive(companion.pid));
    return killed();
  }

  it("ends the processes it was given, with their children, and spares others that reuse their numbers", async () => {
    expect(await end(false)).toBe("/F /T /PID 10 /PID 20 /PID 30\n");
  });

  it("ends nothing of what was released", async () => {
    expect(await end(true)).toBe("");
  });
});
