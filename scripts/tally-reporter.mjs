// A vitest reporter that counts. The count goes to a file, because the terminal belongs to the reporter for people.

import { writeFileSync } from "node:fs";

/**
 * @typedef {object} Tally
 * @property {number} passed
 * @property {number} failed files that could not be loaded and errors outside any test count as one each
 * @property {{ title: string, why: string }[]} skipped
 */

export default class TallyReporter {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly unknown[]} errors
   */
  onTestRunEnd(modules, errors) {
    /** @type {Tally} */
    const tally = { passed: 0, failed: errors.length, skipped: [] };
    for (const module of modules) {
      tally.failed += module.errors().length;
      for (const test of module.children.allTests()) count(test, tally);
    }
    const path = process.env["MILLRACE_TALLY"];
    if (path !== undefined) writeFileSync(path, JSON.stringify(tally));
  }
}

/**
 * @param {import("vitest/node").TestCase} test
 * @param {Tally} tally
 */
function count(test, tally) {
  const result = test.result();
  if (result.state === "passed") tally.passed += 1;
  else if (result.state === "failed") tally.failed += 1;
  else if (result.state === "skipped") tally.skipped.push({ title: test.fullName, why: result.note ?? "" });
  // A test that never came to an end did not pass.
  else tally.failed += 1;
}
