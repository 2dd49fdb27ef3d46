import { dirname, isAbsolute, join, resolve } from "node:path";
import { type FileSystem, StartError } from "#domain";
import { exists, readText, requireMissing } from "./git-files.ts";

/** A repository: its git folder, and the top of its working tree. */
export interface GitPlace {
  readonly gitFolder: string;
  readonly top: string;
}

/**
 * Every repository that git may use in a folder, the nearest first: git skips a `.git` folder that it considers broken
 * and goes on with the folder above.
 */
export async function findGitPlaces(folder: string, files: FileSystem): Promise<readonly GitPlace[]> {
  const places: GitPlace[] = [];
  // What is above the folder is above the place where its links lead.
  for (let at = await realPlace(resolve(folder), files); ; at = dirname(at)) {
    const link = join(at, ".git");
    if (await exists(link, files)) {
      // In a worktree (`git worktree`) or a submodule, `.git` is a file with the path of the folder.
      const text = await readText(link, files);
      places.push({ gitFolder: await realPlace(text === undefined ? link : linkedFolder(text, link), files), top: at });
      // Git uses such a file or gives up.
      if (text !== undefined) return places;
    }
    const isBare = (await exists(join(at, "HEAD"), files)) && (await exists(join(at, "objects"), files));
    if (isBare) places.push({ gitFolder: at, top: at });
    if (at === dirname(at)) return places;
  }
}

/** The path without links, so that a `..` after it leads where it leads git. */
export async function realPlace(path: string, files: FileSystem): Promise<string> {
  try {
    return await files.realPath(path);
  } catch (error) {
    // Otherwise nothing is there, for git neither.
    requireMissing(path, error);
    return path;
  }
}

function linkedFolder(text: string, link: string): string {
  if (!text.startsWith("gitdir: ")) return link;
  return pathIn(withoutLineEnd(text.slice("gitdir: ".length)), link);
}

/** A path in a file of git's. Its `..` is left to the system, which follows links first. */
export function pathIn(path: string, file: string): string {
  requirePlain(path, file);
  return isAbsolute(path) ? path : `${dirname(file)}/${path}`;
}

/** Git removes only the ends of lines: blanks are part of the path. */
export function withoutLineEnd(text: string): string {
  return text.replace(/[\r\n]+$/, "");
}

/** @throws StartError if the path cannot be looked up: it contains a control character, or bytes that are not UTF-8. */
function requirePlain(path: string, file: string): void {
  // eslint-disable-next-line no-control-regex
  if (!/[\0-\x1f\x7f\ufffd]/.test(path)) return;
  throw notPlain(`${file} names the path ${JSON.stringify(path)}, which cannot be looked up`);
}

/** The error for something in a repository that only git could find or override. */
export function notPlain(why: string): StartError {
  return new StartError(
    "invalid-config",
    `${why}, so the commands in the git configuration cannot be switched off. ` +
      "Write it in plain characters, or set claudeCode.repositoryGit to true if you trust this repository.",
  );
}
