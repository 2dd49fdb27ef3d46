// Prepares a fresh clone so that its commands work: installs packages and builds the sources. Plain JavaScript without
// dependencies, because it runs before there are any.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

const OLDEST_NODE = [20, 19];

/**
 * Installs and builds what is missing or out of date; silent and fast if nothing is. Throws an error with a readable
 * message.
 *
 * @param {string} [root]
 */
export function setUp(root = ROOT) {
  checkNode(process.versions.node);
  install(root);
  build(root);
}

/** @param {string} version */
export function checkNode(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Error(`Node ${version} is too old. Install Node ${OLDEST_NODE.join(".")} or newer.`);
}

/**
 * Runs `npm ci` if node_modules is missing or does not match the lockfile.
 *
 * @param {string} root
 */
export function install(root) {
  if (isInstalled(root)) return;
  say("Installing packages (npm ci) …");
  const npm = process.env["npm_execpath"];
  const [command, first] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
  // stdout belongs to the program that runs next, so npm's own output goes to stderr. Without "include" a machine with
  // NODE_ENV=production would get no compiler.
  const flags = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, error } = spawnSync(command, [...first, ...flags], { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0)
    throw new Error(`npm ci failed${error ? `: ${error.message}` : ""}. Is the package registry reachable?`);
}

/**
 * Whether node_modules matches the lockfile. Times alone are not enough: a copied or freshly checked-out tree has a
 * newer lockfile and a complete node_modules, and must work without a network.
 *
 * @param {string} root
 */
export function isInstalled(root) {
  const wanted = join(root, "package-lock.json");
  const present = join(root, "node_modules", ".package-lock.json"); // npm writes it last, when everything is in place
  if (!existsSync(present)) return false;
  if (statSync(present).mtimeMs >= statSync(wanted).mtimeMs) return true;
  if (!holdsAll(readPackages(wanted), readPackages(present))) return false;
  utimesSync(present, new Date(), new Date());
  return true;
}

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean }} LockedPackage
 * @param {string} path
 * @returns {Map<string, LockedPackage>}
 */
function readPackages(path) {
  const lock = JSON.parse(readFileSync(path, "utf8"));
  return new Map(Object.entries(lock.packages).filter(([place]) => place !== ""));
}

/**
 * @param {Map<string, LockedPackage>} wanted
 * @param {Map<string, LockedPackage>} present
 */
function holdsAll(wanted, present) {
  for (const [place, entry] of wanted) {
    const found = present.get(place);
    // Binaries for other platforms are in the lockfile but not on the disk.
    if (found === undefined ? !entry.optional : found.version !== entry.version) return false;
  }
  return [...present.keys()].every((place) => wanted.has(place));
}

/**
 * Compiles `src` into `dist` if a source was added, changed or removed since the last build.
 *
 * @param {string} root
 * @returns {boolean} whether there was anything to do
 */
export function build(root) {
  const isChanged = buildSources(root);
  return buildPage(root) || isChanged;
}

/** @param {string} root */
function buildSources(root) {
  const dist = join(root, "dist");
  const stampPath = join(dist, ".built.json");
  const sources = fingerprintSources(root);
  const stamp = readStamp(stampPath);
  if (stamp !== undefined && stamp.hash === sources.hash) return false;

  // A removed source leaves its output behind, and so does an interrupted build.
  if (stamp === undefined || stamp.paths.some((path) => !sources.paths.includes(path))) {
    rmSync(dist, { recursive: true, force: true });
  }
  say("Building …");
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  // The compiler checks the types and writes the declarations; the bundler writes the code, one file per folder.
  const steps = [
    [compiler, "-p", "tsconfig.build.json"],
    [join(root, "scripts", "bundle.mjs"), root],
  ];
  for (const step of steps) {
    const { status } = spawnSync(process.execPath, step, { cwd: root, stdio: ["ignore", 2, 2] });
    if (status !== 0) throw new Error("The sources do not compile; see above.");
  }
  writeFileSync(stampPath, JSON.stringify(sources));
  return true;
}

/**
 * Builds the chat page into `dist/web` if something in `web` changed. It has a separate stamp, so that a change to the
 * page does not rebuild the rest, nor the reverse.
 *
 * @param {string} root
 */
function buildPage(root) {
  const folder = join(root, "web");
  if (!existsSync(folder)) return false;
  const stampPath = join(root, "dist", ".page.json");
  const page = fingerprint(root, [
    join(root, "package-lock.json"),
    join(root, "scripts", "build-web.mjs"),
    ...listFiles(folder, (name) => !name.endsWith(".test.ts")),
  ]);
  if (readStamp(stampPath)?.hash === page.hash) return false;
  say("Building the chat page …");
  const step = [join(root, "scripts", "build-web.mjs"), root];
  const { status } = spawnSync(process.execPath, step, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error("The chat page cannot be built; see above.");
  writeFileSync(stampPath, JSON.stringify(page));
  return true;
}

/**
 * @param {string} path
 * @returns {{ hash: string, paths: string[] } | undefined}
 */
function readStamp(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {string} root */
function fingerprintSources(root) {
  const files = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json", "scripts/bundle.mjs"].map(
    (name) => join(root, name),
  );
  const isSource = (/** @type {string} */ name) => name.endsWith(".ts") && !name.endsWith(".test.ts");
  return fingerprint(root, [...files, ...listFiles(join(root, "src"), isSource)]);
}

/**
 * @param {string} folder
 * @param {(name: string) => boolean} isWanted
 */
function listFiles(folder, isWanted) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isWanted(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * @param {string} root
 * @param {string[]} files
 */
function fingerprint(root, files) {
  const paths = files.map((file) => relative(root, file)).sort();
  const hash = createHash("sha256");
  for (const path of paths) {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return { hash: hash.digest("hex"), paths };
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`millrace: ${line}\n`);
}
