import { EventEmitter } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { readBytes } from "./readable-bytes.ts";

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const textOf = ({ value }: IteratorResult<Uint8Array, undefined>): string | undefined =>
  value && Buffer.from(value).toString();

/** A stream that never ends, and counts what was taken from it. */
function endless() {
  let taken = 0;
  const stream = new Readable({
    read() {
      taken += 65_536;
      this.push(Buffer.alloc(65_536));
    },
  });
  return { stream, taken: () => taken };
}

describe("readBytes", () => {
  it("I8: takes a bounded amount from a stream that is not read, even if Node resumes it", async () => {
    const { stream, taken } = endless();
    const bytes = readBytes(stream);
    await turns(50);
    const before = taken();
    expect(before).toBeLessThanOrEqual(5 * 65_536);
    expect(bytes.state).toBe("idle");
    stream.resume();
    await turns(50);
    expect(taken() - before).toBeLessThanOrEqual(2 * 65_536);
    bytes.destroy();
  });

  it("F-B1: gives a fast reader a bounded amount in one turn of the event loop, and everything in the end", async () => {
    let left = 64;
    const stream = new Readable({
      read() {
        left -= 1;
        this.push(left < 0 ? null : Buffer.alloc(65_536, left));
      },
    });
    let received = 0;
    let most = 0;
    let isOver = false;
    const watch = (async () => {
      for (let before = 0; !isOver; before = received) {
        await turns(1);
        most = Math.max(most, received - before);
      }
    })();
    for await (const bytes of readBytes(stream)) received += bytes.length;
    isOver = true;
    await watch;
    expect(received).toBe(64 * 65_536);
    expect(most).toBeLessThanOrEqual(4 * 65_536);
  });

  it("continues after the reader has caught up", async () => {
    const { stream } = endless();
    const reader = readBytes(stream)[Symbol.asyncIterator]();
    let size = 0;
    while (size < 10_000_000) {
      size += (await reader.next()).value?.length ?? 0;
      if (size % 7 === 0) await turns(1);
    }
    await reader.return?.();
    expect(stream.destroyed).toBe(true);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it("gives what has arrived together as one read, to a waiting reader and to a later one", async () => {
    const stream = new EventEmitter() as Readable;
    const reader = readBytes(stream)[Symbol.asyncIterator]();
    const first = reader.next();
    for (const text of ["one ", "two ", "three"]) stream.emit("data", Buffer.from(text));
    expect(textOf(await first)).toBe("one two three");
    for (const text of ["four ", "five"]) stream.emit("data", Buffer.from(text));
    stream.emit("end");
    expect(textOf(await reader.next())).toBe("four five");
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it("gives what arrived before the end to the waiting reader", async () => {
    const stream = new EventEmitter() as Readable;
    const reader = readBytes(stream)[Symbol.asyncIterator]();
    const pulls = [reader.next(), reader.next()];
    for (const text of ["one ", "two"]) stream.emit("data", Buffer.from(text));
    stream.emit("end");
    expect((await Promise.all(pulls)).map(textOf)).toEqual(["one two", undefined]);
  });

  it("joins no more than one full read, and gives a single piece unchanged", async () => {
    const stream = new EventEmitter() as Readable;
    stream.pause = () => stream;
    stream.resume = () => stream;
    const reader = readBytes(stream)[Symbol.asyncIterator]();
    const sizes = [20_000, 40_000, 40_000, 70_000, 1];
    for (const size of sizes) stream.emit("data", Buffer.alloc(size));
    const large = Buffer.alloc(3);
    stream.emit("data", large);
    expect((await reader.next()).value?.length).toBe(60_000);
    expect((await reader.next()).value?.length).toBe(40_000);
    expect((await reader.next()).value?.length).toBe(70_000);
    expect((await reader.next()).value?.length).toBe(4);
    stream.emit("data", large);
    expect((await reader.next()).value).toBe(large);
  });

  it("reports its state", async () => {
    const stream = new PassThrough();
    const bytes = readBytes(stream);
    expect(bytes.state).toBe("idle");
    const reader = bytes[Symbol.asyncIterator]();
    expect(bytes.state).toBe("waiting");
    stream.write("abc");
    await turns(1);
    expect([bytes.state, bytes.receivedBytes]).toEqual(["busy", 3]);
    await reader.next();
    expect(bytes.state).toBe("waiting");
    stream.end();
    expect((await reader.next()).done).toBe(true);
    expect(bytes.state).toBe("over");
  });

  it("gives what arrived, then the failure once, as the caller describes it", async () => {
    const stream = new PassThrough();
    const reader = readBytes(stream, (error) => `explained: ${error.message}`)[Symbol.asyncIterator]();
    stream.write("abc");
    await turns(1);
    stream.destroy(new Error("reset"));
    await turns(1);
    expect((await reader.next()).value?.length).toBe(3);
    await expect(reader.next()).rejects.toBe("explained: reset");
    expect((await reader.next()).done).toBe(true);
  });

  it("serves several pulls at once in order, and ends all of them", async () => {
    const stream = new PassThrough();
    const reader = readBytes(stream)[Symbol.asyncIterator]();
    const pulls = [reader.next(), reader.next(), reader.next()];
    stream.write("a");
    await turns(1);
    stream.end("b");
    const taken = await Promise.all(pulls);
    expect(taken.map(textOf)).toEqual(["a", "b", undefined]);
  });

  it("ends a waiting reader if the stream is destroyed without a reason", async () => {
    const stream = new PassThrough();
    const bytes = readBytes(stream);
    const waiting = bytes[Symbol.asyncIterator]().next();
    bytes.destroy();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });
});
