import { realpath, stat } from "node:fs/promises";

/** Where a file or a folder really is, and whose it is. */
export interface FileFacts {
  /** Without any symbolic link. */
  readonly realPath: string;
  /** Whether it belongs to the user of this process. Always true where files have no owner (Windows). */
  readonly isOwn: boolean;
}

/** Looks at one path. `undefined`: there is nothing, or nothing we may look at. */
export type LookAtFile = (path: string) => Promise<FileFacts | undefined>;

/** The facts of this machine. */
export const lookAtFile: LookAtFile = async (path) => {
  try {
    const realPath = await realpath(path);
    const { uid } = await stat(realPath);
    const user = process.getuid?.();
    return { realPath, isOwn: user === undefined || user === uid };
  } catch {
    return undefined;
  }
};
