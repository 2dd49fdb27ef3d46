import { describe, expect, it } from "vitest";
import { createMemoryIo } from "../../test/e2e/memory-io.ts";
import { displayWidth } from "#sinks";
import { main } from "./main.ts";
import { createProgressBar } from "./progress-bar.ts";

function terminal(columns: number, env: Record<string, string> = {}) {
  const io = createMemoryIo({ cwd: "/", env });
  const err = { ...io.err, isTerminal: true, columns };
  return { ...io, err, world: { ...io.world, fetch: () => Promise.reject(new Error("no network")) } };
}

describe("the bar of a long command", () => {
  it("F-F: fits every terminal, is drawn when it changes, and is erased", () => {
    for (const columns of [20, 40, 80]) {
      const io = terminal(columns);
      const bar = createProgressBar(io);
      const texts = { before: "copying ", after: "1/4 a long name of what is done" };
      bar.show(1, 4, texts);
      bar.show(1, 4, texts);
      bar.clear();
      bar.clear();
      const [, line = "", ...rest] = io.stderr().split("\r\u001b[K");
      expect(line).toMatch(/^copying █+░+/);
      expect(displayWidth(line)).toBeLessThanOrEqual(columns - 3);
      expect(rest).toEqual([""]);
    }
  });

  it("is full when there is nothing to do, and never longer than full", () => {
    for (const [done, total] of [
      [0, 0],
      [5, 4],
    ] as const) {
      const io = terminal(80);
      createProgressBar(io).show(done, total, { after: "" });
      expect(io.stderr()).toMatch(/█{20} *$/);
    }
  });
});

describe("F-F: a dumb terminal gets no escape sequences", () => {
  it("from a bar, a run and doctor", async () => {
    const io = terminal(80, { TERM: "dumb" });
    createProgressBar(io).show(1, 2, { after: "" });
    expect(io.stderr()).toBe("");
    await main(["run", "What is 25 + 17?"], io);
    await main(["doctor"], io);
    expect(io.stdout()).toContain("25 + 17 = 42.");
    expect(io.stdout() + io.stderr()).not.toContain("\u001b");
    const other = terminal(80, { TERM: "xterm" });
    await main(["doctor"], other);
    expect(other.stderr()).toContain("\u001b[K");
  });
});
