import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentEvent } from "#domain";
import type { EmulatorScript } from "#emulator";
import { ALL_TARGETS, openStage } from "./targets.ts";

const circular: { self?: unknown } = {};
circular.self = circular;

/** What transforms may make of an answer: the value `output()` gives, and the form of it that events hold. */
const VALUES: readonly (readonly [string, unknown, unknown])[] = [
  ["a Date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["a bigint", 5n, "5"],
  ["a Map", new Map([["a", 1]]), { a: 1 }],
  ["a value that refers to itself", circular, expect.stringContaining("without a JSON form")],
  ["undefined", undefined, undefined],
  ["a plain object", { a: [1, null] }, { a: [1, null] }],
];
const script: EmulatorScript = { rules: [] };

describe("F-C1: the output of a transform", () => {
  it.each(ALL_TARGETS)("$name: output() returns it, and every event survives JSON", async (target) => {
    const stage = await openStage(script);
    try {
      for (const [what, value, shown] of target.isCli ? VALUES.slice(0, 2) : VALUES) {
        const output = z.object({ word: z.string() }).transform(() => value);
        const run = stage.start(target, "Say a word", { output });
        const log: AgentEvent[] = [];
        for await (const event of run) log.push(event);
        expect(() => JSON.stringify(log), what).not.toThrow();
        expect(await run.output(), what).toEqual(value);
        expect((await run.result()).structured, what).toEqual(shown);
      }
    } finally {
      await stage.close();
    }
  });
});
