import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmulator } from "#emulator";
import { createSpawn, stopProcess, systemClock, systemRandom } from "#transports";
import { buildArgv } from "../../src/backends/claude-code/argv.ts";
import { childEnvironment, RUN_TAG_VARIABLE } from "../../src/backends/claude-code/environment.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { onLinux, tagged, until, zombies } from "../transports/processes.ts";
import { locateRealCli } from "../real-cli.ts";

const executable = locateRealCli();
const emulator = createEmulator();
let url = "";
const home = temporaryFolder("stop");

beforeAll(async () => {
  ({ url } = await emulator.listen());
});
afterAll(async () => {
  await emulator.close();
});

/** A command without an end. Newer versions refuse a bare `sleep`. */
const ENDLESS = "tail -f /dev/null";

/** The session of a process: the CLI puts its tool into one of its own, out of reach of a signal to its group. */
const sessionOf = (pid: number): string => {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3] ?? "";
};

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
  } catch {
    return "";
  }
};

/** The real CLI, in the middle of a command it runs with its own tool. */
async function startAtWork() {
  const tag = { name: RUN_TAG_VARIABLE, value: systemRandom.id() };
  const { args } = buildArgv({ allowedTools: ["Bash"] }, { mode: "plain", prompt: "stdin" });
  const handle = await createSpawn()({
    executable: executable ?? "claude",
    args,
    cwd: home,
    env: childEnvironment({
      parent: { PATH: process.env["PATH"], HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-offline" },
      runTag: tag.value,
    }),
  });
  const draining = Promise.all([drain(handle.stdout), drain(handle.stderr)]);
  await handle.write(new TextEncoder().encode(`Please run \`${ENDLESS}\``));
  handle.endInput();
  await until(() => tagged(tag.value).some(({ pid }) => commandOf(pid).startsWith(ENDLESS)));
  return { handle, tag, draining };
}

async function drain(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _bytes of stream);
}

describe.runIf(executable !== undefined && onLinux)("R8: stopping the real CLI while its own tool runs", () => {
  it.each(["politely", "at once"])("%s leaves neither the CLI nor the tool in its own session", async (how) => {
    const { handle, tag, draining } = await startAtWork();
    const sessions = new Set(tagged(tag.value).map(({ pid }) => sessionOf(pid)));
    expect(sessions.size).toBeGreaterThan(1);
    const graces = how === "politely" ? { stdinGraceMs: 200 } : { immediate: true };
    const report = await stopProcess(handle, { clock: systemClock, tag, ...graces });
    expect(report.survivors).toEqual([]);
    expect(tagged(tag.value)).toEqual([]);
    await draining;
    await handle.exit;
    expect(zombies()).toEqual([]);
  });

  it("after a kill -9 of the CLI, finds the tool it left running", async () => {
    const { handle, tag, draining } = await startAtWork();
    handle.kill("SIGKILL");
    await draining;
    await handle.exit;
    expect(tagged(tag.value).length).toBeGreaterThan(0);
    const report = await stopProcess(handle, { clock: systemClock, tag, immediate: true });
    expect(report.survivors).toEqual([]);
    expect(tagged(tag.value)).toEqual([]);
  });
});
