import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import type { ReadableBytes } from "../readable-bytes.ts";
import { watchExit } from "./exit.ts";

/** A stream in a state the test sets. */
function fakeStream(state: ReadableBytes["state"]) {
  const stream = {
    state,
    receivedBytes: 0,
    destroy: () => {
      stream.state = "over";
    },
    [Symbol.asyncIterator]: () => expect.fail("read"),
  };
  return stream;
}

/** A process that has just exited, with one stream in this state. */
function exited(state: ReadableBytes["state"]) {
  const clock = createVirtualClock();
  const child = new EventEmitter() as ChildProcess;
  const stream = fakeStream(state);
  const exit = watchExit(child, [stream], { clock, silenceMs: 1000 });
  child.emit("exit", 0, null);
  return { clock, child, stream, exit };
}

describe("watchExit", () => {
  it("sets no timer while the process lives", () => {
    const clock = createVirtualClock();
    void watchExit(new EventEmitter() as ChildProcess, [fakeStream("waiting")], { clock, silenceMs: 1000 });
    expect(clock.pending()).toBe(0);
  });

  it.each(["waiting", "idle"] as const)("closes a stream that is %s after a second without a byte", async (state) => {
    const { clock, stream } = exited(state);
    await clock.advance(999);
    expect(stream.state).toBe(state);
    await clock.advance(1);
    expect(stream.state).toBe("over");
  });

  it("leaves a stream open while its reader is slow, however long, because bytes may still be in the pipe", async () => {
    const { clock, stream } = exited("busy");
    await clock.advance(600_000);
    expect(stream.state).toBe("busy");
    stream.state = "waiting";
    await clock.advance(2000);
    expect(stream.state).toBe("over");
  });

  it("leaves a stream open while bytes arrive", async () => {
    const { clock, stream } = exited("waiting");
    for (let round = 0; round < 20; round += 1) {
      await clock.advance(900);
      stream.receivedBytes += 1;
    }
    expect(stream.state).toBe("waiting");
  });

  it("resolves when the streams are closed, with how, and clears its timer", async () => {
    const { clock, child, exit } = exited("waiting");
    child.emit("close", null, "SIGKILL");
    expect(await exit).toEqual({ code: null, signal: "SIGKILL" });
    expect(clock.pending()).toBe(0);
  });
});
