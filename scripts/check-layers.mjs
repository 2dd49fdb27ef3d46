// `npm run layers`: checks the direction of imports, that docs/layers.md shows it, and the lengths of files.
// `npm run layers:draw`: writes docs/layers.md.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawLayers } from "./layer-drawing.mjs";
import { cruiseTree, findGaps, findLengths, listFolders } from "./layers.mjs";
import { ROOT } from "./set-up.mjs";

const result = await cruiseTree();
const drawing = drawLayers(result.edges, listFolders(ROOT));
const page = join(ROOT, "docs", "layers.md");

if (process.argv.includes("--draw")) {
  writeFileSync(page, drawing);
} else {
  const lines = [
    ...result.violations.map(({ rule, from, to }) => `${rule}: ${from} -> ${to}`),
    ...findGaps(ROOT, result),
    ...findLengths(ROOT, result),
    ...(readFileSync(page, "utf8") === drawing ? [] : ["docs/layers.md shows other imports: npm run layers:draw"]),
  ];
  for (const line of lines) process.stdout.write(`${line}\n`);
  process.stdout.write(`layers: ${result.modules.length} modules read, ${lines.length} faults\n`);
  if (lines.length > 0) process.exitCode = 1;
}
