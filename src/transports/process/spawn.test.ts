import { open, readdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Clock, ProcessHandle, ProcessRequest } from "#domain";
import { createDeferred } from "#streams";
import { createVirtualClock, type VirtualClock } from "#testing";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createSpawn } from "./spawn.ts";

const spawn = createSpawn();
const folder = temporaryFolder("spawn");

const PATH = process.env["PATH"] ?? "";

function shell(script: string, more: Partial<ProcessRequest> = {}): ProcessRequest {
  return { executable: "/bin/sh", args: ["-c", script], env: { PATH }, ...more };
}

function node(script: string): ProcessRequest {
  return { executable: process.execPath, args: ["-e", script], env: {} };
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function finish(handle: ProcessHandle) {
  const [stdout, stderr, exit] = await Promise.all([textOf(handle.stdout), textOf(handle.stderr), handle.exit]);
  return { stdout, stderr, ...exit };
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a started process", () => {
  it("S0-36 S1-5 S1-38 S1-40: gives stdout, stderr and the exit code separately", async () => {
    const handle = await spawn(shell("printf out; printf err >&2; exit 3"));
    expect(handle.pid).toBeGreaterThan(0);
    expect(await finish(handle)).toEqual({ stdout: "out", stderr: "err", code: 3, signal: null });
  });

  it("S1-41 SEC1: gets its arguments unchanged, without a shell", async () => {
    const args = ["$HOME `id` \"'\n", "--version", "", "é*?"];
    const handle = await spawn({
      ...node("console.log(JSON.stringify(process.argv.slice(1)))"),
      args: ["-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--", ...args],
    });
    expect(JSON.parse((await finish(handle)).stdout)).toEqual(args);
  });

  it("SEC3: gets exactly the environment it is given", async () => {
    const handle = await spawn({ executable: "/usr/bin/env", args: [], env: { ONLY: "this" } });
    expect((await finish(handle)).stdout).toBe("ONLY=this\n");
  });

  it("S1-42: runs in the given folder; an empty one means ours", async () => {
    expect((await finish(await spawn(shell("pwd -P", { cwd: folder })))).stdout).toBe(`${folder}\n`);
    expect((await finish(await spawn(shell("pwd -P", { cwd: "" })))).stdout).toBe(`${await realpath(process.cwd())}\n`);
  });

  it("is the leader of its own process group", async () => {
    const handle = await spawn(shell('read -r line; ps -o pgid= -p $$ 2>/dev/null || cut -d" " -f5 /proc/$$/stat'));
    await handle.write(encode("go\n"));
    expect(Number((await finish(handle)).stdout)).toBe(handle.pid);
  });

  it("reads what is written to it, up to the end of the input", async () => {
    const handle = await spawn(shell("cat"));
    const done = finish(handle);
    const long = "é".repeat(300_000);
    await handle.write(encode(long));
    await handle.write(encode("end"));
    handle.endInput();
    handle.endInput();
    expect(await done).toEqual({ stdout: `${long}end`, stderr: "", code: 0, signal: null });
  });

  it("S1-23: gives its output also to a reader that starts after the exit", async () => {
    const handle = await spawn(shell("printf late; printf err >&2"));
    expect(await handle.exit).toEqual({ code: 0, signal: null });
    expect(await textOf(handle.stdout)).toBe("late");
    expect(await textOf(handle.stderr)).toBe("err");
  });

  it("I8: is held up while it is not read, and loses nothing of 20 MB", async () => {
    const handle = await spawn(shell("head -c 20971520 /dev/zero; echo written >&2"));
    const written = textOf(handle.stderr);
    const reader = handle.stdout[Symbol.asyncIterator]();
    let size = (await reader.next()).value?.length ?? 0;
    // Many times as long as the writes take with a reader.
    expect(await Promise.race([written, sleep(500, "held back")])).toBe("held back");
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) size += next.value.length;
    expect([size, await written]).toEqual([20_971_520, "written\n"]);
  });

  it("is stopped when its reader leaves: its next write fails", async () => {
    const handle = await spawn(shell("while :; do echo line || exit 7; done"));
    const stderr = textOf(handle.stderr);
    for await (const _ of handle.stdout) break;
    const { code, signal } = await handle.exit;
    expect(signal === "SIGPIPE" || code === 7).toBe(true);
    await stderr;
  });

  it("has one reader per stream", async () => {
    const handle = await spawn(shell("printf x"));
    const first = textOf(handle.stdout);
    await expect(textOf(handle.stdout)).rejects.toThrow("one reader");
    expect(await first).toBe("x");
    await textOf(handle.stderr);
  });
});

