import { describe, expect, it } from "vitest";
import { createSeededRandom } from "#testing";
import { byEffort } from "../effort.ts";
import type { Strike } from "./fault.ts";
import { play } from "./play.ts";
import "./preload.ts";
import { MODEL_SCENARIOS } from "./scenarios/models.ts";
import { OTHER_SCENARIOS } from "./scenarios/others.ts";
import { PROCESS_SCENARIOS } from "./scenarios/processes.ts";
import { SERVER_SCENARIOS } from "./scenarios/server.ts";

const ALL = [...MODEL_SCENARIOS, ...PROCESS_SCENARIOS, ...SERVER_SCENARIOS, ...OTHER_SCENARIOS];

/** `npm run torture` asks for every call, or for a single one. */
const { MILLRACE_TORTURE: EXTENT, MILLRACE_TORTURE_SCENARIO: SCENARIO } = process.env;
const { MILLRACE_TORTURE_SEAM: SEAM, MILLRACE_TORTURE_CALL: CALL } = process.env;

/** How many calls of a scenario fail; which of them changes from month to month. */
const FEW = byEffort({ quick: 8, full: 40 });

const SCENARIOS = ALL.filter(({ name }) => SCENARIO === undefined || name === SCENARIO);

/** The calls that are to fail: the first one of each seam, and others drawn by chance. */
function strikesOf(counts: ReadonlyMap<string, number>): readonly Strike[] {
  const every = [...counts].flatMap(([seam, calls]) =>
    Array.from({ length: calls }, (_, at): Strike => ({ seam, call: at + 1 })),
  );
  if (SEAM !== undefined) return every.filter(({ seam, call }) => seam === SEAM && call === Number(CALL ?? call));
  if (EXTENT === "all") return every;
  const now = new Date();
  const random = createSeededRandom(12 * now.getFullYear() + now.getMonth());
  const drawn = every.map((strike) => ({ strike, lot: strike.call === 1 ? -1 : random.next() }));
  return drawn
    .toSorted((left, right) => left.lot - right.lot)
    .slice(0, FEW)
    .map(({ strike }) => strike);
}

const reproduce = (name: string, { seam, call }: Strike): string =>
  `npm run torture -- --scenario "${name}" --seam "${seam}" --call ${call}`;

describe("R11: one call of the world fails", () => {
  it("there are twenty scenarios at least, each with a name of its own", () => {
    expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
    expect(ALL.length).toBeGreaterThanOrEqual(20);
    expect(SCENARIOS.length, `no scenario is called ${SCENARIO}`).toBeGreaterThan(0);
  });

  it.each(SCENARIOS)(
    "$name: it ends once, the failure is reported, and nothing is left open",
    async (scenario) => {
      // The first time, modules are still loaded, which takes real time: timers fire that never fire afterwards.
      await play(scenario);
      const untouched = await play(scenario);
      expect(untouched.problems).toEqual([]);
      const strikes = strikesOf(untouched.counts);
      expect(strikes.length, "no such call").toBeGreaterThan(0);
      const problems: string[] = [];
      for (const strike of strikes) {
        const trial = await play(scenario, strike);
        for (const problem of trial.problems) problems.push(`${problem}\n  ${reproduce(scenario.name, strike)}`);
      }
      if (problems.length > 0) throw new Error(problems.slice(0, 40).join("\n"));
      console.log(`R11: ${scenario.name}: ${strikes.length} calls failed, one at a time`);
    },
    600_000,
  );
});
