import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWatchdog, systemRandom } from "#transports";
import { listProcesses, onLinux, tagged, until } from "./processes.ts";

const ROOT = join(import.meta.dirname, "../..");
let folder = "";

/** A program of ours that starts a watchdog and a "CLI" with offspring, says so, and waits to be killed. */
const PROGRAM = `
import { createSpawn, createWatchdog } from "./transports.mjs";
const [tag, script, after] = process.argv.slice(2);
const watchdog = createWatchdog();
await watchdog.guard({ name: "MILLRACE_RUN", value: tag });
const handle = await createSpawn()({ executable: "/bin/sh", args: ["-c", script], env: { PATH: process.env.PATH, MILLRACE_RUN: tag } });
const reader = handle.stdout[Symbol.asyncIterator]();
await reader.next();
if (after === "release") {
  handle.kill("SIGKILL");
  watchdog.release({ name: "MILLRACE_RUN", value: tag });
  await reader.return();
  await handle.stderr[Symbol.asyncIterator]().return();
  console.log("released");
} else console.log("standing");
if (after === "exit") process.exit(0);
if (after === "crash") setTimeout(() => { throw new Error("crash"); }, 0);
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "millrace-watchdog-"));
  const bundle = await rolldown({
    input: join(ROOT, "src/transports/index.ts"),
    platform: "node",
    resolve: { conditionNames: ["millrace-source", "import", "node"] },
  });
  await bundle.write({ file: join(folder, "transports.mjs"), format: "esm", codeSplitting: false });
  await bundle.close();
  writeFileSync(join(folder, "program.mjs"), PROGRAM);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OFFSPRING = [
  "trap '' TERM; (while :; do sleep 60; done) & echo ready; while :; do sleep 60; done",
  "setsid sleep 60 & (setsid sleep 60 &); echo ready; cat > /dev/null; exec sleep 60",
  "env -i PATH=$PATH setsid sh -c 'trap \"\" TERM; while :; do sleep 60; done' & echo ready; exec sleep 60",
];

function startProgram(tag: string, script: string, after = "stay"): { child: ChildProcess; said: Promise<string> } {
  const child = spawn(process.execPath, [join(folder, "program.mjs"), tag, script, after], {
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

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

const isAlive = (pid: number): boolean => listProcesses().some((entry) => entry.pid === pid);

describe.runIf(onLinux)("the watchdog", () => {
  it("R8: twelve times kill -9 of our own process leave nothing of what it started, nor the watchdog itself", async () => {
    const killOnce = async (round: number): Promise<void> => {
      const tag = systemRandom.id();
      const { child, said } = startProgram(tag, OFFSPRING[round % OFFSPRING.length] as string);
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
    for (let round = 0; round < 12; round += 3) await Promise.all([0, 1, 2].map((step) => killOnce(round + step)));
  }, 60_000);

  it.each(["exit", "crash"])("ends what is left when we %s in the middle, and then itself", async (after) => {
    const tag = systemRandom.id();
    const { child, said } = startProgram(tag, OFFSPRING[0] as string, after);
    expect(await said).toBe("standing");
    await until(() => tagged(tag).length === 0, 8000);
    await until(() => companionsOf(child.pid as number).length === 0, 5000);
  });

  it("does not keep our process alive, and is gone after it, when everything was released", async () => {
    const { child, said } = startProgram(systemRandom.id(), "echo ready; exec sleep 60", "release");
    const ended = new Promise((resolve) => child.on("exit", resolve));
    expect(await said).toBe("released");
    expect(await ended).toBe(0);
    await until(() => companionsOf(1).length === 0 || companionsOf(1).every((pid) => !isAlive(pid)), 5000);
  });

  it("SEC1: refuses a tag that would be two", async () => {
    const watchdog = createWatchdog();
    await expect(watchdog.guard({ name: "MILLRACE_RUN", value: "a\n+PATH=b" })).rejects.toMatchObject({
      code: "invalid-option",
    });
    watchdog.close();
    watchdog.close();
    await watchdog.guard({ name: "MILLRACE_RUN", value: "a" });
  });
});
