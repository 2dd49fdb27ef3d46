import { Session } from "node:inspector/promises";
import { describe, expect, it } from "vitest";
import type { ProcessHandle, Spawn } from "#domain";
import { openQuery } from "../../src/backends/claude-code/query.ts";
import { line, openScripted, result, says } from "./scripted.ts";

async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}

/** A CLI that writes this many lines, each in bytes of its own, and remembers which of them are still in memory. */
function createEndlessWriter(lines: number) {
  const written: WeakRef<Uint8Array>[] = [];
  async function* write(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < lines; at += 1) {
      const bytes = new TextEncoder().encode(line(says(`m${at}`, "x".repeat(1000))));
      written.push(new WeakRef(bytes));
      yield bytes;
    }
    yield new TextEncoder().encode(line(result()));
  }
  async function* nothing(): AsyncGenerator<Uint8Array> {}
  const handle: ProcessHandle = {
    pid: 1,
    stdout: write(),
    stderr: nothing(),
    write: async () => undefined,
    endInput: () => undefined,
    kill: () => undefined,
    exit: Promise.resolve({ code: 0, signal: null }),
  };
  const spawn: Spawn = async () => handle;
  return { spawn, kept: () => written.filter((bytes) => bytes.deref() !== undefined).length };
}

describe("the memory of a query", () => {
  it("F-B10: what was read and passed on is not kept until the query ends", async () => {
    const lines = 2000;
    const writer = createEndlessWriter(lines);
    const { world } = openScripted([]);
    const query = await openQuery("hello", { skipVersionCheck: true }, { ...world, spawn: writer.spawn });
    for (let read = 0; read < lines; read += 1) await query.next();
    await new Promise((resolve) => setImmediate(resolve));
    await collectGarbage();
    expect(writer.kept()).toBeLessThan(20);
    await query.close();
  });
});
