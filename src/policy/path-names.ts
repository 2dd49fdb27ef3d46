import type { FileSystem } from "#domain";

/**
 * A path in one spelling for all that may be the same file: capitals, composed and decomposed letters, and what Windows and
 * macOS leave out or add (dots and blanks at the end of a name, streams, the volume of the data). For rules that deny or ask.
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

/** Composed and decomposed letters look the same to whoever writes a rule. */
export function composed(text: string): string {
  return text.normalize("NFC");
}

/** Places that are not the same for whoever looks: open files, another process, files by their number, other names of this machine. */
const OF_THE_LOOKER =
  /^\/(?:proc\/(?:self|thread-self|\d+)(?:\/|$)|dev\/(?:fd|stdin|stdout|stderr)(?:\/|$)|\.(?:vol|nofollow|resolve)\/)|^\/\/(?:localhost|127\.|\[?::1|[?.]\/(?![a-z]:))/i;

/** Whether a path leads elsewhere for us than for the tool that opens it. */
export function dependsOnLooker(path: string): boolean {
  return OF_THE_LOOKER.test(path);
}

/** How far down a path is looked through for names in other capitals. */
const MOST_NAMES = 64;

/**
 * Whether a path is found although a name in it is written in other capitals on the disk: as on a disk of Windows or macOS
 * that is mounted elsewhere.
 */
export async function isFoundInOtherCase(path: string, sight: Pick<FileSystem, "realPath" | "list">): Promise<boolean> {
  let folder = "";
  for (const name of path.split("/").filter(Boolean).slice(0, MOST_NAMES)) {
    const here = `${folder}/${name}`;
    try {
      await sight.realPath(here);
      const names = await sight.list(folder === "" ? "/" : folder);
      if (!names.includes(name) && names.some((other) => foldPath(other) === foldPath(name))) return true;
    } catch {
      return false;
    }
    folder = here;
  }
  return false;
}
