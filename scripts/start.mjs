// `npm start -- <arguments>`: runs the command line from a fresh clone. Sets up first, then runs the program in the
// same process, so that signals and the exit code belong to it.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, setUp } from "./set-up.mjs";

const SET_UP_IS_MISSING = 3;

try {
  setUp();
} catch (error) {
  process.stderr.write(`millrace: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(SET_UP_IS_MISSING);
}

const program = join(ROOT, "bin", "millrace.js");
process.argv[1] = program;
await import(pathToFileURL(program).href);
