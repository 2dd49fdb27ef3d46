import { constants } from "node:fs";
import { access, open, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

/** What can be seen of a folder and a file in it without changing either. */
export interface FolderLook {
  readonly exists: boolean;
  /** Whether this user may write in the folder, and to the file if there is one. */
  readonly isWritable: boolean;
  /** Whether the folder belongs to this user, where users exist. */
  readonly isOwn: boolean;
  /** Free bytes on its disk. */
  readonly free: number;
  /** The first bytes of the file; absent if there is none. */
  readonly head?: Uint8Array;
}

/** Looks at a folder and the first bytes of a file in it. Rejects if the system does. */
export async function lookAtFolder(folder: string, name: string, bytes: number): Promise<FolderLook> {
  const found = await stat(folder).catch(orMissing);
  if (found === undefined) return { exists: false, isWritable: false, isOwn: false, free: 0 };
  const path = join(folder, name);
  const file = await open(path, "r").catch(orMissing);
  const { bavail, bsize } = await statfs(folder);
  const own = process.getuid?.();
  const look = {
    exists: true,
    isWritable: await mayWrite(file === undefined ? [folder] : [folder, path]),
    isOwn: own === undefined || found.uid === own,
    free: bavail * bsize,
  };
  if (file === undefined) return look;
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(bytes), 0, bytes, 0);
    return { ...look, head: buffer.subarray(0, bytesRead) };
  } finally {
    await file.close();
  }
}

function orMissing(error: unknown): undefined {
  if ((error as { readonly code?: unknown }).code === "ENOENT") return undefined;
  throw error;
}

async function mayWrite(paths: readonly string[]): Promise<boolean> {
  try {
    for (const path of paths) await access(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
