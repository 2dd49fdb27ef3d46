import { describe, expect, it } from "vitest";
import { createBytePipe } from "./byte-pipe.ts";

const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);

/** Whether a promise is settled, after all pending microtasks have run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("createBytePipe", () => {
  it("gives the bytes to a waiting reader, and keeps them for a later one", async () => {
    const pipe = createBytePipe();
    const reader = pipe[Symbol.asyncIterator]();
    const waiting = reader.next();
    await pipe.write(bytes(1));
    await pipe.write(bytes(2));
    expect(await waiting).toEqual({ done: false, value: bytes(1) });
    expect(await reader.next()).toEqual({ done: false, value: bytes(2) });
  });

  it("makes the writer wait while it is full", async () => {
    const pipe = createBytePipe(2);
    const reader = pipe[Symbol.asyncIterator]();
    await pipe.write(bytes(1, 2));
    const third = pipe.write(bytes(3));
    expect(await isSettled(third)).toBe(false);
    await reader.next();
    await third;
  });

  it("ends after its content, and rejects more", async () => {
    const pipe = createBytePipe();
    await pipe.write(bytes(1));
    pipe.end();
    pipe.end();
    await expect(pipe.write(bytes(2))).rejects.toThrow("has ended");
    const seen: number[] = [];
    for await (const piece of pipe) seen.push(...piece);
    expect(seen).toEqual([1]);
  });

  it("lets a waiting writer finish when it ends, because the reader still takes its bytes", async () => {
    const pipe = createBytePipe(1);
    const writing = pipe.write(bytes(1, 2));
    pipe.end();
    expect(await isSettled(writing)).toBe(false);
    for await (const _ of pipe);
    await writing;
  });

  it("reports a failure to the reader, once and last, and to writers at once", async () => {
    const pipe = createBytePipe(1);
    const writing = pipe.write(bytes(1, 2));
    pipe.fail(new Error("broken"));
    await expect(writing).rejects.toThrow("broken");
    await expect(pipe.write(bytes(3))).rejects.toThrow("broken");
    const reader = pipe[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: bytes(1, 2) });
    await expect(reader.next()).rejects.toThrow("broken");
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it("reports a failure to a waiting reader", async () => {
    const pipe = createBytePipe();
    const reader = pipe[Symbol.asyncIterator]();
    const [first, second] = [reader.next(), reader.next()];
    pipe.fail(new Error("broken"));
    await expect(first).rejects.toThrow("broken");
    expect(await second).toEqual({ done: true, value: undefined });
  });

  it("rejects writes after the reader has left", async () => {
    const pipe = createBytePipe(1);
    const writing = pipe.write(bytes(1, 2));
    for await (const _ of pipe) break;
    await writing;
    await expect(pipe.write(bytes(3))).rejects.toThrow("reader has left");
  });

  it("discards its content when destroyed, and releases everyone", async () => {
    const pipe = createBytePipe(1);
    const writing = pipe.write(bytes(1, 2));
    pipe.destroy();
    await expect(writing).rejects.toThrow("reader has left");
    expect(await pipe[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });

  it("keeps its own copy", async () => {
    const pipe = createBytePipe();
    const mine = bytes(1);
    await pipe.write(mine);
    mine[0] = 9;
    expect((await pipe[Symbol.asyncIterator]().next()).value).toEqual(bytes(1));
  });
});
