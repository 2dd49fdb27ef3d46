import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { byEffort } from "../effort.ts";
import { simulate } from "./simulate.ts";

/** How many seeds; `npm run simulate` asks for more, or for a single one. */
const SEEDS = Number(process.env["MILLRACE_SIMULATION_SEEDS"] ?? byEffort({ quick: 200, full: 2000 }));
const ONE = process.env["MILLRACE_SIMULATION_SEED"];
const FIRST = Number(process.env["MILLRACE_SIMULATION_FIRST"] ?? 1);

const kept = readFileSync(new URL("seeds.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => /^\d+/.test(line))
  .map((line) => Number.parseInt(line, 10));

function seedsOf(): readonly number[] {
  if (ONE !== undefined) return [Number(ONE)];
  return [...kept, ...Array.from({ length: SEEDS }, (_, at) => FIRST + at)];
}

const reproduce = (seed: number): string => `Reproduce it with: npm run simulate -- --seed ${seed}`;

describe("R3: whole runs on virtual time", () => {
  it(`no seed breaks a promise (I1 to I6, I10): ${seedsOf().length} seeds`, async () => {
    const counts = new Map<string, number>();
    for (const seed of seedsOf()) {
      const { violations, kinds } = await simulate(seed);
      expect(violations, reproduce(seed)).toEqual([]);
      for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    const tried = [...counts].toSorted(([left], [right]) => (left < right ? -1 : 1));
    console.log(`R3: ${seedsOf().length} seeds; ${tried.map(([kind, count]) => `${kind} ${count}`).join(", ")}`);
    if (ONE !== undefined) return;
    // A simulation in which nothing happens proves nothing.
    for (const kind of ["success", "error", "aborted", "interrupted", "crash", "disk", "team", "handoff", "session"]) {
      expect(counts.get(kind) ?? 0, kind).toBeGreaterThan(0);
    }
  }, 900_000);

  it("the same seed gives the same logs, byte for byte", async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const first = await simulate(seed);
      const second = await simulate(seed);
      expect(second.trace, reproduce(seed)).toBe(first.trace);
    }
  });
});
