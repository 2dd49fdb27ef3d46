// `npm run seams`: no source outside the outer folders uses time, randomness, network or files directly, and none keeps
// changing state in a module or writes to a `readonly` field.

import { ROOT } from "./set-up.mjs";
import { findReaches } from "./seams.mjs";

const { files, reaches } = findReaches(ROOT);
for (const { path, line, reached, instead } of reaches) {
  process.stdout.write(`${path}:${line} uses ${reached}. Use ${instead} instead, as an argument.\n`);
}
process.stdout.write(`seams: ${files} files read, ${reaches.length} reaches\n`);
if (reaches.length > 0 || files === 0) process.exitCode = 1;
