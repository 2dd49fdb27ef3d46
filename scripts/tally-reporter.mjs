// A vitest reporter that counts. The counts go to a file, because the terminal belongs to the reporter for people.

import { writeFileSync } from "node:fs";

/**
 * @typedef {object} CountedTest
 * @property {string} id the file and the title, the same in every run and in every project
 * @property {"passed" | "failed" | "skipped"} state
 * @property {string} why of a skipped one, or the first line of the error of a failed one
 *
 * @typedef {object} Tally
 * @property {CountedTest[]} tests
 * @property {string[]} errors the first lines of errors in files that could not be loaded, and outside any test
 */

export default class TallyReporter {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly unknown[]} errors
   */
  onTestRunEnd(modules, errors) {
    /** @type {Tally} */
    const tally = { tests: [], errors: errors.map(firstLine) };
    /** @type {Map<string, number>} */
    const times = new Map();
    for (const module of modules) {
      tally.errors.push(...module.errors().map((error) => `${module.relativeModuleId}: ${firstLine(error)}`));
      for (const test of module.children.allTests()) {
        const name = `${module.relativeModuleId} > ${test.fullName}`;
        const time = (times.get(name) ?? 0) + 1;
        times.set(name, time);
        // Two tests of a file may have the same title.
        const id = time === 1 ? name : `${name} (${time})`;
        const result = test.result();
        // A test that never finished did not pass.
        const state = result.state === "pending" ? "failed" : result.state;
        const why = result.state === "skipped" ? result.note : result.errors?.[0] && firstLine(result.errors[0]);
        tally.tests.push({ id, state, why: why ?? "" });
      }
    }
    const path = process.env["MILLRACE_TALLY"];
    if (path !== undefined) writeFileSync(path, JSON.stringify(tally));
  }
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function firstLine(error) {
  const { message = String(error) } = /** @type {{ message?: string }} */ (error ?? {});
  return message.split("\n", 1)[0]?.slice(0, 500) ?? "";
}
