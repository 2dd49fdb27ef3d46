// `npm run layers`: the direction of imports. `npm run layers:draw`: writes docs/layers.md.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawLayers } from "./layer-drawing.mjs";
import { cruiseTree, findGaps, listFolders } from "./layers.mjs";
import { ROOT } from "./set-up.mjs";

const result = await cruiseTree();

if (process.argv.includes("--draw")) {
  writeFileSync(join(ROOT, "docs", "layers.md"), drawLayers(result.edges, listFolders(ROOT)));
} else {
  const lines = [
    ...result.violations.map(({ rule, from, to }) => `${rule}: ${from} -> ${to}`),
    ...findGaps(ROOT, result),
  ];
  for (const line of lines) process.stdout.write(`${line}\n`);
  process.stdout.write(`layers: ${result.modules.length} modules read, ${lines.length} faults\n`);
  if (lines.length > 0) process.exitCode = 1;
}
