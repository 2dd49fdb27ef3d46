import { describe, expect, it } from "vitest";
import { createOutputs, type WriteTo } from "./output.ts";

/** A screen that accepts a piece only on request. */
function createScreen(isGone: (fd: number) => boolean = () => false) {
  const shown: string[] = [];
  let take: (() => void) | undefined;
  const write: WriteTo = (fd, text) =>
    new Promise((resolve) => {
      take = () => {
        shown.push(`${fd}:${text}`);
        take = undefined;
        resolve(isGone(fd) ? "EPIPE" : undefined);
      };
    });
  const turn = async (): Promise<void> => {
    for (let count = 0; count < 10; count += 1) await Promise.resolve();
  };
  return {
    shown,
    write,
    async step() {
      await turn();
      take?.();
      await turn();
    },
  };
}
const streams = { out: { fd: 1, isTTY: true, columns: 0 }, err: { fd: 2 } };

describe("the outputs", () => {
  it("keep the order of both streams, and join many pieces into one", async () => {
    const screen = createScreen();
    const { out, err, written } = createOutputs(streams, screen.write);
    out.write("a");
    out.write("b");
    err.write("c");
    out.write("");
    out.write("d");
    for (let count = 0; count < 3; count += 1) await screen.step();
    await written();
    expect(screen.shown).toEqual(["1:ab", "2:c", "1:d"]);
  });

  it("apply backpressure if the reader is slow, and buffer no more than was written before", async () => {
    const screen = createScreen();
    const { out } = createOutputs(streams, screen.write);
    out.write("first");
    await screen.step();
    out.write("x".repeat(10));
    await Promise.resolve();
    expect(out.room()).toBeUndefined();
    let isFree = false;
    out.write("y".repeat(4_300_000));
    const room = out.room()?.then(() => {
      isFree = true;
    });
    expect(room).toBeDefined();
    await Promise.resolve();
    expect(isFree).toBe(false);
    for (let count = 0; count < 20; count += 1) await screen.step();
    await room;
    expect(out.room()).toBeUndefined();
  });

  it("after a reader has left, nothing more is written to it; the other output continues", async () => {
    const screen = createScreen((fd) => fd === 1);
    const { out, err, written } = createOutputs(streams, screen.write);
    out.write("a");
    await screen.step();
    expect(out.isGone).toBe(true);
    out.write("b");
    err.write("c");
    await screen.step();
    await written();
    expect([screen.shown, out.room(), err.isGone]).toEqual([["1:a", "2:c"], undefined, false]);
  });

  it("write small pieces, and split no character", async () => {
    const screen = createScreen();
    const { out, written } = createOutputs(streams, screen.write);
    const text = `${"x".repeat(16 * 1024 - 1)}${"🙂".repeat(9000)}`;
    out.write(text);
    for (let count = 0; count < 4; count += 1) await screen.step();
    await written();
    expect(screen.shown.map((piece) => piece.slice(2)).join("")).toBe(text);
    expect(screen.shown).toHaveLength(3);
    for (const piece of screen.shown) expect(Buffer.from(piece).toString()).toBe(piece);
  });

  it("cut buffered output for a terminal and reset its colour; output elsewhere is never cut", async () => {
    const screen = createScreen();
    const { out, err, written, cut } = createOutputs(streams, screen.write);
    out.write("seen");
    await Promise.resolve();
    await Promise.resolve();
    out.write("x".repeat(4_300_000));
    err.write("log");
    const room = out.room();
    expect(room).toBeDefined();
    expect(cut()).toBe(true);
    await room;
    out.write("aborted");
    for (let count = 0; count < 4; count += 1) await screen.step();
    await written();
    expect(screen.shown).toEqual(["1:seen", "2:log", "1:\u001b[0m\naborted"]);
    expect(cut()).toBe(false);
    await screen.step();
    expect(screen.shown).toHaveLength(3);
  });

  it.each([
    ["ENOSPC", 1, "ENOSPC"],
    ["EPIPE", 1, undefined],
    ["EIO", 1, undefined],
    ["ENOSPC", 2, undefined],
  ])("F-F %s on %i: what is lost is %s", async (fault, fd, lost) => {
    const outputs = createOutputs(streams, async (to) => (to === fd ? fault : undefined));
    outputs.out.write("a");
    outputs.err.write("b");
    await outputs.written();
    expect([outputs.lost(), outputs.out.isGone]).toEqual([lost, fd === 1]);
  });

  it("a terminal without a size gets the usual one", () => {
    const { out, err } = createOutputs(streams, async () => undefined);
    expect([out.columns, out.isTerminal, err.isTerminal]).toEqual([100, true, false]);
  });
});
