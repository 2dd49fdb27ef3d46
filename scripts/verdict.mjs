// Turns the counts of vitest into the output of `npm test`, `npm run test:full` and `.ci/run`.

/**
 * @typedef {object} TestRun
 * @property {number | null} status of the vitest process; null after a signal
 * @property {import("./tally-reporter.mjs").Tally | undefined} tally
 */

/**
 * The last lines of one or more test runs, and the exit code. The very last line is `N passed, N failed`, with `, N
 * skipped` only if something was skipped. A test that ran twice, with more effort the second time, counts once, and has
 * passed if it never failed. On a build machine a skipped test is a failure: everything must run there.
 *
 * @param {readonly TestRun[]} runs
 * @param {{ ci: boolean }} options
 * @returns {{ lines: string[], exitCode: number }}
 */
export function judge(runs, { ci }) {
  /** @type {string[]} */
  const lines = [];
  /** @type {Map<string, import("./tally-reporter.mjs").CountedTest>} */
  const tests = new Map();
  let failures = 0;
  for (const { status, tally } of runs) {
    if (tally === undefined) {
      lines.push("The test run broke off before it could count.");
      failures += 1;
      continue;
    }
    for (const test of tally.tests) tests.set(test.id, worse(tests.get(test.id), test));
    failures += tally.errors.length;
    lines.push(...tally.errors.map((error) => `[FAIL] outside any test: ${error}`));
    const isRed = tally.errors.length > 0 || tally.tests.some(({ state }) => state === "failed");
    if (status !== 0 && !isRed) {
      lines.push(`All counted tests passed, but vitest ended with ${status ?? "a signal"}; that counts as a failure.`);
      failures += 1;
    }
    if (tally.tests.every(({ state }) => state === "skipped") && !isRed && status === 0) {
      lines.push("No test ran; that counts as a failure.");
      failures += 1;
    }
  }
  if (runs.length === 0) {
    lines.push("No test was run; that counts as a failure.");
    failures += 1;
  }
  const having = (/** @type {string} */ wanted) => [...tests.values()].filter(({ state }) => state === wanted);
  const passed = having("passed").length;
  const red = having("failed");
  const failed = failures + red.length;
  const skipped = having("skipped");
  lines.push(...red.map((test) => describe("FAIL", test)), ...skipped.map((test) => describe("SKIP", test)));
  if (ci && skipped.length > 0) lines.push("CI=true: a skipped test is a failure.");
  lines.push(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`);
  return { lines, exitCode: failed > 0 || (ci && skipped.length > 0) ? 1 : 0 };
}

/**
 * @param {"FAIL" | "SKIP"} label
 * @param {import("./tally-reporter.mjs").CountedTest} test
 */
function describe(label, { id, why }) {
  return `[${label}] ${id}${why === "" ? "" : `: ${why}`}`;
}

const RANK = { skipped: 0, passed: 1, failed: 2 };

/**
 * @param {import("./tally-reporter.mjs").CountedTest | undefined} known
 * @param {import("./tally-reporter.mjs").CountedTest} found
 */
function worse(known, found) {
  return known === undefined || RANK[found.state] > RANK[known.state] ? found : known;
}
