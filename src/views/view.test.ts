import { describe, expect, it } from "vitest";
import { applyView, NOTHING, type View } from "./view.ts";

/** Every number repeated that many times, and "end" at the end. */
function repeating(): View<string, number> {
  return { next: (count) => Array.from({ length: count }, (_, at) => `${count}.${at}`), end: () => ["end"] };
}

async function all<Out>(source: AsyncIterable<Out>): Promise<Out[]> {
  const out: Out[] = [];
  for await (const value of source) out.push(value);
  return out;
}

/** A source that records how far it was read and whether it was closed. */
function watched(values: readonly number[]) {
  const seen = { pulled: 0, closed: 0 };
  const source: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = values[seen.pulled++];
        return value === undefined ? { done: true, value: undefined } : { done: false, value };
      },
      async return() {
        seen.closed += 1;
        return { done: true, value: undefined };
      },
    }),
  };
  return { seen, source };
}

describe("applyView", () => {
  it("gives the outputs of arrays, generators and async sources alike, one per next (S1-63)", async () => {
    const expected = ["2.0", "2.1", "1.0", "end"];
    expect(await all(applyView([2, 0, 1], repeating()))).toEqual(expected);
    expect(await all(applyView(new Set([2, 0, 1]), repeating()))).toEqual(expected);
    expect(await all(applyView(watched([2, 0, 1]).source, repeating()))).toEqual(expected);
  });

  it("an empty source gives only the ending, and stays ended", async () => {
    const view = applyView([], repeating());
    expect(await view.next()).toEqual({ done: false, value: "end" });
    expect(await view.next()).toEqual({ done: true, value: undefined });
    expect(await view.next()).toEqual({ done: true, value: undefined });
  });

  it("reads nothing before it is pulled, and no further than needed", async () => {
    const { seen, source } = watched([2, 1, 1]);
    const view = applyView(source, repeating());
    expect(seen.pulled).toBe(0);
    await view.next();
    await view.next();
    expect(seen.pulled).toBe(1);
  });

  it("leaving the loop closes the source once", async () => {
    const { seen, source } = watched([1, 1, 1]);
    for await (const value of applyView(source, repeating())) if (value !== "") break;
    expect(seen).toEqual({ pulled: 1, closed: 1 });
  });

  it("a chain of views passes on the closing", async () => {
    const { seen, source } = watched([2, 2]);
    const upper: View<string, string> = { next: (text) => [text.toUpperCase()], end: () => NOTHING };
    for await (const value of applyView(applyView(source, repeating()), upper)) if (value !== "") break;
    expect(seen.closed).toBe(1);
  });

  it("leaving while a next waits closes the source and ends that next", async () => {
    let answer: (step: IteratorResult<number>) => void = () => {};
    let closed = false;
    const source: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise((resolve) => (answer = resolve)),
        async return() {
          closed = true;
          answer({ done: true, value: undefined });
          return { done: true, value: undefined };
        },
      }),
    };
    const view = applyView(source, repeating());
    const waiting = view.next();
    expect(await view.return?.()).toEqual({ done: true, value: undefined });
    expect(closed).toBe(true);
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it("overlapping next calls are answered in order (S1-64)", async () => {
    const view = applyView(watched([2, 0, 1]).source, repeating());
    const steps = await Promise.all([view.next(), view.next(), view.next(), view.next(), view.next()]);
    expect(steps.map((step) => step.value as unknown)).toEqual(["2.0", "2.1", "1.0", "end", undefined]);
  });

  it("a source that throws ends the iteration with what it threw", async () => {
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      throw new Error("lost");
    }
    const view = applyView(broken(), repeating());
    expect((await view.next()).value).toBe("1.0");
    await expect(view.next()).rejects.toThrow("lost");
    expect((await view.next()).done).toBe(true);
  });

  it("a view that throws closes the source", async () => {
    const { seen, source } = watched([1, 1]);
    const faulty: View<string, number> = {
      next: () => {
        throw new Error("faulty");
      },
      end: () => NOTHING,
    };
    await expect(applyView(source, faulty).next()).rejects.toThrow("faulty");
    expect(seen.closed).toBe(1);
  });

  it("leaving before the first next opens nothing", async () => {
    const { seen, source } = watched([1]);
    const view = applyView(source, repeating());
    await view.return?.();
    expect(await view.next()).toEqual({ done: true, value: undefined });
    expect(seen).toEqual({ pulled: 0, closed: 0 });
  });
});
