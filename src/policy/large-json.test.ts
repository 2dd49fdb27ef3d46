import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { callOf, openTrial } from "../../test/policy/place.ts";
import { createGrant } from "./grant.ts";
import { canonicalJson, tryCopy } from "./json-copy.ts";
import { copyJson, isLargeJson, isSameJson, writeCanonical } from "./large-json.ts";

/** Makes any value large: it becomes one member of many. */
const FILLER = Array.from({ length: 600 }, (_, at) => ({ at, name: `row "${at}"` }));
const rows = Array.from({ length: 20_000 }, (_, at) => ({ at, name: `row "${at}"` }));

function countTurns() {
  const counted = { turns: 0, nextTurn: async () => void (counted.turns += 1) };
  return counted;
}

describe("F-B1: large arguments", () => {
  // Also what JSON leaves out, writes as something else, or writes in another order.
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.anything({ maxDepth: 3, withNullPrototype: true, withDate: true, withBoxedValues: true, withSparseArray: true }),
    fc.dictionary(fc.oneof(fc.constantFrom("__proto__", "10", "9", "toJSON"), fc.string()), fc.jsonValue(), {
      maxKeys: 8,
    }),
  );

  it("are copied and written in turns as they are at once", async () => {
    await fc.assert(
      fc.asyncProperty(anything, fc.boolean(), async (value, isList) => {
        const large = isList ? [FILLER, value] : { filler: FILLER, value, last: undefined };
        const { nextTurn } = countTurns();
        expect(await copyJson(large, nextTurn)).toEqual(tryCopy(large));
        const written = await writeCanonical(large, nextTurn).catch(() => "refused");
        expect(written).toBe(
          ((): string => {
            try {
              return canonicalJson(large);
            } catch {
              return "refused";
            }
          })(),
        );
      }),
      { numRuns: fuzzRuns(500) },
    );
  });

  it("with long texts are written as they are at once, wherever a text is cut", async () => {
    for (const before of [262_142, 262_143, 262_144]) {
      const value = { text: `${"x".repeat(before)}𝄞"${"é".repeat(300_000)}\ud834`, filler: FILLER };
      const counted = countTurns();
      expect((await writeCanonical(value, counted.nextTurn)) === canonicalJson(value)).toBe(true);
      expect(counted.turns).toBeGreaterThan(2);
    }
  });

  it("that contain themselves, or are nested too deeply, are no JSON", async () => {
    const circle: unknown[] = [FILLER];
    circle.push(circle);
    expect(await copyJson(circle, async () => undefined)).toBeUndefined();
    let deep: unknown = FILLER;
    for (let at = 0; at < 2000; at += 1) deep = [deep];
    expect(await copyJson([FILLER, deep], async () => undefined)).toBeUndefined();
  });

  it("are copied and written in several turns, small ones in none", async () => {
    const counted = countTurns();
    const copy = await copyJson({ rows }, counted.nextTurn);
    expect(copy).toEqual({ rows });
    expect((copy as { rows: unknown[] }).rows[0]).not.toBe(rows[0]);
    expect(counted.turns).toBeGreaterThan(5);
    counted.turns = 0;
    expect(await writeCanonical({ rows }, counted.nextTurn)).toBe(canonicalJson({ rows }));
    expect(counted.turns).toBeGreaterThan(5);
    counted.turns = 0;
    expect(copyJson({ a: [1] }, counted.nextTurn)).toEqual({ a: [1] });
    expect(await isSameJson({ a: 1, b: 2 }, { b: 2, a: 1 }, counted.nextTurn)).toBe(true);
    expect(counted.turns).toBe(0);
  });

  it("I16: a grant takes the arguments of its verdict, the same ones once more, and no others", async () => {
    const { signal } = new AbortController();
    const { nextTurn } = countTurns();
    const allowed = { rows, to: "here" };
    const grant = () => createGrant({ input: allowed, signal, nextTurn });
    const same = { to: "here", rows: rows.map((row) => ({ ...row })) };
    const others = { rows: [...rows.slice(1), rows[0]], to: "here" };
    expect(isLargeJson(allowed)).toBe(true);
    expect(grant().redeem(allowed)).toBe(true);
    for (const [given, isAllowed] of [
      [same, true],
      [others, false],
      [{ to: "here" }, false],
    ] as const) {
      expect(grant().redeem(given)).toBe(isAllowed);
      const prepared = grant();
      await prepared.prepare?.(given);
      expect(prepared.redeem(given)).toBe(isAllowed);
      expect(prepared.redeem(given)).toBe(false);
      // What was prepared holds for that object only.
      const mistaken = grant();
      await mistaken.prepare?.(same);
      expect(mistaken.redeem(given)).toBe(isAllowed);
    }
  });

  it.each([
    ["denied by a rule about them", { rules: [{ deny: ["Bash(*row 19999*)"] }] }, "denied"],
    ["allowed by a rule about the tool", { rules: [{ allow: ["Bash"] }] }, "run"],
    [
      "not allowed by a rule that would have to read too many of them",
      { rules: [{ allow: ["Bash(*row*)"] }] },
      "denied",
    ],
    ["what a hook makes of them", { hooks: [{ "before-tool": [({ input }) => ({ input })] }] }, "run"],
    ["what a callback makes of them", { permission: ({ input }) => ({ allow: true, input }) }, "run"],
  ] as [string, Parameters<typeof openTrial>[0], string][])("are %s, in several turns", async (_, settings, kind) => {
    const counted = countTurns();
    const trial = openTrial(settings, false, counted.nextTurn);
    const input = { command: undefined, rows: [...rows, ...rows].map(({ at }) => `row ${at}`) };
    const verdict = await trial.policy.checkCall(callOf(input));
    expect(verdict.kind).toBe(kind);
    expect(counted.turns).toBeGreaterThan(5);
    if (verdict.kind !== "run") return;
    expect(verdict.input).toEqual({ rows: input.rows });
    expect(verdict.input).not.toBe(input);
    expect(verdict.grant.redeem(verdict.input)).toBe(true);
  });
});
