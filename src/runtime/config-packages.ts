import { dirname, join } from "node:path";
import type { FileSystem } from "#domain";
import { PROGRAM_ENDING } from "./config-imports.ts";

/** The fields of a `package.json` that map names to files. */
interface PackageFile {
  readonly folder: string;
  readonly name?: unknown;
  readonly main?: unknown;
  readonly exports?: unknown;
  readonly imports?: unknown;
}

/**
 * The files that a package name may refer to under any condition: `zod`, `@scope/x/y`, `#inner`. `undefined` if there
 * is no such package: it is built into Node, or not installed.
 */
export async function packageFiles(
  name: string,
  importer: string,
  files: FileSystem,
): Promise<{ readonly folder: string; readonly paths: readonly string[] } | undefined> {
  const nearest = await nearestPackage(dirname(importer), files);
  if (name.startsWith("#")) {
    return nearest && { folder: nearest.folder, paths: targets(nearest.imports, name, nearest.folder) };
  }
  const [, packageName, subpath = ""] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(name) ?? [];
  if (packageName === undefined) return undefined;
  const isSelf = nearest?.name === packageName && nearest.exports !== undefined;
  const found = isSelf ? nearest : await installedPackage(packageName, dirname(importer), files);
  if (found === undefined) return undefined;
  const { folder } = found;
  if (found.exports !== undefined) return { folder, paths: targets(found.exports, `.${subpath}`, folder) };
  if (subpath !== "") return { folder, paths: [join(folder, subpath)] };
  const main = typeof found.main === "string" ? [join(folder, found.main)] : [];
  return { folder, paths: [...main, join(folder, "index")] };
}

/** A larger package is not searched. */
const MOST_PROGRAMS = 1_000;

/** All programs and data of the package that a file belongs to, without nested packages. */
export async function programsOfPackage(file: string, files: FileSystem): Promise<readonly string[]> {
  const nearest = await nearestPackage(dirname(file), files);
  const found: string[] = [];
  const waiting = nearest === undefined ? [] : [nearest.folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const name of await files.list(at)) {
      const path = join(at, name);
      if (PROGRAM_ENDING.test(name)) found.push(path);
      else if (name !== "node_modules" && !name.includes(".")) waiting.push(path);
      if (found.length + waiting.length > MOST_PROGRAMS) return [];
    }
  }
  return found;
}

async function nearestPackage(from: string, files: FileSystem): Promise<PackageFile | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = await readPackage(folder, files);
    if (found !== undefined || folder === dirname(folder)) return found;
  }
}

async function installedPackage(name: string, from: string, files: FileSystem): Promise<PackageFile | undefined> {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, "node_modules", name);
    if (await files.exists(folder).catch(() => false)) {
      return (await readPackage(folder, files)) ?? { folder };
    }
    if (at === dirname(at)) return undefined;
  }
}

async function readPackage(folder: string, files: FileSystem): Promise<PackageFile | undefined> {
  try {
    const read: unknown = JSON.parse(new TextDecoder().decode(await files.read(join(folder, "package.json"))));
    return typeof read === "object" && read !== null ? { ...read, folder } : { folder };
  } catch {
    return undefined;
  }
}

/** All paths that a field of a `package.json` gives for a key, under every condition. */
function targets(field: unknown, key: string, folder: string): readonly string[] {
  if (typeof field !== "object" || field === null || Array.isArray(field)) {
    return key === "." ? textsOf(field).map((path) => join(folder, path)) : [];
  }
  const keys = Object.keys(field);
  // Without subpaths, the whole field is about the package's own name.
  if (key.startsWith(".") && !keys.some((one) => one.startsWith("."))) {
    return key === "." ? textsOf(field).map((path) => join(folder, path)) : [];
  }
  const found: string[] = [];
  for (const [pattern, value] of Object.entries(field)) {
    const star = starOf(pattern, key);
    if (star === undefined) continue;
    // A function, because "$" is special in a replacement string.
    for (const path of textsOf(value))
      found.push(
        join(
          folder,
          path.replaceAll("*", () => star),
        ),
      );
  }
  return found;
}

/** The text matched by the star of a pattern; `""` when pattern and key are equal; `undefined` without a match. */
function starOf(pattern: string, key: string): string | undefined {
  if (pattern === key) return "";
  const at = pattern.indexOf("*");
  if (at === -1) return undefined;
  const [head, tail] = [pattern.slice(0, at), pattern.slice(at + 1)];
  const fits = key.startsWith(head) && key.endsWith(tail) && key.length >= head.length + tail.length;
  return fits ? key.slice(head.length, key.length - tail.length) : undefined;
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return value.startsWith("./") ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
