// `npm run docs:api`: writes docs/api. With `--check` it writes nothing, and fails if the pages do not match the
// sources.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeReference } from "./api-reference.mjs";
import { ROOT } from "./set-up.mjs";

const PAGES = join(ROOT, "docs", "api");
const isCheck = process.argv.includes("--check");
const out = isCheck ? mkdtempSync(join(tmpdir(), "millrace-api-")) : PAGES;
try {
  const faults = await writeReference(ROOT, out);
  if (isCheck) faults.push(...compare(PAGES, out));
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
} finally {
  if (isCheck) rmSync(out, { recursive: true, force: true });
}

/**
 * @param {string} kept
 * @param {string} made
 * @returns {string[]}
 */
function compare(kept, made) {
  const before = readPages(kept);
  const after = readPages(made);
  const names = new Set([...before.keys(), ...after.keys()]);
  const stale = [...names].filter((name) => before.get(name) !== after.get(name));
  return stale.map((name) => `docs/api/${name} is not what the sources say. Run \`npm run docs:api\`.`);
}

/**
 * @param {string} folder
 * @returns {Map<string, string>}
 */
function readPages(folder) {
  const names = readdirSync(folder, { recursive: true }).map(String);
  return new Map(
    names
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}
