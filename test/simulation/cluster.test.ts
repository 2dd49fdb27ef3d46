import { describe, expect, it } from "vitest";
import { byEffort } from "../effort.ts";
import { simulateCluster } from "./cluster/simulate-cluster.ts";

/** How many seeds; `npm run simulate -- --cluster` asks for more, or for a single one. */
const SEEDS = Number(process.env["MILLRACE_SIMULATION_SEEDS"] ?? byEffort({ quick: 10, full: 40 }));
const ONE = process.env["MILLRACE_SIMULATION_SEED"];
const FIRST = Number(process.env["MILLRACE_SIMULATION_FIRST"] ?? 1);

const seeds = ONE === undefined ? Array.from({ length: SEEDS }, (_, at) => FIRST + at) : [Number(ONE)];
const reproduce = (seed: number): string => `Reproduce it with: npm run simulate -- --cluster --seed ${seed}`;

describe("Many machines, on virtual time", () => {
  it(`no seed loses or doubles an event, runs a tool twice or before it is stored, ends a run early or leaves one open: ${seeds.length} seeds`, async () => {
    const counts = new Map<string, number>();
    for (const seed of seeds) {
      const { violations, counts: own } = await simulateCluster(seed);
      expect(violations, reproduce(seed)).toEqual([]);
      for (const [kind, count] of Object.entries(own)) counts.set(kind, (counts.get(kind) ?? 0) + count);
    }
    const tried = [...counts].toSorted(([left], [right]) => (left < right ? -1 : 1));
    console.log(`${seeds.length} seeds of a cluster; ${tried.map(([kind, count]) => `${kind} ${count}`).join(", ")}`);
  }, 86_400_000);

  it("the same seed gives the same logs, byte for byte", async () => {
    for (const seed of [1, 2, 3]) {
      const first = await simulateCluster(seed);
      const second = await simulateCluster(seed);
      expect(second.trace, reproduce(seed)).toBe(first.trace);
    }
  });
});
