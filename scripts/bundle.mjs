// Second part of the build: bundles the sources into three files for the root and one per folder. Node opens and links
// every module separately, at more than half a millisecond each, and the package has hundreds;
// docs/decisions/0012-one-file-per-folder.md.

import { existsSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { rolldown } from "rolldown";

const [root = process.cwd()] = process.argv.slice(2);
const source = join(root, "src");

/** Every door, the public root, and the public entries of single backends, by their names in dist. */
function findEntries() {
  const folders = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const doors = folders.map((folder) => `${folder.name}/index`);
  const names = [
    "index",
    "cli/main",
    "runtime/anthropic",
    "runtime/openai",
    "runtime/google",
    "runtime/claude-code",
    "runtime/durable",
    "runtime/queues/bullmq",
    "runtime/queues/in-process",
    "runtime/queues/pg-boss",
    "runtime/stores/memory",
    "runtime/stores/postgres",
    "runtime/stores/sqlite",
    "sessions/stores/sqlite/worker/index",
    "transports/worker-thread/index",
    ...doors,
  ];
  const files = names.map((name) => [name, join(source, `${name}.ts`)]);
  return Object.fromEntries(files.filter(([, file]) => existsSync(String(file))));
}

/**
 * The top folder of one of our modules.
 *
 * @param {string} id
 */
function folderOf(id) {
  const [folder, ...rest] = relative(source, id).split(sep);
  return folder === ".." || rest.length === 0 ? null : (folder ?? null);
}

/** @type {import("rolldown").InputOptions} */
const options = {
  cwd: root,
  platform: "node",
  // Other packages are not bundled.
  external: (id) => !id.startsWith(".") && !id.startsWith("#") && !id.startsWith("/"),
  // Folders import each other's files through their doors; the public exports of an entry are pinned by a test.
  preserveEntrySignatures: "allow-extension",
  resolve: { conditionNames: ["millrace-source", "import", "node", "default"] },
  treeshake: { moduleSideEffects: false },
  logLevel: "warn",
};

/** The modules that must be loaded for the public root. */
async function findCore() {
  const index = join(source, "index.ts");
  if (!existsSync(index)) return new Set();
  const bundle = await rolldown({ ...options, input: index });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  // What the root shares with something that is imported later is in a separate file.
  const chunks = output.filter((file) => file.type === "chunk");
  /** @type {Set<(typeof chunks)[number]>} */
  const loaded = new Set(chunks.slice(0, 1));
  for (const { imports } of loaded) {
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) loaded.add(chunk);
  }
  return new Set(
    [...loaded].flatMap(({ modules }) =>
      Object.entries(modules).flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? id : [])),
    ),
  );
}

const core = await findCore();

/**
 * Returns code whose lines have not moved, so that the source map stays valid.
 *
 * @param {string} code
 */
const keepLines = (code) => ({ code, map: null });

/**
 * Replaces imports of Node's own modules by `process.getBuiltinModule`: an import reads every property of the module,
 * and reading some properties of `fs` loads half of Node's streams.
 *
 * @type {import("rolldown").Plugin}
 */
const takeBuiltins = {
  name: "take-builtins",
  renderChunk: (code) =>
    keepLines(
      code.replaceAll(
        /^import \{([^}]*)\} from "(node:[^"]+)";$/gm,
        (_, names, id) => `const {${names.replaceAll(" as ", ": ")}} = process.getBuiltinModule("${id}");`,
      ),
    ),
};

/**
 * Writes the code in ASCII: a single other character makes Node store a whole file with two bytes per character, which
 * costs 5 % of the import time. Comments are removed, so other characters occur only in strings and regular
 * expressions.
 *
 * @type {import("rolldown").Plugin}
 */
const writeAscii = {
  name: "write-ascii",
  renderChunk: (code) =>
    keepLines(code.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)),
};

/** The parts of the root that other entries need without the rest: views and sinks need the first, dialects both. */
const SHARED = new Map([
  ["domain", "base"],
  ["streams", "base"],
  ["wire", "base"],
  ["dialects", "base-dialects"],
]);

/**
 * The output file of a module: three files for what the root needs, otherwise one per folder.
 *
 * @param {string} id
 */
function fileOf(id) {
  const folder = folderOf(id);
  if (folder === null) return null;
  // Read as a whole, and only by runs with a price.
  if (id.endsWith("price-table.ts")) return "price-table";
  // Workers load only these.
  if (/[\\/]worker-thread[\\/]/.test(id)) return "worker-thread";
  if (/[\\/]sqlite[\\/](worker[\\/]|statements\.ts)/.test(id)) return "sqlite-worker";
  return core.has(id) ? (SHARED.get(folder) ?? "core") : folder;
}

const bundle = await rolldown({ ...options, input: findEntries(), plugins: [takeBuiltins, writeAscii] });
await bundle.write({
  dir: join(root, "dist"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "folders/[name].js",
  minify: false,
  // With embedded sources, so that stack traces and debuggers show the files of src.
  sourcemap: true,
  // The type declarations have them, and V8 would have to skip them.
  comments: false,
  codeSplitting: { groups: [{ name: fileOf, debugName: "file" }], includeDependenciesRecursively: false },
});
await bundle.close();
