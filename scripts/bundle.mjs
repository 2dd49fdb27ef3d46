// Second half of the build: the sources as three files for the root and one per folder. Node opens and links every module
// on its own, at more than half a millisecond each, and the package has hundreds; docs/decisions/0012-one-file-per-folder.md.

import { existsSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { rolldown } from "rolldown";

const [root = process.cwd()] = process.argv.slice(2);
const source = join(root, "src");

/** Every door, the public root, and the public entries of single backends, under the names they have in dist. */
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
    "runtime/stores/memory",
    "runtime/stores/sqlite",
    ...doors,
  ];
  const files = names.map((name) => [name, join(source, `${name}.ts`)]);
  return Object.fromEntries(files.filter(([, file]) => existsSync(String(file))));
}

/**
 * The top folder a module of ours is in.
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
  // What is not ours stays a package of its own.
  external: (id) => !id.startsWith(".") && !id.startsWith("#") && !id.startsWith("/"),
  // Folders import each other's files through what their doors hand on; what a user sees of an entry is pinned.
  preserveEntrySignatures: "allow-extension",
  resolve: { conditionNames: ["millrace-source", "import", "node", "default"] },
  treeshake: { moduleSideEffects: false },
  logLevel: "warn",
};

/** The modules of which the public root needs something to be loaded. */
async function findCore() {
  const index = join(source, "index.ts");
  if (!existsSync(index)) return new Set();
  const bundle = await rolldown({ ...options, input: index });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  // What the root shares with something that is imported later stands in a file of its own.
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
 * Code in which every line has stayed where it was, so that the source map still holds.
 *
 * @param {string} code
 */
const keepLines = (code) => ({ code, map: null });

/**
 * Takes Node's own modules as they are, instead of importing them: an import reads every property of the module, and some
 * of `fs` load half of Node's streams when they are read.
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
 * Writes the code in ASCII: one other character makes Node keep a whole file at two bytes per character, which costs a
 * twentieth of the time of the import. Outside of comments, which are left out, they stand in texts and patterns only.
 *
 * @type {import("rolldown").Plugin}
 */
const writeAscii = {
  name: "write-ascii",
  renderChunk: (code) =>
    keepLines(code.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)),
};

/** Of what the root needs, what others need without the rest: views and sinks the first, dialects both. */
const SHARED = new Map([
  ["domain", "base"],
  ["streams", "base"],
  ["wire", "base"],
  ["dialects", "base-dialects"],
]);

/**
 * The file a module goes to: what the root needs stands in three, everything else in that of its folder.
 *
 * @param {string} id
 */
function fileOf(id) {
  const folder = folderOf(id);
  if (folder === null) return null;
  // Read as a whole, and only by runs that have something to price.
  if (id.endsWith("price-table.ts")) return "price-table";
  return core.has(id) ? (SHARED.get(folder) ?? "core") : folder;
}

const bundle = await rolldown({ ...options, input: findEntries(), plugins: [takeBuiltins, writeAscii] });
await bundle.write({
  dir: join(root, "dist"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "folders/[name].js",
  minify: false,
  // With the sources in them: a stack trace or a debugger shows the files of src, though the package has them in few files.
  sourcemap: true,
  // The types have them, and the engine has to read past them.
  comments: false,
  codeSplitting: { groups: [{ name: fileOf, debugName: "file" }], includeDependenciesRecursively: false },
});
await bundle.close();
