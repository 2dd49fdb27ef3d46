import { dirname, join, relative, resolve, sep } from "node:path";
import type { FileSystem } from "#domain";
import type { LookAtFile } from "#transports";

/** The file names of a project's configuration, in order of preference. */
export const CONFIG_FILES = ["millrace.config.ts", "millrace.config.js", "millrace.config.mjs", "millrace.config.json"];

export interface FindSeams {
  readonly files: FileSystem;
  readonly look: LookAtFile;
}

/** A configuration found in a project. */
export interface FoundConfig {
  /** Its real path. */
  readonly file: string;
  /** Why it is never used, even if trusted; absent when it may be used. */
  readonly refusal?: string;
}

/**
 * The configurations of the nearest folder that has any, from the working folder up to the root of the repository (the
 * folder with `.git`). Outside a repository only the working folder counts: files further up may belong to someone
 * else.
 */
export async function findConfigs(cwd: string, seams: FindSeams): Promise<readonly FoundConfig[]> {
  const { folders, root } = await projectFolders(cwd, seams.files);
  for (const folder of folders) {
    const found: FoundConfig[] = [];
    for (const name of CONFIG_FILES) {
      const path = join(folder, name);
      if (await isThere(path, seams.files)) found.push(await inspect(path, root, seams));
    }
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * The folders of a project, from the working folder up to its root. Outside a repository both are the working folder.
 */
export async function projectFolders(
  cwd: string,
  files: FileSystem,
): Promise<{ readonly folders: readonly string[]; readonly root: string }> {
  const folders: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    folders.push(folder);
    if (await isThere(join(folder, ".git"), files)) return { folders, root: folder };
    if (folder === dirname(folder)) break;
  }
  return { folders: folders.slice(0, 1), root: resolve(cwd) };
}

/** A path that may not be read counts as absent. */
async function isThere(path: string, files: FileSystem): Promise<boolean> {
  return await files.exists(path).catch(() => false);
}

async function inspect(path: string, root: string, { look }: FindSeams): Promise<FoundConfig> {
  const [file, folder, top] = [await look(path), await look(dirname(path)), await look(root)];
  if (file === undefined || folder === undefined || top === undefined) {
    return { file: path, refusal: "it cannot be read" };
  }
  if (!isInside(file.realPath, top.realPath)) return { file: path, refusal: `it leads out of ${root}` };
  if (!file.isOwn) return { file: path, refusal: "it belongs to another user" };
  if (!folder.isOwn) return { file: path, refusal: "its folder belongs to another user" };
  return { file: file.realPath };
}

/** Whether a path is a folder or something inside it. Both paths must be free of links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path;
}
