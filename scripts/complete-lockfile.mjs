// `npm run lock:complete`: adds the binaries of other platforms to package-lock.json.
//
// A registry that mirrors one platform does not have them; npm then omits them, and `npm ci` refuses the lockfile
// everywhere: "Missing: … from lock file". Their names and exact versions are known from the packages that depend on
// them, and the name contains the platform. The hash of their content is unknown, so these entries have none.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./set-up.mjs";

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = ["arm64", "arm", "ia32", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

/**
 * @typedef {{ version?: string, cpu?: string[], dev?: boolean, libc?: string[], optional?: boolean, os?: string[],
 *   integrity?: string, hasInstallScript?: boolean, optionalDependencies?: Record<string, string> }} LockedPackage
 */

/**
 * The missing entries of a lockfile: optional dependencies of locked packages, by the path they would have.
 *
 * @param {Readonly<Record<string, LockedPackage>>} packages
 * @returns {Record<string, LockedPackage>}
 */
export function findMissing(packages) {
  /** @type {Record<string, LockedPackage>} */
  const missing = {};
  for (const [place, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const places = [`node_modules/${name}`, `${place}/node_modules/${name}`];
      if (places.some((candidate) => candidate in packages)) continue;
      missing[`node_modules/${name}`] = {
        version,
        ...platformOf(name),
        ...(entry.dev && { dev: true }),
        optional: true,
      };
    }
  }
  return missing;
}

/**
 * The platform of a package, from its name: `@scope/binding-linux-arm64-musl`.
 *
 * @param {string} name
 * @returns {Pick<LockedPackage, "cpu" | "libc" | "os">}
 */
function platformOf(name) {
  const words = (name.split("/").at(-1) ?? "").split("-");
  const os = SYSTEMS.filter((system) => words.includes(system));
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  if (cpu.length === 0) throw new Error(`${name}: the name does not say for which platform it is. Enter it by hand.`);
  const libc = words.some((word) => word.startsWith("musl")) ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return { cpu, ...(libc.length > 0 && { libc }), ...(os.length > 0 && { os }) };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const path = join(ROOT, "package-lock.json");
  const lock = JSON.parse(readFileSync(path, "utf8"));
  const missing = findMissing(lock.packages);
  const sorted = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => (a < b ? -1 : 1));
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  process.stdout.write(`package-lock.json: ${Object.keys(missing).length} entries added\n`);
}
