import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describeReadFailure, type FileSystem, StartError } from "#domain";
import { isPath, namedImports } from "./config-imports.ts";
import { packageFiles, programsOfPackage } from "./config-packages.ts";

/** A configuration file in its current state, with everything that it would load. */
export interface ConfigReach {
  /** The content of the file itself. */
  readonly bytes: Uint8Array;
  /** What is recorded when it is trusted: its bytes and the digests of all files it imports. */
  readonly proof: Uint8Array;
  /** The digest of each file by its real path: the configuration itself and its imports. */
  readonly digests: ReadonlyMap<string, string>;
}

const MOST_FILES = 5_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** Ways to load a file that no import names, and that cannot be guarded on every version of Node. */
const UNREADABLE = /\bcreateRequire\b|["'`](?:node:)?(?:module|vm)["'`]/;

/** The folder of this package, which is trusted because it is already running. */
const OWN_FOLDER = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Reads a configuration and, if it is a module, the files it imports directly and indirectly: in the project, above it,
 * and in `node_modules`. Runs none of them.
 *
 * @throws StartError `invalid-config` when it cannot be determined what it would load.
 */
export async function readReach(file: string, files: FileSystem): Promise<ConfigReach> {
  const bytes = await readRequired(file, files);
  if (extname(file) === ".json") return { bytes, proof: bytes, digests: new Map() };
  const digests = new Map<string, string>([[file, sha256Of(bytes)]]);
  const waiting: (readonly [path: string, bytes: Uint8Array])[] = [[file, bytes]];
  let size = bytes.length;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [importer, content] = next;
    if (!/\.[mc]?[jt]s$/.test(importer)) continue;
    const text = new TextDecoder().decode(content);
    requireReadable(importer, text);
    for (const path of [...(await namedFiles(text, importer, files)), ...(await unnamedFiles(text, importer, files))]) {
      const found = await readIfFile(path, files);
      if (found === undefined || digests.has(found.path) || found.path.startsWith(OWN_FOLDER)) continue;
      size += found.bytes.length;
      if (digests.size >= MOST_FILES || size > MOST_BYTES) throw tooMuch(file);
      digests.set(found.path, sha256Of(found.bytes));
      waiting.push([found.path, found.bytes]);
    }
  }
  return { bytes, proof: proofOf(bytes, digests), digests };
}

function proofOf(bytes: Uint8Array, digests: ReadonlyMap<string, string>): Uint8Array {
  if (digests.size === 1) return bytes;
  const others = JSON.stringify([...digests].sort(([a], [b]) => (a < b ? -1 : 1)));
  const listed = new TextEncoder().encode(`\0${others}`);
  const proof = new Uint8Array(bytes.length + listed.length);
  proof.set(bytes);
  proof.set(listed, bytes.length);
  return proof;
}

function requireReadable(importer: string, text: string): void {
  if (isInPackage(importer)) return;
  const [how] = UNREADABLE.exec(text) ?? [];
  if (how === undefined) return;
  throw new StartError(
    "invalid-config",
    `${importer} uses ${how}, so it cannot be determined which files it loads. Use import instead.`,
  );
}

function tooMuch(file: string): StartError {
  return new StartError(
    "invalid-config",
    `${file} imports more than ${MOST_FILES} files or ${MOST_BYTES / 1024 / 1024} MiB, which is too much to remember. ` +
      "Let it import less.",
  );
}

/** Every path that a name in the text of a module may refer to. */
async function namedFiles(text: string, importer: string, files: FileSystem): Promise<readonly string[]> {
  const { imported, mentioned } = namedImports(text);
  const found: string[] = [];
  for (const name of [...imported, ...mentioned]) {
    if (isPath(name)) found.push(...variants(pathOf(name, importer)));
    else if (!isBuiltin(name)) {
      const known = await packageFiles(name, importer, files);
      for (const path of known?.paths ?? []) found.push(...variants(path));
    }
  }
  return found;
}

/**
 * All programs of a package that computes file names (`require("./locale/" + name)`) or loads an addon. Files outside
 * the package that it loads in such a way are refused when they are loaded, and so are the files of a package that is
 * too large.
 */
async function unnamedFiles(text: string, importer: string, files: FileSystem): Promise<readonly string[]> {
  if (!isInPackage(importer) || !UNNAMED.test(text)) return [];
  return await programsOfPackage(importer, files);
}

const UNNAMED =
  /\b(?:require|import)\s*\(\s*(?:[^"'`\s)]|`[^`]*\$\{|"[^"\n]*"\s*\+|'[^'\n]*'\s*\+)|\bcreateRequire\b|\.node["'`]/;

const isInPackage = (path: string): boolean => /[\\/]node_modules[\\/]/.test(path);

/** The variants of a path that `import` and `require` would try. */
function variants(path: string | undefined): readonly string[] {
  if (path === undefined) return [];
  const endings = ["", ".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".json", ".node"];
  return [...endings.map((ending) => `${path}${ending}`), ...endings.slice(1).map((end) => join(path, `index${end}`))];
}

function pathOf(name: string, importer: string): string | undefined {
  try {
    return fileURLToPath(new URL(name, pathToFileURL(importer)));
  } catch {
    return undefined;
  }
}

async function readIfFile(
  path: string,
  files: FileSystem,
): Promise<{ readonly path: string; readonly bytes: Uint8Array } | undefined> {
  try {
    const real = await files.realPath(path);
    return { path: real, bytes: await files.read(real) };
  } catch {
    // There is nothing, or a folder. A file that appears there later is refused when it is loaded.
    return undefined;
  }
}

async function readRequired(file: string, files: FileSystem): Promise<Uint8Array> {
  try {
    return await files.read(file);
  } catch (error) {
    const why = describeReadFailure(error);
    throw new StartError("invalid-config", `${file} cannot be read: ${why}. Check the path.`, { cause: error });
  }
}

function isBuiltin(name: string): boolean {
  return process.getBuiltinModule("node:module").isBuiltin(name);
}

/** Loaded here rather than at the top: most programs that import this package have no configuration. */
export function sha256Of(bytes: Uint8Array): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(bytes).digest("hex");
}
