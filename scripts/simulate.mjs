// `npm run simulate -- [--cluster] [--seeds 20000] [--first 1] [--seed 12345]`: the deterministic simulation (R3) with more
// seeds than `npm test` runs, or one seed again. With --cluster that of many nodes (10000 seeds).

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, setUp } from "./set-up.mjs";

const {
  values: { cluster = false, ...values },
} = parseArgs({
  options: {
    cluster: { type: "boolean" },
    seeds: { type: "string" },
    first: { type: "string", default: "1" },
    seed: { type: "string" },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (/^\d{1,9}$/.test(value)) continue;
  process.stderr.write(`simulate: --${name} is ${JSON.stringify(value)}. Give a whole number.\n`);
  process.exit(2);
}
setUp();
const file = cluster ? "cluster" : "simulation";
const { status } = spawnSync(
  process.execPath,
  [join(ROOT, "node_modules", "vitest", "vitest.mjs"), "run", `test/simulation/${file}.test.ts`],
  {
    cwd: ROOT,
    stdio: "inherit",
    env: {
      ...process.env,
      MILLRACE_SIMULATION_SEEDS: values.seeds ?? (cluster ? "10000" : "20000"),
      MILLRACE_SIMULATION_FIRST: values.first,
      ...(values.seed !== undefined && { MILLRACE_SIMULATION_SEED: values.seed }),
    },
  },
);
process.exitCode = status ?? 1;
