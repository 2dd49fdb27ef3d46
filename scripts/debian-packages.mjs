// Programs that tests of the full set need and npm does not provide. As a program (run by .ci/run), it installs them if
// it is root on Debian; elsewhere the tests that need one are skipped with a reason.

import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * @typedef {object} DebianPackage
 * @property {string} package its name in apt-get
 * @property {string} binary the executable whose absence means that it is missing
 * @property {string} why which tests need it
 */

/** @type {readonly DebianPackage[]} */
export const DEBIAN_PACKAGES = [
  { package: "chromium", binary: "chromium", why: "the chat page is tested in a browser" },
  { package: "nginx-light", binary: "nginx", why: "event streams are tested behind a proxy (R17)" },
  // Its programs are not on the path; the client that comes with it is.
  { package: "postgresql", binary: "pg_ctlcluster", why: "the Postgres store is tested with a real server" },
  { package: "redis-server", binary: "redis-server", why: "the queue in Redis is tested with a real server" },
  { package: "haproxy", binary: "haproxy", why: "event streams are tested behind a proxy (R17)" },
];

/**
 * Installs missing packages, if possible. Never fails: returns those that are still missing, to be reported.
 *
 * @param {readonly DebianPackage[]} wanted
 * @param {{ has?: (binary: string) => boolean, isRoot?: boolean, run?: (command: string, args: string[]) => boolean }}
 * [world]
 * @returns {readonly DebianPackage[]} what is still missing
 */
export function installDebianPackages(wanted, world = {}) {
  const { has = isOnPath, isRoot = process.getuid?.() === 0, run = runQuietly } = world;
  const missing = wanted.filter((entry) => !has(entry.binary));
  if (missing.length === 0 || !isRoot || !has("apt-get")) return missing;

  const names = missing.map((entry) => entry.package);
  process.stderr.write(`millrace: Installing ${names.join(", ")} (apt-get) …\n`);
  const install = ["install", "-y", "--no-install-recommends", ...names];
  // The package lists of a fresh machine are empty or stale, and an update takes long, so it is done only if needed.
  if (!run("apt-get", install) && run("apt-get", ["update"])) run("apt-get", install);
  return missing.filter((entry) => !has(entry.binary));
}

/**
 * @param {readonly DebianPackage[]} wanted
 * @returns {readonly DebianPackage[]} what is not installed
 */
export function findMissing(wanted) {
  return wanted.filter((entry) => !isOnPath(entry.binary));
}

/** @param {string} binary */
function isOnPath(binary) {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, binary), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function runQuietly(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync(command, args, { stdio: ["ignore", "ignore", 2], env }).status === 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const missing of installDebianPackages(DEBIAN_PACKAGES)) {
    process.stdout.write(`${missing.binary} is missing (Debian package ${missing.package}): ${missing.why}\n`);
  }
}
