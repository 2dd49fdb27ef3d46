import { describe, expect, it, vi } from "vitest";
import type { Schema } from "#tools";
import { showOutput } from "./shown-output.ts";

const schema: Schema = { jsonSchema: {}, parse: async (value) => ({ fits: true, value }) };

async function show(value: unknown) {
  let turns = 0;
  const giveOutput = vi.fn();
  const shown = await showOutput(value, schema, { giveOutput }, async () => void (turns += 1));
  return { shown, given: giveOutput.mock.calls.map(([given]) => given as unknown), turns };
}

describe("the value of an output schema", () => {
  it("F-B1: is shown unchanged if it is JSON; a large one is checked in several turns of the event loop", async () => {
    const value = { rows: Array.from({ length: 60_000 }, (_, at) => ({ at, name: `row ${at}`, on: null })) };
    const { shown, given, turns } = await show(value);
    expect(shown).toBe(value);
    expect(given).toEqual([]);
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it("is shown converted, and returned unchanged, if it is not JSON", async () => {
    const self: Record<string, unknown> = {};
    self["self"] = self;
    const values = [
      new Date(0),
      new Map([["a", 1]]),
      1n,
      Number.NaN,
      { a: undefined },
      Array(2),
      { toJSON: () => 1 },
      self,
    ];
    for (const value of [...values, undefined, ...values.map((inner) => ({ rows: [1, { inner }] }))]) {
      const { shown, given } = await show(value);
      expect(given[0]).toBe(value);
      expect(shown === undefined ? undefined : JSON.parse(JSON.stringify(shown))).toEqual(shown);
    }
    expect((await show({ at: new Date(0) })).shown).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  });
});
