import type { FileSystem } from "#domain";
import { dependsOnLooker } from "./path-names.ts";
import { pathForms, straightPath } from "./path-match.ts";

/** What a policy sees of the disk: where paths lead, and what they are relative to. */
export interface PathLookup extends Pick<FileSystem, "realPath" | "list"> {
  /** The working folder of the run, which relative rules and paths start from. */
  readonly cwd: string;
  /** What `~` stands for. */
  readonly home: string | undefined;
  /** Names that differ in case only are the same file, as on macOS and Windows. */
  readonly ignoresCase: boolean;
}

/** A path of a call, as far as it can be seen. */
export interface SeenPath {
  /** Every way of writing where it leads, its folders included: any of them is enough for a rule that denies or asks. */
  readonly forms: readonly string[];
  /** The places it leads to, whether or not `..` is taken before links are followed. Folders of these are not included. */
  readonly places: readonly string[];
  /** Where it really leads; all of it has to be covered by a rule that allows. `undefined`: nobody can tell. */
  readonly real: readonly string[] | undefined;
}

/** Longer paths are not looked up. */
const LONGEST_PATH = 4_096;

/** Looks where a path leads. `bases`: what it may be relative to. Never rejects. */
export async function seePath(text: string, sight: PathLookup, bases: readonly string[]): Promise<SeenPath> {
  // A tool may take the blanks around a path for a part of it.
  const written = [...new Set([text, text.trim()])].map((one) => expandPath(one, sight.home));
  const plain = written.filter((one) => one !== undefined).filter(isReadable);
  const isLost = plain.length < written.length;
  const joined = plain.flatMap((one) => (isAbsolutePath(one) ? [one] : bases.map((base) => `${base}/${one}`)));
  const straight = joined.map(straightPath);
  // A program may take `..` out of a path before it opens it, or leave that to the system, which follows links first.
  const found = await Promise.all([...new Set([...joined, ...straight])].map((path) => findReal(path, sight)));
  const known = found.filter((path) => path !== undefined);
  const places = [...new Set([...straight, ...known])];
  return {
    forms: [...new Set([...pathForms(text), ...places, ...places.flatMap(foldersAbove)])],
    places,
    real:
      isLost || known.length < found.length || [...joined, ...places].some(dependsOnLooker)
        ? undefined
        : [...new Set(known)],
  };
}

function isReadable(path: string): boolean {
  return path.length <= LONGEST_PATH && !path.includes("\0");
}

/**
 * Where a path really leads: of what is there by its links, of what is not there by those of its nearest folder.
 * `undefined` when that cannot be known.
 */
export async function findReal(
  path: string,
  sight: Pick<PathLookup, "realPath" | "list">,
): Promise<string | undefined> {
  let there = path;
  const missing: string[] = [];
  for (;;) {
    try {
      const real = await sight.realPath(there);
      return straightPath([slashed(real), ...missing].join("/"));
    } catch (error) {
      const code = (error as { readonly code?: unknown } | null)?.code;
      if (code !== "ENOENT" && code !== "ENOTDIR") return undefined;
    }
    const cut = there.replace(/\/+$/, "").lastIndexOf("/");
    if (cut === -1) return undefined;
    const name = there.slice(cut + 1).replace(/\/+$/, "");
    there = cut === 0 ? "/" : there.slice(0, cut);
    // A name that is listed and leads nowhere is a link: what is written there goes where nobody can see.
    if (name !== ".." && (await isListed(there, name, sight))) return undefined;
    missing.unshift(name);
  }
}

async function isListed(folder: string, name: string, sight: Pick<PathLookup, "list">): Promise<boolean> {
  try {
    return (await sight.list(folder)).includes(name);
  } catch {
    return true;
  }
}

/** A path without `~` and `file:`. `undefined`: it cannot be read. */
export function expandPath(text: string, home: string | undefined): string | undefined {
  const path = /^\s*(?:file:|~)/i.test(text) ? text.trimStart() : text;
  if (/^file:/i.test(path)) return readFileUrl(path);
  if (path === "~" || /^~[/\\]/.test(path)) return home === undefined ? undefined : slashed(home + path.slice(1));
  // Somebody else's home folder.
  if (/^~[\w.-]+(?:\/|$)/.test(path)) return undefined;
  return /^[A-Za-z]:[\\/]|^\\\\/.test(path) ? slashed(path) : path;
}

function readFileUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  try {
    return decodeURIComponent(new URL(text).pathname).replace(/^\/(?=[A-Za-z]:)/, "");
  } catch {
    return undefined;
  }
}

export function isAbsolutePath(path: string): boolean {
  return /^(?:[A-Za-z]:)?[\\/]/.test(path);
}

export function slashed(path: string): string {
  return /^[A-Za-z]:|\\/.test(path) ? path.replaceAll("\\", "/") : path;
}

function foldersAbove(path: string): readonly string[] {
  const folders: string[] = [];
  for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) folders.push(path.slice(0, cut));
  return folders;
}
