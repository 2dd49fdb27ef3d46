// Reads the imports of a tree and checks them against .dependency-cruiser.cjs.

import { readdirSync, readFileSync } from "node:fs";
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
 * @property {ReadonlyMap<string, string>} onlyImporters files of src that one other file imports, and that file
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
    onlyImporters: findOnlyImporters(output.modules),
  };
}

/**
 * Problems with the reading itself. A cruise that reads nothing finds no violation, and that must not count as a pass.
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

/**
 * A door does not count as an importer: what it exports is for other folders. Nor does a file that loads another one
 * when it is needed: the two cannot be one.
 *
 * @param {readonly import("dependency-cruiser").IModule[]} modules
 * @returns {ReadonlyMap<string, string>}
 */
function findOnlyImporters(modules) {
  /** @type {Map<string, Set<string>>} */
  const importers = new Map();
  for (const { source, dependencies } of modules) {
    if (source.endsWith(".test.ts")) continue;
    for (const { resolved, dynamic } of dependencies) {
      const cannotTakeIn = dynamic || source.endsWith("/index.ts") || folderOf(source) !== folderOf(resolved);
      importers.set(resolved, (importers.get(resolved) ?? new Set()).add(cannotTakeIn ? "" : source));
    }
  }
  const single = [...importers].filter(([path, by]) => by.size === 1 && !by.has("") && !path.endsWith("/index.ts"));
  return new Map(single.map(([path, by]) => [path, [...by].join("")]));
}

/** A file of fewer lines that one other file imports is a part of that file. */
const SHORT = 40;

/** Most files are shorter than `median` lines, and nearly all are shorter than `p95`. */
const LENGTHS = { median: 90, p95: 260 };

/**
 * Files that stand alone however short they are: one per command, and the one of a folder that has its name.
 *
 * @param {string} path
 */
const standsAlone = (path) => path.startsWith("src/cli/commands/") || /([^/]+)\/\1\.ts$/.test(path);

/**
 * Files that are too short to stand alone, and whether files have become too long.
 *
 * @param {string} root
 * @param {Cruise} result
 * @returns {string[]}
 */
export function findLengths(root, { onlyImporters }) {
  const lengths = new Map(
    listSources(root).map((path) => [path, readFileSync(join(root, path), "utf8").split("\n").length - 1]),
  );
  const short = [...onlyImporters].filter(([path]) => (lengths.get(path) ?? SHORT) < SHORT && !standsAlone(path));
  const sorted = [...lengths.values()].sort((a, b) => a - b);
  const long = Object.entries(LENGTHS).flatMap(([name, most]) => {
    const length = sorted[Math.floor(sorted.length * (name === "median" ? 0.5 : 0.95))] ?? 0;
    return length > most ? [`The ${name} of the lengths of all files is ${length} lines; ${most} are allowed.`] : [];
  });
  return [
    ...short.map(([path, by]) => `${path} has ${lengths.get(path)} lines, and only ${by} imports it. Move it there.`),
    ...long,
  ];
}

/** @param {string} path */
function folderOf(path) {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}
