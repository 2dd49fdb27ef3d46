import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createProcessTable, type ProcessTable } from "./process-table.ts";

describe.runIf(process.platform === "linux")("the processes of this machine", () => {
  const table = createProcessTable() as ProcessTable;

  function start(executable: string, args: readonly string[], env: Record<string, string>): number {
    const child = spawn(executable, args, { env, stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child.pid as number;
  }

  it("hold ourselves, with our parent", () => {
    const me = table.read(process.pid);
    expect(me).toMatchObject({ parent: process.ppid });
  });

  it("are read rightly whatever they call themselves", () => {
    const folder = mkdtempSync(join(tmpdir(), "millrace-name-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, ") Z 1 (\n)");
    symlinkSync("/bin/sleep", path);
    const pid = start(path, ["30"], {});
    expect(table.read(pid)).toMatchObject({ parent: process.pid });
  });

  it("carry exactly the variables they were started with, however many", () => {
    const pid = start("/bin/sleep", ["30"], {
      FILL: "x".repeat(100_000),
      MORE: "y".repeat(100_000),
      MILLRACE_RUN: "one",
      OTHER: "MILLRACE_RUN=two",
    });
    const entry = table.read(pid);
    if (entry === undefined) expect.fail("not listed");
    expect(table.carries(entry, "MILLRACE_RUN", "one")).toBe(true);
    for (const value of ["two", "on", "one2", ""]) expect(table.carries(entry, "MILLRACE_RUN", value)).toBe(false);
    expect(table.carries({ ...entry, pid: 2 ** 22 + 1 }, "MILLRACE_RUN", "one")).toBe(false);
  });

  it("are not signalled when the number belongs to somebody else by now", async () => {
    const child = spawn("/bin/sleep", ["30"], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const entry = table.read(child.pid as number);
    if (entry === undefined) expect.fail("not listed");
    table.signal({ ...entry, startTicks: entry.startTicks - 1 }, "SIGKILL");
    expect(table.numbers().includes(child.pid as number)).toBe(true);
    const exited = new Promise((resolve) => child.on("exit", (_code, signal) => resolve(signal)));
    table.signal(entry, "SIGTERM");
    expect(await exited).toBe("SIGTERM");
  });
});
