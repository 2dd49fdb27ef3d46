// `npm run check:package`: checks the package as users would install it.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, ROOT } from "./set-up.mjs";

build(ROOT);
const folder = mkdtempSync(join(tmpdir(), "millrace-package-"));
try {
  // Without scripts, because the build was just done, and they would write into the output.
  run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder]);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack wrote no file.");
  const path = join(folder, tarball);
  run(process.execPath, [join(ROOT, "node_modules", "publint", "src", "cli.js"), "run", path, "--strict"]);
  const attw = join(ROOT, "node_modules", "@arethetypeswrong", "cli", "dist", "index.js");
  run(process.execPath, [attw, path, "--profile", "esm-only", "--no-emoji"]);
} catch (error) {
  process.stderr.write(`millrace: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")} failed.`);
}
