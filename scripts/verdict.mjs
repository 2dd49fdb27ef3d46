// From what vitest said to what `npm test` says.

/**
 * The last lines of a test run and its exit code. The very last line is `N passed, N failed`, with `, N skipped` only
 * when something was skipped. On a build machine a skipped test is a failure: there, everything has to run.
 *
 * @param {{ status: number | null, tally: import("./tally-reporter.mjs").Tally | undefined, ci: boolean }} run
 * @returns {{ lines: string[], exitCode: number }}
 */
export function judge({ status, tally, ci }) {
  if (tally === undefined) {
    return { lines: ["The test run broke off before it could count.", "0 passed, 1 failed"], exitCode: 1 };
  }
  const lines = tally.skipped.map(({ title, why }) => `[SKIP] ${title}${why === "" ? "" : `: ${why}`}`);
  let { failed } = tally;
  if (status !== 0 && failed === 0) {
    lines.push(`All counted tests passed, but vitest ended with ${status ?? "a signal"}; that counts as a failure.`);
    failed = 1;
  }
  if (tally.passed === 0 && failed === 0) {
    lines.push("No test ran; that counts as a failure.");
    failed = 1;
  }
  const skipped = tally.skipped.length;
  if (ci && skipped > 0) lines.push("CI=true: a skipped test is a failure.");
  lines.push(`${tally.passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return { lines, exitCode: failed > 0 || (ci && skipped > 0) ? 1 : 0 };
}
