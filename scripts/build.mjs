// `npm run build`: compiles src into dist if something changed.

import { build, ROOT } from "./set-up.mjs";

try {
  build(ROOT);
} catch (error) {
  process.stderr.write(`millrace: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
