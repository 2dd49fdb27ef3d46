// `npm test [-- <vitest arguments>]`: sets up, runs the quick tests, and prints how many passed and failed as the last
// line. With `--full` (`npm run test:full`) it runs the full set: scripts/test-sets.mjs. A path runs the tests under
// it, of either set.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEBIAN_PACKAGES, findMissing } from "./debian-packages.mjs";
import { ROOT, setUp } from "./set-up.mjs";
import { judge } from "./verdict.mjs";

const isFull = process.argv[2] === "--full";
const given = process.argv.slice(isFull ? 3 : 2);
const ci = process.env["CI"] === "true";

try {
  setUp();
} catch (error) {
  process.stderr.write(`millrace: ${error instanceof Error ? error.message : String(error)}\n`);
  process.stdout.write("0 passed, 1 failed\n");
  process.exit(1);
}
if (isFull) {
  for (const missing of findMissing(DEBIAN_PACKAGES)) {
    process.stdout.write(`[SKIP] ${missing.binary} is missing (Debian package ${missing.package}): ${missing.why}\n`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "millrace-test-"));
try {
  const tallyPath = join(folder, "tally.json");
  const { status } = spawnSync(
    process.execPath,
    [
      join(ROOT, "node_modules", "vitest", "vitest.mjs"),
      "run",
      // A test left with `.only` would disable all others.
      "--allowOnly=false",
      "--reporter=default",
      `--reporter=${join(ROOT, "scripts", "tally-reporter.mjs")}`,
      ...(given.length > 0 ? [] : projects()),
      // The coverage of the quick tests, with a minimum: vitest.config.ts.
      ...(ci && !isFull && given.length === 0 ? ["--coverage"] : []),
      ...given,
    ],
    { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...effort(), MILLRACE_TALLY: tallyPath } },
  );
  const run = { status, tally: readTally(tallyPath) };
  // Read by .ci/run, which adds up the counts.
  const record = process.env["MILLRACE_TEST_RECORD"];
  if (record !== undefined) writeFileSync(record, JSON.stringify(run));
  const verdict = judge([run], { ci });
  process.stdout.write(`${verdict.lines.join("\n")}\n`);
  process.exitCode = verdict.exitCode;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function projects() {
  return (isFull ? ["full", "properties", "alone"] : ["unit", "parts", "built"]).flatMap((name) => ["--project", name]);
}

/** A given path or pattern runs at full strength, as with vitest itself. */
function effort() {
  if (isFull) return { MILLRACE_EFFORT: process.env["MILLRACE_EFFORT"] ?? "full" };
  return given.length > 0 ? {} : { MILLRACE_EFFORT: "quick" };
}

/**
 * @param {string} path
 * @returns {import("./tally-reporter.mjs").Tally | undefined}
 */
function readTally(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
