import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ProcessEntry } from "#domain";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import type { ProcessTable } from "./process-table.ts";
import { createProcessTable } from "./system-process-table.ts";

const TABLES = [["proc"], ["ps"]] as const;

describe.runIf(process.platform === "linux").each(TABLES)("F-A14: the processes of this machine, by %s", (source) => {
  const table = createProcessTable(source === "ps" ? { source } : {}) as ProcessTable;

  function start(executable: string, args: readonly string[], env: Record<string, string>): number {
    const child = spawn(executable, args, { env, stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child.pid as number;
  }

  const read = async (pid: number): Promise<ProcessEntry> => {
    const entry = (await table.list()).find((one) => one.pid === pid);
    return entry ?? expect.fail(`${pid} is not listed`);
  };

  it("are read where they should be", () => {
    expect(table.source).toBe(source);
  });

  it("include ourselves, with our parent, and exclude those we do not want", async () => {
    expect(await read(process.pid)).toMatchObject({ parent: process.ppid });
    const pids = (await table.list(new Set([process.pid]))).map(({ pid }) => pid);
    expect(pids).not.toContain(process.pid);
    expect(pids).toContain(process.ppid);
  });

  it("are read correctly whatever their names", async () => {
    const folder = temporaryFolder("name");
    const path = join(folder, ") Z 1 (\n)");
    symlinkSync("/bin/sleep", path);
    expect(await read(start(path, ["30"], {}))).toMatchObject({ parent: process.pid });
  });

  it("have the group they are in, and started no earlier than their parents", async () => {
    const child = spawn("/bin/sleep", ["30"], { stdio: "ignore", detached: true });
    onTestFinished(() => void child.kill("SIGKILL"));
    const entry = await read(child.pid as number);
    expect(entry.group).toBe(child.pid);
    expect(entry.startTicks).toBeGreaterThanOrEqual((await read(process.pid)).startTicks);
  });

  it("do not include a zombie", async () => {
    // The shell becomes a sleep, which reaps no children.
    const pid = start("/bin/sh", ["-c", "true & exec sleep 30"], { PATH: "/usr/bin:/bin" });
    await expect
      .poll(async () => (await table.list()).filter((entry) => entry.parent === pid), { timeout: 60_000 })
      .toEqual([]);
  });

  it("have exactly the variables they were started with, however many", async () => {
    const entry = await read(
      start("/bin/sleep", ["30"], {
        MILLRACE_RUN: "one",
        OTHER: "MILLRACE_RUN=two",
        FILL: "x".repeat(100_000),
        MORE: "y".repeat(100_000),
      }),
    );
    const carries = async (one: ProcessEntry, value: string): Promise<boolean> =>
      (await table.tagged([one], { name: "MILLRACE_RUN", value })).length === 1;
    expect(await carries(entry, "one")).toBe(true);
    for (const value of ["two", "on", "one2", ""]) expect(await carries(entry, value)).toBe(false);
    expect(await carries({ ...entry, pid: 2 ** 22 + 1 }, "one")).toBe(false);
    const tag = { name: "MILLRACE_RUN", value: "one" };
    expect((await table.tagged(await table.list(), tag)).map(({ pid }) => pid)).toEqual([entry.pid]);
  });

  it("are not signalled if the number now belongs to another process", async () => {
    const child = spawn("/bin/sleep", ["30"], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const entry = await read(child.pid as number);
    await table.signal([{ ...entry, startTicks: entry.startTicks - 1000 }], "SIGKILL");
    expect(await read(entry.pid)).toEqual(entry);
    const exited = new Promise((resolve) => child.on("exit", (_code, signal) => resolve(signal)));
    await table.signal([entry], "SIGTERM");
    expect(await exited).toBe("SIGTERM");
  });
});
