// Reads the imports of a tree and judges them by .dependency-cruiser.cjs.

import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cruise } from "dependency-cruiser";
import extractOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import extractTsConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { ROOT } from "./set-up.mjs";

const require = createRequire(import.meta.url);

/** @type {Readonly<Record<string, readonly string[]>>} */
export const MAY_IMPORT = require("./layer-table.cjs").MAY_IMPORT;

/**
 * @typedef {{ rule: string, from: string, to: string }} Violation
 * @typedef {object} Cruise
 * @property {Violation[]} violations
 * @property {string[]} modules the files of src that were read, tests included
 * @property {[string, string][]} edges imports between two folders of src, tests left out, each pair once
 */

/**
 * Cruises `<root>/src` under this repository's rules.
 *
 * @param {string} [root]
 * @returns {Promise<Cruise>}
 */
export async function cruiseTree(root = ROOT) {
  const { enhancedResolveOptions, ...options } = await extractOptions(join(ROOT, ".dependency-cruiser.cjs"));
  const { output } = await cruise(["src"], { ...options, baseDir: root }, enhancedResolveOptions, {
    tsConfig: extractTsConfig(join(root, "tsconfig.json")),
  });
  if (typeof output === "string") throw new Error("dependency-cruiser answered with text instead of a result.");
  return {
    violations: output.summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
    modules: output.modules.map(({ source }) => source).filter((source) => source.startsWith("src/")),
    edges: folderEdges(output.modules),
  };
}

/**
 * What is wrong with the reading itself. A cruise that reads nothing finds nothing, and that must not pass for green.
 *
 * @param {string} root
 * @param {Cruise} result
 * @returns {string[]}
 */
export function findGaps(root, { modules }) {
  const gaps = [];
  const read = new Set(modules);
  const unread = listSources(root).filter((path) => !read.has(path));
  if (unread.length > 0) gaps.push(`${unread.length} files of src were not read, for instance ${unread[0]}.`);
  if (modules.length === 0) gaps.push("No module was read at all.");
  for (const folder of listFolders(root)) {
    if (!Object.hasOwn(MAY_IMPORT, folder)) {
      gaps.push(`src/${folder} has no row in scripts/layer-table.cjs. Add one, with a decision record.`);
    }
  }
  return gaps;
}

/** @param {string} root */
export function listFolders(root) {
  return readdirSync(join(root, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && containsSources(join(root, "src", entry.name)))
    .map((entry) => entry.name);
}

/** @param {string} folder */
function containsSources(folder) {
  return readdirSync(folder, { recursive: true }).some((name) => String(name).endsWith(".ts"));
}

/** @param {string} root */
function listSources(root) {
  return readdirSync(join(root, "src"), { recursive: true })
    .map((name) => `src/${String(name).replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"));
}

/**
 * @param {readonly import("dependency-cruiser").IModule[]} modules
 * @returns {[string, string][]}
 */
function folderEdges(modules) {
  /** @type {Map<string, [string, string]>} */
  const edges = new Map();
  for (const { source, dependencies } of modules) {
    if (source.endsWith(".test.ts")) continue;
    const from = folderOf(source);
    for (const { resolved } of dependencies) {
      const to = folderOf(resolved);
      if (from !== undefined && to !== undefined && from !== to) edges.set(`${from} ${to}`, [from, to]);
    }
  }
  return [...edges.values()];
}

/** @param {string} path */
function folderOf(path) {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}
