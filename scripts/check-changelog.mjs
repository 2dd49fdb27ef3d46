// Run by `npm publish`: a published version must have a section in CHANGELOG.md.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./set-up.mjs";

/**
 * @param {string} changelog
 * @param {string} version
 * @returns {string | undefined} what is missing
 */
export function findMissingSection(changelog, version) {
  const found = changelog.split("\n").some((line) => {
    const [, name, date] = /^## \[([^\]]+)\] - (\d{4}-\d{2}-\d{2})$/.exec(line) ?? [];
    return name === version && date !== undefined;
  });
  if (found) return undefined;
  return `CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD". Rename Unreleased to it, and begin an empty one above.`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const missing = findMissingSection(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"), version);
  if (missing !== undefined) {
    process.stderr.write(`millrace: ${missing}\n`);
    process.exitCode = 1;
  }
}
