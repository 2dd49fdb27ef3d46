import { realpath, stat } from "node:fs/promises";

/** The real path and the ownership of a file or folder. */
export interface FileFacts {
  /** Free of symbolic links. */
  readonly realPath: string;
  /** Whether it belongs to the user of this process. Always true where files have no owner (Windows). */
  readonly isOwn: boolean;
  /** Whether users other than this one and root can change it. */
  readonly isOpen?: boolean;
}

const WRITABLE_BY_ALL = 0o002;

/** Inspects one path. `undefined`: it does not exist, or may not be read. */
export type LookAtFile = (path: string) => Promise<FileFacts | undefined>;

/** Inspects paths on this machine. */
export const lookAtFile: LookAtFile = async (path) => {
  try {
    const realPath = await realpath(path);
    const { uid, mode } = await stat(realPath);
    const user = process.getuid?.();
    if (user === undefined) return { realPath, isOwn: true };
    const isOpen = (uid !== user && uid !== 0) || (mode & WRITABLE_BY_ALL) !== 0;
    return { realPath, isOwn: user === uid, isOpen };
  } catch {
    return undefined;
  }
};