describe("writing to a process that does not read", () => {
  it("rejects if the process has exited, and crashes nothing", async () => {
    const handle = await spawn(shell("exit 0"));
    await finish(handle);
    await expect(handle.write(encode("x"))).rejects.toThrow("no longer reads its input");
    await expect(handle.write(encode("y"))).rejects.toThrow("no longer reads its input");
    handle.endInput();
  });

  it("rejects a pending write if the process exits without reading", async () => {
    const handle = await spawn(shell("read -r line; exit 5"));
    const done = finish(handle);
    const writing = expect(handle.write(encode(`go\n${"x".repeat(8_000_000)}`))).rejects.toThrow("no longer reads");
    expect((await done).code).toBe(5);
    await writing;
  });

  it("rejects if the process closes its input and continues", async () => {
    const handle = await spawn(shell("exec 0<&-; echo closed; exec sleep 60"));
    await handle.stdout[Symbol.asyncIterator]().next();
    await expect(writeForEver(handle)).rejects.toThrow("no longer reads its input");
    handle.kill("SIGKILL");
    await handle.exit;
  });

  it("rejects after the input was ended", async () => {
    const handle = await spawn(shell("cat"));
    handle.endInput();
    await expect(handle.write(encode("x"))).rejects.toThrow("closed already");
    await finish(handle);
  });
});

async function writeForEver(handle: ProcessHandle): Promise<void> {
  for (;;) await handle.write(new Uint8Array(65_536));
}

describe("kill", () => {
  it("sends the signal and the exit names it", async () => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
      const handle = await spawn(shell("echo up; exec sleep 60"));
      await handle.stdout[Symbol.asyncIterator]().next();
      handle.kill(signal);
      expect(await handle.exit).toEqual({ code: null, signal });
    }
  });

  it("reaches what the process has started in its group", async () => {
    const handle = await spawn(shell("sleep 60 & echo $!; wait"));
    const first = await handle.stdout[Symbol.asyncIterator]().next();
    const grandchild = Number(Buffer.from(first.value as Uint8Array).toString());
    expect(() => process.kill(grandchild, 0)).not.toThrow();
    handle.kill("SIGKILL");
    // Only when the grandchild is gone too does its end of the pipe close.
    expect(await handle.exit).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("does nothing to a process that has exited", async () => {
    const handle = await spawn(shell("exit 0"));
    await finish(handle);
    handle.kill("SIGKILL");
    expect(await handle.exit).toEqual({ code: 0, signal: null });
  });
});

/** A virtual clock that reports when the first timer is set. */
function watchedClock() {
  const clock = createVirtualClock();
  const armed = createDeferred<void>();
  const watched: Clock = {
    now: clock.now,
    after(ms, fire) {
      armed.resolve();
      return clock.after(ms, fire);
    },
  };
  return { clock, watched, armed: armed.promise };
}

/** Advances the time until the promise settles; how far the real process gets meanwhile cannot be controlled. */
async function advanceUntil(promise: Promise<unknown>, clock: VirtualClock): Promise<void> {
  let settled = false;
  void promise.then(() => (settled = true));
  while (!settled) await clock.advance(500);
}

