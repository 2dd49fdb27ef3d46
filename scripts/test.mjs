// `npm test [-- <vitest arguments>]`: set-up, all tests, and as the last line how many passed and failed.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEBIAN_PACKAGES, installDebianPackages } from "./debian-packages.mjs";
import { ROOT, setUp } from "./set-up.mjs";
import { judge } from "./verdict.mjs";

try {
  setUp();
} catch (error) {
  process.stderr.write(`millrace: ${error instanceof Error ? error.message : String(error)}\n`);
  process.stdout.write("0 passed, 1 failed\n");
  process.exit(1);
}
for (const missing of installDebianPackages(DEBIAN_PACKAGES)) {
  process.stdout.write(`[SKIP] ${missing.binary} is missing (Debian package ${missing.package}): ${missing.why}\n`);
}

const folder = mkdtempSync(join(tmpdir(), "millrace-test-"));
try {
  const tallyPath = join(folder, "tally.json");
  const { status } = spawnSync(
    process.execPath,
    [
      join(ROOT, "node_modules", "vitest", "vitest.mjs"),
      "run",
      // A test left with `.only` would silence all others.
      "--allowOnly=false",
      "--reporter=default",
      `--reporter=${join(ROOT, "scripts", "tally-reporter.mjs")}`,
      // How much of the sources the tests reach, with a floor: vitest.config.ts.
      ...(process.env["CI"] === "true" ? ["--coverage"] : []),
      ...process.argv.slice(2),
    ],
    { cwd: ROOT, stdio: "inherit", env: { ...process.env, MILLRACE_TALLY: tallyPath } },
  );
  const verdict = judge({ status, tally: readTally(tallyPath), ci: process.env["CI"] === "true" });
  process.stdout.write(`${verdict.lines.join("\n")}\n`);
  process.exitCode = verdict.exitCode;
} finally {
  rmSync(folder, { recursive: true, force: true });
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
