import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The entries of the package, with their sources.
 *
 * @param {string} root
 * @returns {Map<string, string>}
 */
export function readEntries(root) {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = new Map();
  for (const [path, target] of Object.entries(exports)) {
    if (typeof target === "string") continue; // package.json itself
    const source = target.types.replace("./dist/", "src/").replace(/\.d\.ts$/, ".ts");
    entries.set(join(name, path), join(root, source));
  }
  return entries;
}
