import { describe, expect, it } from "vitest";
import type { ProcessHandle } from "#domain";
import { startRun, startSession, systemWorld, type World } from "#runtime";
import { createDeferred } from "#streams";
import { createSeededRandom, createVirtualClock } from "#testing";
import { createCommandBackend } from "../../src/backends/command/backend.ts";
import { text as textFormat } from "../../src/dialects/text.ts";

/** A command that answers and exits, and has left something behind that is gone when `gone` says so. */
function openPlace(exitCode = 0) {
  const clock = createVirtualClock();
  const gone = createDeferred<void>();
  const seen = { started: 0, stopped: 0 };
  async function* stdout(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode("hi");
  }
  async function* nothing(): AsyncGenerator<Uint8Array> {}
  const handle = (): ProcessHandle => ({
    pid: 1,
    stdout: stdout(),
    stderr: nothing(),
    write: async () => undefined,
    endInput: () => undefined,
    kill: () => undefined,
    exit: Promise.resolve({ code: exitCode, signal: null }),
  });
  const backend = createCommandBackend(
    {
      executable: "agent",
      args: [],
      format: { name: "text", load: async () => textFormat },
      input: "stdin",
      cwd: undefined,
      env: {},
    },
    {
      clock,
      missing: async () => undefined,
      start: async () => {
        seen.started += 1;
        return { handle: handle(), stop: () => ((seen.stopped += 1), gone.promise) };
      },
    },
  );
  const seams: World = { ...systemWorld(), clock, random: createSeededRandom(5) };
  return { clock, backend, seams, gone, seen };
}

describe("F-B3: what a command has left behind", () => {
  it.each([
    [0, "success"],
    [3, "error"],
  ])("does not delay done after the exit code %i, and is gone when the run is closed", async (code, status) => {
    const { backend, seams, gone, seen } = openPlace(code);
    const run = startRun(backend, "hello", {}, seams);
    expect(await run.result()).toMatchObject({ status, text: "hi" });
    let isClosed = false;
    const closed = run.closed.then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen.stopped).toBeGreaterThan(0);
    expect(isClosed).toBe(false);
    gone.resolve();
    await closed;
  });

  it("is gone before the next message of a session starts the command again", async () => {
    const { backend, seams, gone, seen } = openPlace();
    const session = startSession(backend, {}, seams);
    expect(await session.send("one").result()).toMatchObject({ status: "success" });
    const second = session.send("two").result();
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen.started).toBe(1);
    gone.resolve();
    expect(await second).toMatchObject({ status: "success" });
    expect(seen.started).toBe(2);
    await session.close();
  });
});
