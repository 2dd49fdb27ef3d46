// `npm run mutants -- [--only text]`: changes the sources in a temporary copy, one change at a time, and runs the tests
// that are listed for it. A change that no test detects is a behaviour that could be lost. The changes are in
// mutant-list.mjs.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { parseArgs } from "node:util";
import { MUTANTS } from "./mutant-list.mjs";
import { ROOT, setUp } from "./set-up.mjs";

/** A change that makes a test hang counts as detected. */
const LONGEST_MS = 300_000;
const LEFT_OUT = new Set(["node_modules", ".git", "dist", "coverage"]);

const { values } = parseArgs({ options: { only: { type: "string" } } });
const mutants = MUTANTS.filter(
  ({ what, file }) => values.only === undefined || `${what} ${file}`.includes(values.only),
);
if (mutants.length === 0) {
  process.stderr.write(`mutants: no change has ${JSON.stringify(values.only)} in its description or its file.\n`);
  process.exit(2);
}
setUp();
const unchanged = new Map();
const copy = mkdtempSync(join(tmpdir(), "millrace-mutants-"));
try {
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(ROOT, path).split(sep)[0] ?? "") });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"), "dir");
  process.exitCode = tryAll();
} finally {
  rmSync(copy, { recursive: true, force: true });
}

function tryAll() {
  const wrong = [];
  for (const mutant of mutants) {
    const fault = tryOne(mutant);
    process.stdout.write(`${fault === undefined ? "noticed" : "NOT OK "}  ${mutant.file}: ${mutant.what}\n`);
    if (fault !== undefined) wrong.push(`${mutant.file}: ${mutant.what}: ${fault}`);
  }
  process.stdout.write(`${mutants.length - wrong.length} of ${mutants.length} changes were noticed\n`);
  for (const line of wrong) process.stderr.write(`mutants: ${line}\n`);
  return wrong.length === 0 ? 0 : 1;
}

/**
 * The problem; `undefined` if the change was detected.
 *
 * @param {import("./mutant-list.mjs").Mutant} mutant
 */
function tryOne({ file, find, replace, tests, title }) {
  const path = join(copy, file);
  const source = readFileSync(path, "utf8");
  const places = source.split(find).length - 1;
  if (places !== 1)
    return `the text to be replaced stands ${places} times in the file; correct scripts/mutant-list.mjs`;
  // A test that fails anyway detects nothing.
  if (!passesUnchanged(tests, title)) return "its tests fail without the change";
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  try {
    return passes(tests, title) ? "no test noticed it" : undefined;
  } finally {
    writeFileSync(path, source);
  }
}

/**
 * Several changes share tests; they run once without any change.
 *
 * @param {string[]} tests
 * @param {string | undefined} title
 */
function passesUnchanged(tests, title) {
  const key = JSON.stringify([tests, title]);
  if (!unchanged.has(key)) unchanged.set(key, passes(tests, title));
  return unchanged.get(key);
}

/**
 * @param {string[]} tests
 * @param {string | undefined} title
 */
function passes(tests, title) {
  const { status } = spawnSync(
    process.execPath,
    [
      join(copy, "node_modules", "vitest", "vitest.mjs"),
      ...["run", "--bail", "1", "--testTimeout", "60000", "--reporter", "dot"],
      ...(title === undefined ? [] : ["--testNamePattern", title]),
      ...tests,
    ],
    { cwd: copy, timeout: LONGEST_MS, killSignal: "SIGKILL", stdio: "ignore" },
  );
  return status === 0;
}
