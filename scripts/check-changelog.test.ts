import { expect, it } from "vitest";
import { findMissingSection } from "./check-changelog.mjs";

it.each([
  ["## [Unreleased]\n\n## [1.2.0] - 2026-11-17\n", undefined],
  ["## [Unreleased]\n\n- 1.2.0 comes\n", /no section "## \[1\.2\.0\]/],
  ["## [1.2.0]\n", /YYYY-MM-DD/],
  ["## [1.2.0-beta.1] - 2026-11-17\n", /no section/],
])("F: a version that is published has its section with a date: %j", (changelog, complaint) => {
  const missing = findMissingSection(changelog, "1.2.0");
  if (complaint === undefined) expect(missing).toBeUndefined();
  else expect(missing).toMatch(complaint);
});
