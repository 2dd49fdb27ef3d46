// `node scripts/add-up.mjs <record> …`: the combined counts of the test runs of .ci/run, as its last line. A record
// that is missing or unreadable means that the run broke off.

import { readFileSync } from "node:fs";
import { judge } from "./verdict.mjs";

const runs = process.argv.slice(2).map((path) => {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return { status: null, tally: undefined };
  }
});
const { lines, exitCode } = judge(runs, { ci: process.env["CI"] === "true" });
process.stdout.write(`${lines.join("\n")}\n`);
process.exitCode = exitCode;
