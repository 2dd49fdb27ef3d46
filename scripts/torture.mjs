// `npm run torture -- [--scenario "a handoff"] [--seam fetch] [--call 2]`: makes every call of every seam fail once
// (R11), in all scenarios or in one; the tests try some of them.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, setUp } from "./set-up.mjs";

const { values } = parseArgs({
  options: { scenario: { type: "string" }, seam: { type: "string" }, call: { type: "string" } },
});
if (values.call !== undefined && !/^[1-9]\d{0,5}$/.test(values.call)) {
  process.stderr.write(`torture: --call is ${JSON.stringify(values.call)}. Give a whole number above 0.\n`);
  process.exit(2);
}
setUp();
const { status } = spawnSync(
  process.execPath,
  [join(ROOT, "node_modules", "vitest", "vitest.mjs"), "run", "test/torture"],
  {
    cwd: ROOT,
    stdio: "inherit",
    env: {
      ...process.env,
      MILLRACE_TORTURE: "all",
      ...(values.scenario !== undefined && { MILLRACE_TORTURE_SCENARIO: values.scenario }),
      ...(values.seam !== undefined && { MILLRACE_TORTURE_SEAM: values.seam }),
      ...(values.call !== undefined && { MILLRACE_TORTURE_CALL: values.call }),
    },
  },
);
process.exitCode = status ?? 1;