describe("a grandchild that holds the streams of a process that has exited", () => {
  it("S1-92 S1-62: delays the exit for a short silence and no longer", async () => {
    const { clock, watched, armed } = watchedClock();
    const handle = await createSpawn({ clock: watched })(shell("sleep 60 & echo said; exit 4"));
    const done = finish(handle);
    await armed;
    await clock.advance(999);
    expect(clock.pending()).toBe(1);
    await advanceUntil(handle.exit, clock);
    expect(await done).toEqual({ stdout: "said\n", stderr: "", code: 4, signal: null });
    expect(clock.pending()).toBe(0);
    process.kill(-(handle.pid as number), "SIGKILL");
  });

  it("S1-62: is still read while it writes", async () => {
    const { clock, watched, armed } = watchedClock();
    const fifo = join(folder, "fifo");
    await finish(await spawn(shell('mkfifo "$0"', { args: ["-c", 'mkfifo "$0"', fifo] })));
    const handle = await createSpawn({ clock: watched })(shell("", { args: ["-c", 'cat "$0" & exit 0', fifo] }));
    const stderr = textOf(handle.stderr);
    const reader = handle.stdout[Symbol.asyncIterator]();
    const speaker = await open(fifo, "w");
    await armed;
    for (const word of ["one", "two", "three"]) {
      // Always just short of the silence that would close the stream.
      await clock.advance(999);
      await speaker.write(word);
      expect(Buffer.from((await reader.next()).value as Uint8Array).toString()).toBe(word);
    }
    await speaker.close();
    expect((await reader.next()).done).toBe(true);
    expect(await handle.exit).toEqual({ code: 0, signal: null });
    await stderr;
  });

  it("can be killed as long as it holds them", async () => {
    const { watched, armed } = watchedClock();
    const handle = await createSpawn({ clock: watched })(shell("sleep 60 & exit 0"));
    const done = finish(handle);
    await armed;
    handle.kill("SIGKILL");
    expect((await done).code).toBe(0);
  });

  it("does not delay the exit through a stream that is not read", async () => {
    const { clock, watched, armed } = watchedClock();
    const handle = await createSpawn({ clock: watched })(shell("head -c 1000000 /dev/zero >&2 & exit 0"));
    const stdout = textOf(handle.stdout);
    await armed;
    await advanceUntil(handle.exit, clock);
    expect(await handle.exit).toEqual({ code: 0, signal: null });
    await stdout;
  });
});

describe("a process that cannot be started", () => {
  const attempt = (more: Partial<ProcessRequest>) =>
    createSpawn()({ executable: "/bin/sh", args: [], env: {}, ...more }).then(
      () => "started",
      (error: { code: string; message: string }) => [error.code, error.message],
    );

  it("AT-38 S1-42: distinguishes a missing executable, one that may not run, and a missing folder", async () => {
    const plain = join(folder, "plain");
    await writeFile(plain, "text", { mode: 0o644 });
    const orphan = join(folder, "orphan");
    await writeFile(orphan, "#!/nowhere/interpreter\n", { mode: 0o755 });
    const missing = join(folder, "missing");
    expect(await attempt({ executable: "no-such-executable" })).toEqual([
      "cli-not-found",
      "no-such-executable was not found. Install it, or give its path.",
    ]);
    expect(await attempt({ executable: missing })).toEqual(["cli-not-found", expect.stringContaining(missing)]);
    expect(await attempt({ executable: plain })).toEqual(["spawn", expect.stringContaining("EACCES")]);
    expect(await attempt({ executable: orphan })).toEqual(["spawn", expect.stringContaining("interpreter")]);
    expect(await attempt({ cwd: missing })).toEqual([
      "spawn",
      `The working folder ${missing} does not exist (ENOENT). Create it, or leave it out.`,
    ]);
    expect(await attempt({ executable: "no-such-executable", cwd: missing })).toEqual([
      "spawn",
      expect.stringContaining(missing),
    ]);
    expect(await attempt({ cwd: plain })).toEqual(["spawn", expect.stringContaining("is not a folder")]);
  });

  it("SEC1: names what it rejects, and never the value of a variable", async () => {
    expect(await attempt({ executable: "" })).toEqual(["spawn", expect.stringContaining("empty")]);
    expect(await attempt({ executable: "tool.CMD" })).toEqual(["spawn", expect.stringContaining("batch file")]);
    expect(await attempt({ executable: "a\0b" })).toEqual(["spawn", expect.stringContaining("executable holds a NUL")]);
    expect(await attempt({ args: ["ok", "a\0b"] })).toEqual(["spawn", expect.stringContaining("Argument 1")]);
    expect(await attempt({ cwd: "a\0b" })).toEqual(["spawn", expect.stringContaining("working folder")]);
    const refused = await attempt({ env: { KEY: "secret\0value" } });
    expect(refused).toEqual(["spawn", expect.stringContaining('"KEY"')]);
    expect(JSON.stringify(refused)).not.toContain("secret");
  });

  it("gives a remedy if the arguments are too long", async () => {
    expect(await attempt({ args: ["x".repeat(200_000)] })).toEqual(["spawn", expect.stringContaining("E2BIG")]);
  });
});

it("I7: leaves no open file descriptor after fifty processes", async () => {
  await finish(await spawn(shell("exit 0")));
  const before = (await readdir("/proc/self/fd")).length;
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const handle = await spawn(shell("cat"));
        handle.endInput();
        await finish(handle);
      }),
    );
  }
  expect((await readdir("/proc/self/fd")).length).toBeLessThanOrEqual(before);
});
