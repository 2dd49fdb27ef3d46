import type { FileSystem } from "#domain";

/**
 * One spelling for all paths that may be the same file: case, composed and decomposed letters, and what Windows and
 * macOS ignore or add (trailing dots and spaces, alternate streams, the data volume). For rules that deny or ask.
 */
export function foldPath(path: string): string {
  return path
    .normalize("NFC")
    .toUpperCase()
    .toLowerCase()
    .replace(/^\/\/[?.]\/(?=[a-z]:)/, "")
    .replace(/^\/system\/volumes\/data(?=\/)/, "")
    .replace(/(?<=[^/:]{2}):[^/]*(?=\/|$)/g, "")
    .replace(/(?<=[^/. ])[. ]+(?=\/|$)/g, "");
}

/** Composed and decomposed letters look the same in a rule. */
export function composed(text: string): string {
  return text.normalize("NFC");
}

/**
 * Paths that mean something different in each process: open files, process folders, files by number, other names of
 * this machine.
 */
const OF_EACH_PROCESS =
  /^\/(?:proc\/(?:self|thread-self|\d+)(?:\/|$)|dev\/(?:fd|stdin|stdout|stderr)(?:\/|$)|\.(?:vol|nofollow|resolve)\/)|^\/\/(?:localhost|127\.|\[?::1|[?.]\/(?![a-z]:))/i;

/** Whether a path leads somewhere else for us than for the tool that opens it. */
export function differsByProcess(path: string): boolean {
  return OF_EACH_PROCESS.test(path);
}

/** How many names of a path are compared with other spellings. */
const MOST_NAMES = 64;

/**
 * Whether a path exists although the disk spells a name in it in another case, as on a mounted disk of Windows or
 * macOS.
 */
export async function isFoundInOtherCase(
  path: string,
  lookup: Pick<FileSystem, "realPath" | "list">,
): Promise<boolean> {
  let folder = "";
  for (const name of path.split("/").filter(Boolean).slice(0, MOST_NAMES)) {
    const here = `${folder}/${name}`;
    try {
      await lookup.realPath(here);
      const names = await lookup.list(folder === "" ? "/" : folder);
      if (!names.includes(name) && names.some((other) => foldPath(other) === foldPath(name))) return true;
    } catch {
      return false;
    }
    folder = here;
  }
  return false;
}
