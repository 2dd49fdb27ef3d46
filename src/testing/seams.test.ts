import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isId } from "#domain";
import { checkFiles } from "./files-conformance.ts";
import { createMemoryFiles } from "./memory-files.ts";
import { createSeededRandom } from "./seeded-random.ts";
import { createVirtualClock } from "./virtual-clock.ts";

describe("createVirtualClock", () => {
  it("does not advance by itself", async () => {
    const clock = createVirtualClock(5000);
    expect(clock.now()).toBe(5000);
    await clock.advance(25);
    expect(clock.now()).toBe(5025);
  });

  it("fires timers in the order of their times, then of their creation, at their own time", async () => {
    const clock = createVirtualClock();
    const fired: string[] = [];
    for (const [ms, name] of [
      [30, "c"],
      [10, "a"],
      [20, "b1"],
      [20, "b2"],
      [0, "now"],
    ] as const) {
      clock.after(ms, () => fired.push(`${name}@${clock.now()}`));
    }
    await clock.advance(20);
    expect(fired).toEqual(["now@0", "a@10", "b1@20", "b2@20"]);
    expect([clock.now(), clock.pending()]).toEqual([20, 1]);
    await clock.advance(9);
    expect(clock.pending()).toBe(1);
    await clock.advance(1);
    expect(fired.at(-1)).toBe("c@30");
  });

  it("fires timers that are set meanwhile, if they become due", async () => {
    const clock = createVirtualClock();
    const fired: number[] = [];
    const again = (): void => {
      fired.push(clock.now());
      clock.after(10, again);
    };
    clock.after(10, again);
    await clock.advance(35);
    expect(fired).toEqual([10, 20, 30]);
  });

  it("lets promises run between two timers, however long their chain", async () => {
    const clock = createVirtualClock();
    const seen: string[] = [];
    clock.after(1, () => {
      let chain = Promise.resolve();
      for (let link = 0; link < 500; link += 1) chain = chain.then(() => undefined);
      void chain.then(() => seen.push("promises"));
    });
    clock.after(2, () => seen.push("timer"));
    await clock.advance(2);
    expect(seen).toEqual(["promises", "timer"]);
  });

  it("does not fire a cancelled timer, not even while time advances", async () => {
    const clock = createVirtualClock();
    const fired: string[] = [];
    const takeBack = clock.after(2, () => fired.push("no"));
    clock.after(1, takeBack);
    await clock.advance(5);
    takeBack();
    expect([fired, clock.pending()]).toEqual([[], 0]);
  });

  it("carries out overlapping calls one after the other", async () => {
    const clock = createVirtualClock();
    const fired: number[] = [];
    for (const ms of [5, 15]) clock.after(ms, () => fired.push(clock.now()));
    await Promise.all([clock.advance(10), clock.advance(10)]);
    expect([fired, clock.now()]).toEqual([[5, 15], 20]);
  });

  it("rejects with what a timer throws, and continues afterwards", async () => {
    const clock = createVirtualClock();
    const fired: number[] = [];
    clock.after(1, () => {
      throw new Error("in a timer");
    });
    clock.after(2, () => fired.push(clock.now()));
    await expect(clock.advance(5)).rejects.toThrow("in a timer");
    await clock.advance(5);
    expect(fired).toEqual([2]);
  });

  it("never fires an infinite timer, and rejects invalid steps", async () => {
    const clock = createVirtualClock();
    clock.after(Number.POSITIVE_INFINITY, () => undefined);
    expect(clock.pending()).toBe(0);
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(clock.advance(ms)).rejects.toThrow(RangeError);
  });

  it("fires every timer once, in order, however the time is divided into steps", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(50), { maxLength: 20 }),
        fc.array(fc.nat(20), { maxLength: 8 }),
        async (delays, steps) => {
          const clock = createVirtualClock();
          const fired: number[] = [];
          for (const ms of delays) clock.after(ms, () => fired.push(clock.now()));
          for (const step of [...steps, 60]) await clock.advance(step);
          expect(fired).toEqual([...delays].sort((left, right) => left - right));
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("createSeededRandom", () => {
  it("repeats itself for a seed, and differs between adjacent seeds", () => {
    const draw = (seed: number): unknown[] => {
      const random = createSeededRandom(seed);
      return [random.next(), random.id(), random.next(), random.id()];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it("gives numbers spread over [0, 1) and ids that differ", () => {
    const random = createSeededRandom(1);
    const numbers = Array.from({ length: 10_000 }, () => random.next());
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    const tenths = new Set(numbers.map((number) => Math.floor(number * 10)));
    expect(tenths.size).toBe(10);
    const ids = Array.from({ length: 1000 }, () => random.id());
    expect(new Set(ids).size).toBe(1000);
    expect(ids.every(isId)).toBe(true);
  });
});

describe("createMemoryFiles", () => {
  it("fulfils the contract of the seam", async () => {
    expect(await checkFiles(() => ({ files: createMemoryFiles(), root: "/somewhere/else" }))).toEqual([]);
  });

  it("the suite detects a file system that violates it", async () => {
    const broken = () => ({ ...createMemoryFiles(), append: createMemoryFiles().write });
    const failures = await checkFiles(() => ({ files: broken(), root: "/x" }));
    expect(failures.map(({ behaviour }) => behaviour)).toContain("appended bytes follow those that are there");
  });
});
