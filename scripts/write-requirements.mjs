// `npm run requirements:write`: writes docs/requirements.md and reports ids that no test names.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findUnproven, readRequirements, writePage } from "./requirements.mjs";
import { ROOT } from "./set-up.mjs";

const rows = readRequirements(ROOT);
writeFileSync(join(ROOT, "docs/requirements.md"), writePage(rows));
const unproven = findUnproven(rows);
process.stdout.write(
  `${rows.length} requirements, ${unproven.length} without a test: ${unproven.join(", ") || "none"}\n`,
);
