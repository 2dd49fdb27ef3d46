import { describe, expect, it } from "vitest";
import { createScriptedSpawn } from "#testing";
import { listProcesses, onLinux, readProc, until } from "../../test/transports/processes.ts";
import { startGuarded } from "./guarded-process.ts";
import { systemWorld } from "./world.ts";

const sleeps = (seconds: string): number =>
  listProcesses().filter(({ pid }) => readProc(`${pid}/cmdline`) === ["sleep", seconds, ""].join("\0")).length;

describe.runIf(onLinux)("F-A14: a command of --exec", () => {
  it("stops with everything it has started in other sessions", async () => {
    const { handle, stop } = await startGuarded(
      {
        executable: "/bin/sh",
        args: ["-c", "setsid sleep 64.5 & echo ready; cat"],
        env: { PATH: process.env["PATH"] ?? "", MILLRACE_RUN: "of somebody else" },
      },
      systemWorld(),
    );
    await until(() => sleeps("64.5") === 1);
    const reading = Promise.all([drain(handle.stdout), drain(handle.stderr)]);
    await Promise.all([stop(), stop()]);
    expect(sleeps("64.5")).toBe(0);
    await reading;
  });

  it("has its own tag first, and is rejected as it would be without", async () => {
    const spawn = createScriptedSpawn([{ exit: 0 }]);
    const { stop } = await startGuarded(
      { executable: "x", args: [], env: { A: "1", MILLRACE_RUN: "of somebody else" } },
      { ...systemWorld(), spawn },
    );
    const { env = {} } = spawn.calls[0] ?? {};
    expect(Object.keys(env)).toEqual(["MILLRACE_RUN", "A"]);
    expect(env["MILLRACE_RUN"]).not.toBe("of somebody else");
    await stop();
    const missing = startGuarded({ executable: "/no/such/program", args: [], env: {} }, systemWorld());
    await expect(missing).rejects.toMatchObject({ code: "cli-not-found" });
  });
});

async function drain(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _bytes of stream);
}
