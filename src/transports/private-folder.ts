import { constants, mkdtempSync, rmSync } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolders } from "./make-folders.ts";

const OWNER_ONLY = 0o700;
const OWNER_ONLY_FILE = 0o600;
const OTHERS = 0o077;
/** A shared folder such as /tmp, whose mode must not be changed. */
const STICKY = 0o1000;

/**
 * Creates a folder that only its owner can use. An existing folder is restricted to 0700, an existing file to 0600. What
 * cannot be made private is refused: another user's, a link made by another user, or a shared folder.
 *
 * For a `file` nothing is created, because another program may have removed it since it was listed.
 */
export async function makePrivate(path: string, kind: "folder" | "file" = "folder"): Promise<void> {
  try {
    await restrict(path, kind);
  } catch (error) {
    if (kind === "folder" || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

async function restrict(path: string, kind: "folder" | "file"): Promise<void> {
  const own = process.getuid?.();
  const isFile = kind === "file" || (await lstat(path).catch(() => undefined))?.isFile() === true;
  if (!isFile) await makeFolders(path);
  // Windows has no modes; a new folder inherits its permissions.
  if (own === undefined) return;
  const place = await lstat(path);
  if (kind === "file" && !place.isFile()) throw new Error(`${path} is not a file. Remove it, or give another folder.`);
  if (place.isSymbolicLink() && place.uid !== own) {
    throw new Error(`${path} is a link that another user has made. Give the folder itself, or remove the link.`);
  }
  // Checks and changes what was opened, so that it does not matter if the path points elsewhere by then.
  const opened = await open(path, constants.O_RDONLY | (isFile ? constants.O_NOFOLLOW : constants.O_DIRECTORY));
  try {
    const { uid, mode } = await opened.stat();
    if (uid !== own && own !== 0)
      throw new Error(`${path} belongs to another user (${uid}). Give a folder of your own.`);
    if ((mode & STICKY) !== 0)
      throw new Error(`${path} is shared by all users. Use a separate folder, such as ${path}/millrace.`);
    if ((mode & OTHERS) !== 0) await opened.chmod(isFile ? OWNER_ONLY_FILE : OWNER_ONLY);
  } finally {
    await opened.close();
  }
}

/** A folder for the private files of this process: created on first use, removed when the process exits. */
export function createProcessFolder(): () => Promise<string> {
  let made: string | undefined;
  return async () => {
    if (made !== undefined) return made;
    // `mkdtemp` creates it with mode 0700, under an unpredictable name.
    const folder = mkdtempSync(join(tmpdir(), "millrace-"));
    made = folder;
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    return folder;
  };
}
