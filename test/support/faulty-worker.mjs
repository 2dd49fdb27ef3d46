// A worker that fails as a test of the SQLite store wants it to; otherwise it does what the real one does.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * @typedef {object} Fault
 * @property {number} [dieAfterMs]
 * @property {"before" | "after"} [dieAt] with the first question in hand, before or after it was carried out
 * @property {number} [dieAfterCommit] when the commit of this number was carried out and not answered yet
 * @property {number} [failCommit] the commit of this number fails in SQLite
 * @property {number} [refuseCommit] the commit of this number is answered with a failure
 */

/** @param {{ file: string, data: { module: string | undefined }, fault: Fault }} wanted */
export async function start({ file, data, fault }) {
  if (fault.failCommit !== undefined) failAtCommit(data.module, fault.failCommit);
  if (fault.dieAfterMs !== undefined) setTimeout(die, fault.dieAfterMs);
  const program = await (await import(pathToFileURL(file).href)).start(data);
  let commits = 0;
  return {
    close: () => program.close(),
    /** @param {{ kind: string }} question */
    answer(question) {
      if (fault.dieAt === "before") die();
      const commit = question.kind === "commit" ? (commits += 1) : 0;
      if (commit === fault.refuseCommit) return { failure: "disk full", isBusy: false };
      const answer = program.answer(question);
      if (fault.dieAt === "after" || commit === fault.dieAfterCommit) die();
      return answer;
    },
  };
}

/**
 * @param {string | undefined} module
 * @param {number} number
 */
function failAtCommit(module, number) {
  const require = createRequire(import.meta.url);
  const Database = module === undefined ? require("node:sqlite").DatabaseSync : require(module);
  const exec = Database.prototype.exec;
  let commits = 0;
  Database.prototype.exec = function (/** @type {string} */ sql) {
    if (sql === "COMMIT" && ++commits === number) throw new Error("disk full");
    return exec.call(this, sql);
  };
}

function die() {
  throw new Error("This worker dies.");
}
