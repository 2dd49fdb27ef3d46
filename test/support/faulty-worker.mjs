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
 * @property {number} [dieAtCall] in the call of the database of this number, counted from when `counter` is not 0
 * @property {SharedArrayBuffer} [counter] 1 when calls are to be counted
 */

/** @param {{ file: string, data: { module: string | undefined }, fault: Fault }} wanted */
export async function start({ file, data, fault }) {
  if (fault.failCommit !== undefined) failAtCommit(data.module, fault.failCommit);
  if (fault.counter !== undefined) dieAtCall(data.module, new Int32Array(fault.counter), fault.dieAtCall ?? 1);
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

/**
 * Ends the thread as an abort would: nothing is rolled back or answered.
 *
 * @param {string | undefined} module
 * @param {Int32Array} counter
 * @param {number} number
 */
function dieAtCall(module, counter, number) {
  const require = createRequire(import.meta.url);
  const Database = module === undefined ? require("node:sqlite").DatabaseSync : require(module);
  const pass = () => {
    if (Atomics.load(counter, 0) > 0 && Atomics.add(counter, 0, 1) === number) process.exit(1);
  };
  const { exec, prepare } = Database.prototype;
  Database.prototype.exec = function (/** @type {string} */ sql) {
    pass();
    return exec.call(this, sql);
  };
  Database.prototype.prepare = function (/** @type {string} */ sql) {
    const statement = prepare.call(this, sql);
    return {
      run: (/** @type {unknown[]} */ ...values) => (pass(), statement.run(...values)),
      get: (/** @type {unknown[]} */ ...values) => (pass(), statement.get(...values)),
      all: (/** @type {unknown[]} */ ...values) => (pass(), statement.all(...values)),
    };
  };
}

function die() {
  throw new Error("This worker dies.");
}
