import type { FileSystem } from "#domain";
import { differsByProcess } from "./path-names.ts";
import { pathForms, straightPath } from "./path-match.ts";

/** A policy's access to the file system: it resolves paths and names the folders they are relative to. */
export interface PathLookup extends Pick<FileSystem, "realPath" | "list"> {
  /** The working folder of the run; relative rules and paths start there. */
  readonly cwd: string;
  /** The folder that `~` stands for. */
  readonly home: string | undefined;
  /** File names that differ only in case are the same file, as on macOS and Windows. */
  readonly ignoresCase: boolean;
}

/** A path of a call, resolved as far as possible. */
export interface SeenPath {
  /**
   * Every spelling of the place it leads to, with the folders above it. For a rule that denies or asks, one match is
   * enough.
   */
  readonly forms: readonly string[];
  /** The places it leads to, resolving `..` both before and after links. Without the folders above them. */
  readonly places: readonly string[];
  /** Where it really leads; a rule that allows must cover all of these. `undefined`: this cannot be determined. */
  readonly real: readonly string[] | undefined;
  /** A link leads elsewhere than the text says; those above the working folder do not count. */
  readonly isLinked: boolean;
}

/** Longer paths are resolved only if they are shorter without their detours (`./`), which a program may remove. */
const LONGEST_PATH = 4_096;

/** Resolves a path. `bases`: the folders it may be relative to. Never rejects. */
export async function seePath(text: string, lookup: PathLookup, bases: readonly string[]): Promise<SeenPath> {
  // A tool may treat spaces around a path as part of it, or strip them.
  const written = [...new Set([text, text.trim()])].map((one) => expandPath(one, lookup.home));
  const plain = written
    .filter((one) => one !== undefined)
    .map((one) => (one.length > LONGEST_PATH ? straightPath(one) : one))
    .filter(isReadable);
  const isLost = plain.length < written.length;
  const below = (folders: readonly string[]): readonly string[] =>
    plain.flatMap((one) => (isAbsolutePath(one) ? [one] : folders.map((base) => `${base}/${one}`)));
  const joined = below(bases);
  const straight = joined.map(straightPath);
  // A program may remove `..` before it opens a path, or leave it to the system, which follows links first.
  const found = await Promise.all([...new Set([...joined, ...straight])].map((path) => findReal(path, lookup)));
  const known = found.filter((path) => path !== undefined);
  const places = [...new Set([...straight, ...known])];
  const elsewhere = known.filter((path) => !straight.includes(path));
  // If a link stands above the working folder, every path in it leads elsewhere.
  const realBases = elsewhere.length === 0 ? [] : await Promise.all(bases.map((base) => findReal(base, lookup)));
  const expected = new Set(below(realBases.filter((base) => base !== undefined)).map(straightPath));
  return {
    forms: [...new Set([...pathForms(text), ...places, ...places.flatMap(foldersAbove)])],
    places,
    real:
      isLost || known.length < found.length || [...joined, ...places].some(differsByProcess)
        ? undefined
        : [...new Set(known)],
    isLinked: elsewhere.some((path) => !expected.has(path)),
  };
}

function isReadable(path: string): boolean {
  return path.length <= LONGEST_PATH && !path.includes("\0");
}

/**
 * Where a path really leads. For a path that does not exist, the links of its nearest existing folder are followed.
 * `undefined` when this cannot be determined.
 */
export async function findReal(
  path: string,
  lookup: Pick<PathLookup, "realPath" | "list">,
): Promise<string | undefined> {
  let there = path;
  const missing: string[] = [];
  for (;;) {
    try {
      const real = await lookup.realPath(there);
      return straightPath([slashed(real), ...missing].join("/"));
    } catch (error) {
      const code = (error as { readonly code?: unknown } | null)?.code;
      if (code !== "ENOENT" && code !== "ENOTDIR") return undefined;
    }
    const cut = there.replace(/\/+$/, "").lastIndexOf("/");
    if (cut === -1) return undefined;
    const name = there.slice(cut + 1).replace(/\/+$/, "");
    there = cut === 0 ? "/" : there.slice(0, cut);
    // A name that is listed but does not resolve is a dangling link: a write there would end up in an unknown place.
    if (name !== ".." && (await isListed(there, name, lookup))) return undefined;
    missing.unshift(name);
  }
}

async function isListed(folder: string, name: string, lookup: Pick<PathLookup, "list">): Promise<boolean> {
  try {
    return (await lookup.list(folder)).includes(name);
  } catch {
    return true;
  }
}

/** A path without `~` and `file:`. `undefined`: it cannot be read. */
export function expandPath(text: string, home: string | undefined): string | undefined {
  const path = /^\s*(?:file:|~)/i.test(text) ? text.trimStart() : text;
  if (/^file:/i.test(path)) return readFileUrl(path);
  if (path === "~" || /^~[/\\]/.test(path)) return home === undefined ? undefined : slashed(home + path.slice(1));
  // The home folder of another user.
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
