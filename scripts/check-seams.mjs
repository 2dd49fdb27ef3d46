// `npm run seams`: no source outside the outer folders reaches for time, chance, network or files.

import { ROOT } from "./set-up.mjs";
import { findReaches } from "./seams.mjs";

const { files, reaches } = findReaches(ROOT);
for (const { path, line, reached, instead } of reaches) {
  process.stdout.write(`${path}:${line} reaches for ${reached}. Take ${instead} as an argument.\n`);
}
process.stdout.write(`seams: ${files} files read, ${reaches.length} reaches\n`);
if (reaches.length > 0 || files === 0) process.exitCode = 1;
