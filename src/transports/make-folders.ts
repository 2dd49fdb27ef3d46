import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

const OWNER_ONLY = 0o700;

/**
 * Makes a folder with mode 0700, and those above it that are missing. Node's own recursive `mkdir` never returns where a
 * folder exists in which nothing can be made, such as `/proc`.
 */
export async function makeFolders(path: string): Promise<void> {
  try {
    await makeFolder(path);
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || above === path) throw error;
    await makeFolders(above);
    await makeFolder(path);
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: OWNER_ONLY });
  } catch (error) {
    // A drive or a read-only disk has its own word for a folder that is there (EPERM, EROFS).
    const isThere = await stat(path).then(
      (place) => place.isDirectory(),
      () => false,
    );
    if (!isThere) throw error;
  }
}
