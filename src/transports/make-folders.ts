import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

const OWNER_ONLY = 0o700;

/**
 * Creates a folder with mode 0700, and any missing folders above it. Node's own recursive `mkdir` never returns for an
 * existing folder in which nothing can be created, such as `/proc`.
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
    // A drive or a read-only disk reports another code for a folder that exists (EPERM, EROFS).
    const isThere = await stat(path).then(
      (place) => place.isDirectory(),
      () => false,
    );
    if (!isThere) throw error;
  }
}
