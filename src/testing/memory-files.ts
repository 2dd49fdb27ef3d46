import { posix } from "node:path";
import type { FileSystem } from "#domain";

/**
 * Files in memory that behave like real ones; every call creates a new, empty file system.
 *
 * @example
 * const sink = createLogSink({ path: "/log.jsonl", files: createMemoryFiles() })
 */
export function createMemoryFiles(): FileSystem {
  const files = new Map<string, Uint8Array>();

  const isFolder = (path: string): boolean => {
    const prefix = path.endsWith("/") ? path : `${path}/`;
    return path === "/" || [...files.keys()].some((name) => name.startsWith(prefix));
  };

  return {
    async read(path) {
      const bytes = files.get(clean(path));
      if (bytes === undefined) throw failure(isFolder(clean(path)) ? "EISDIR" : "ENOENT", path);
      return bytes.slice();
    },
    async write(path, bytes) {
      files.set(writable(path), bytes.slice());
    },
    async append(path, bytes) {
      const name = writable(path);
      const before = files.get(name) ?? new Uint8Array();
      const joined = new Uint8Array(before.length + bytes.length);
      joined.set(before);
      joined.set(bytes, before.length);
      files.set(name, joined);
    },
    async makePrivate(path) {
      clean(path);
    },
    async exists(path) {
      return files.has(clean(path)) || isFolder(clean(path));
    },
    async remove(path) {
      if (!files.delete(clean(path)) && isFolder(clean(path))) throw failure("ERR_FS_EISDIR", path);
    },
    async list(path) {
      const name = clean(path);
      const prefix = name === "/" ? name : `${name}/`;
      const inside = [...files.keys()].filter((file) => file.startsWith(prefix));
      return [...new Set(inside.map((file) => file.slice(prefix.length).split("/", 1)[0] as string))].sort();
    },
    async realPath(path) {
      return place(path);
    },
  };

  function place(path: string): string {
    const name = clean(path);
    if (!files.has(name) && !isFolder(name)) throw failure("ENOENT", path);
    return name;
  }

  function writable(path: string): string {
    const name = clean(path);
    if (isFolder(name)) throw failure("EISDIR", path);
    // A file cannot also be a folder.
    for (let above = posix.dirname(name); above !== "/"; above = posix.dirname(above)) {
      if (files.has(above)) throw failure("ENOTDIR", path);
    }
    return name;
  }
}

function clean(path: string): string {
  if (!posix.isAbsolute(path)) throw new TypeError(`The path ${JSON.stringify(path)} must be absolute.`);
  const name = posix.normalize(path);
  return name.length > 1 && name.endsWith("/") ? name.slice(0, -1) : name;
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
