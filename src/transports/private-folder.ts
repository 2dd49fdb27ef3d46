import { constants, mkdtempSync, rmSync } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolders } from "./make-folders.ts";

const OWNER_ONLY = 0o700;
const OTHERS = 0o077;
/** A folder like /tmp: everybody's, and not to be taken away from them. */
const STICKY = 0o1000;

/**
 * Makes a folder that nobody but its owner can use. One that is there already is tightened to 0700; one that cannot be
 * ours alone is refused: another user's, a link somebody else has put there, a folder that everybody shares.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  await makeFolders(path);
  const own = process.getuid?.();
  // Windows has no modes; a new folder inherits who may use it.
  if (own === undefined) return;
  const place = await lstat(path);
  if (place.isSymbolicLink() && place.uid !== own) {
    throw new Error(`${path} is a link that another user has made. Give the folder itself, or remove the link.`);
  }
  // The folder that was opened is the one that is looked at and tightened, whatever the path means by then.
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const { uid, mode } = await folder.stat();
    if (uid !== own && own !== 0)
      throw new Error(`${path} belongs to another user (${uid}). Give a folder of your own.`);
    if ((mode & STICKY) !== 0)
      throw new Error(`${path} is shared by everybody. Give a folder of its own, such as ${path}/millrace.`);
    if ((mode & OTHERS) !== 0) await folder.chmod(OWNER_ONLY);
  } finally {
    await folder.close();
  }
}

/** A folder for the private files of this process: made when it is first asked for, gone when the process ends. */
export function createProcessFolder(): () => Promise<string> {
  let made: string | undefined;
  return async () => {
    if (made !== undefined) return made;
    // `mkdtemp` makes it with mode 0700, under a name nobody could know before.
    const folder = mkdtempSync(join(tmpdir(), "millrace-"));
    made = folder;
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    return folder;
  };
}
