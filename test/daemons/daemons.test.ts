import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createEmulator, type EmulatorScript } from "#emulator";
import { ROOT } from "../../scripts/set-up.mjs";
import { locateRealCli } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { canMakeGroups, listProcesses, onLinux, readProc, until } from "../transports/processes.ts";

// Whole runs of the built package in a process of their own, because some of them end with the death of that process.

/** A daemon that sleeps for `seconds`: forked twice, in another session. */
const DAEMONS = {
  "with its variables": (seconds: string) => `setsid sh -c 'sleep ${seconds} >/dev/null 2>&1 </dev/null & exit 0'`,
  "without variables": (seconds: string) =>
    `env -i PATH=$PATH setsid sh -c 'sleep ${seconds} >/dev/null 2>&1 </dev/null & exit 0'`,
  "deaf to SIGTERM": (seconds: string) =>
    `env -i PATH=$PATH setsid sh -c '(trap "" TERM HUP; exec sleep ${seconds}) >/dev/null 2>&1 </dev/null & exit 0'`,
  "seen for three seconds": (seconds: string) =>
    `env -i PATH=$PATH setsid sh -c 'sleep ${seconds} >/dev/null 2>&1 </dev/null & sleep 3'`,
} as const;

const AGENTS = ["the CLI, plain", "the CLI, control", "a tool server of the CLI", "a command", "our own tool"] as const;
const ENDS = ["its end", "abort", "a time-out", "silence", "the end of its session", "SIGTERM", "SIGKILL"] as const;

interface Scene {
  readonly agent: (typeof AGENTS)[number];
  readonly daemon: keyof typeof DAEMONS;
  readonly end: (typeof ENDS)[number];
  /** A user who may make no control groups. */
  readonly user?: number;
}

const LIMITS: Partial<Record<Scene["end"], object | undefined>> = {
  "a time-out": { timeoutMs: 15_000 },
  silence: { idleMs: 10_000 },
  "the end of its session": undefined,
};

let scenes = 0;

/** Plays a scene until its process is gone, and gives the daemons that are left then. */
async function play(scene: Scene): Promise<{ readonly said: string; readonly left: readonly number[] }> {
  const { agent, daemon, end, user } = scene;
  scenes += 1;
  const seconds = `${4000 + scenes}.${process.pid}`;
  const daemons = (): readonly number[] =>
    listProcesses()
      .map(({ pid }) => pid)
      .filter((pid) => readProc(`${pid}/cmdline`) === ["sleep", seconds, ""].join("\0"));
  onTestFinished(() => daemons().forEach((pid) => void process.kill(pid, "SIGKILL")));
  const isOver = end === "its end";
  const isItself = agent === "a command" || agent === "a tool server of the CLI";
  const leave = DAEMONS[daemon](seconds);
  const script = isItself ? `${leave}; ${isOver ? "echo done" : "exec tail -f /dev/null"}` : leave;

  const emulator = createEmulator({ script: scriptFor(script, isOver) });
  onTestFinished(() => emulator.close());
  const { url } = await emulator.listen();
  const home = temporaryFolder("daemons");
  if (user !== undefined) {
    chmodSync(home, 0o700);
    chownSync(home, user, user);
  }
  const limits = end in LIMITS ? LIMITS[end] : {};
  const given = JSON.stringify({ agent, script, cli: locateRealCli(), home, url, limits });
  const child = spawn(process.execPath, [join(import.meta.dirname, "run-child.mjs"), join(ROOT, "dist"), given], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], HOME: home },
    ...(user !== undefined && { uid: user, gid: user }),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  // It may have ended by itself before it is told to; what it said is compared all the same.
  child.stdin.on("error", () => undefined);
  child.stdout.on("data", (bytes: Buffer) => (said += bytes.toString()));
  const gone = once(child, "exit");
  await until(() => daemons().length === 1 || child.exitCode !== null);
  if (daemon === "seen for three seconds") await until(() => !daemons().some(hasShell));
  endRun(child, end);
  await gone;
  // A process that was killed leaves it to its watchdog, which needs a moment.
  const isKilled = end === "SIGTERM" || end === "SIGKILL";
  if (isKilled && agent !== "our own tool") await until(() => daemons().length === 0, 20_000).catch(() => undefined);
  return { said: said.trim(), left: daemons() };
}

/** The model runs the script, and answers then; or says no more. */
function scriptFor(command: string, answers: boolean): EmulatorScript {
  const input = { command, description: "a command" };
  return {
    rules: [
      { match: { turn: 0, tool: "Bash" }, reply: { toolCalls: [{ name: "Bash", input }] } },
      { match: { turn: 1 }, reply: { text: "done" }, ...(!answers && { fault: { stallBeforeHeaders: true } }) },
    ],
  };
}

/** Whether the shell that has started it is still there. */
function hasShell(pid: number): boolean {
  const parent = listProcesses().find((entry) => entry.pid === pid)?.parent;
  return readProc(`${parent}/cmdline`).includes("sleep 3");
}

function endRun(child: ChildProcess, end: Scene["end"]): void {
  if (end === "abort" || end === "the end of its session") child.stdin?.write("end\n");
  if (end === "SIGTERM" || end === "SIGKILL") child.kill(end);
}

const SAID: Readonly<Record<Scene["end"], object | undefined>> = {
  "its end": { status: "success" },
  abort: { status: "aborted", code: "aborted" },
  "a time-out": { status: "error", code: "failed-result" },
  silence: { status: "error", code: "stalled" },
  "the end of its session": { status: "aborted" },
  SIGTERM: undefined,
  SIGKILL: undefined,
};

/** Every end for every agent; the kinds of daemons take turns. */
const KINDS = ["with its variables", "without variables", "deaf to SIGTERM"] as const;
const HELD: readonly Scene[] = (["the CLI, plain", "the CLI, control", "a command"] as const).flatMap((agent, row) =>
  ENDS.map((end, column) => ({ agent, end, daemon: KINDS[(row + column) % 3] ?? "without variables" })),
);
const OF_SERVERS: readonly Scene[] = (["abort", "SIGKILL"] as const).map((end) => ({
  agent: "a tool server of the CLI",
  daemon: "without variables",
  end,
}));

describe.runIf(onLinux && (canMakeGroups() || process.env["CI"] === "true"))(
  "F-A5 F-A14: a daemon that was started by",
  () => {
    it.each([...HELD, ...OF_SERVERS])("$agent, $daemon, is gone after $end", async (scene) => {
      const { said, left } = await play(scene);
      expect(left).toEqual([]);
      const expected = SAID[scene.end];
      if (expected !== undefined) expect(JSON.parse(said)).toMatchObject(expected);
    });
  },
);

const NOBODY = 65_534;

describe.runIf(onLinux && process.getuid?.() === 0)("F-A5 F-A14: where no control group can be made", () => {
  const SCENES: readonly Scene[] = (["its end", "abort", "SIGTERM", "SIGKILL"] as const).flatMap((end) =>
    (["with its variables", "seen for three seconds"] as const).map((daemon) => ({
      agent: "a command",
      daemon,
      end,
      user: NOBODY,
    })),
  );

  it.each(SCENES)("a daemon $daemon is gone after $end", async (scene) => {
    expect((await play(scene)).left).toEqual([]);
  });
});

describe.runIf(onLinux)("F-A5: what our own tools start", () => {
  it.each(["its end", "abort", "SIGKILL"] as const)(
    "is not followed: a daemon outlives %s, as SECURITY.md says",
    async (end) => {
      const { left } = await play({ agent: "our own tool", daemon: "without variables", end });
      expect(left).toHaveLength(1);
    },
  );
});
