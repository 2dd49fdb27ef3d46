// `npm run fuzz -- [--runs 100000]`: tests every parser and encoder with many more inputs than `npm test` does (R1).

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, setUp } from "./set-up.mjs";

/** Everything that reads or writes external input: one file each, with properties that hold for any input. */
const FILES = [
  "src/wire/ndjson.test.ts",
  "src/wire/sse-decoder.test.ts",
  "src/wire/sse-encoder.test.ts",
  "src/wire/json.test.ts",
  "src/dialects/anthropic/decode.test.ts",
  "src/dialects/openai-chat/decode.test.ts",
  "src/dialects/gemini/decode.test.ts",
  "src/dialects/declarative/path.test.ts",
  "src/dialects/declarative/template.test.ts",
  "src/secrets/redactor.test.ts",
  "src/secrets/secret-mask.test.ts",
  "src/sinks/safe-text.test.ts",
  "test/tapes/corrupt.test.ts",
  "test/fuzz/parsers.test.ts",
];

const { values } = parseArgs({ options: { runs: { type: "string", default: "100000" } } });
if (!/^[1-9]\d{0,8}$/.test(values.runs)) {
  process.stderr.write(`fuzz: --runs is ${JSON.stringify(values.runs)}. Give a whole number above 0.\n`);
  process.exit(2);
}
setUp();
process.stdout.write(`R1: ${values.runs} inputs for each property of ${FILES.length} files\n`);
const { status } = spawnSync(
  process.execPath,
  [join(ROOT, "node_modules", "vitest", "vitest.mjs"), "run", "--testTimeout=1800000", ...FILES],
  { cwd: ROOT, stdio: "inherit", env: { ...process.env, MILLRACE_FUZZ_RUNS: values.runs } },
);
process.exitCode = status ?? 1;
