import { constants } from "node:fs";
import { open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { FileSystem, Random } from "#domain";
import { makeFolders } from "./make-folders.ts";
import { makePrivate } from "./private-folder.ts";
import { systemRandom } from "./system-random.ts";

const OWNER_ONLY_FILE = 0o600;

// A link planted at our path would redirect the bytes (SEC19); Windows has neither the flag nor the danger.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

// Opening a pipe blocks until its other end is opened, and reading a device may never end.
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** The files of this machine. Files are created with mode 0600, missing folders with 0700. */
export function createSystemFiles(random: Random = systemRandom): FileSystem {
  return {
    async read(path) {
      const file = await open(absolute(path), constants.O_RDONLY | NO_WAIT);
      try {
        const place = await file.stat();
        if (!place.isFile() && !place.isDirectory()) throw notAFile(path);
        return await file.readFile();
      } finally {
        await file.close();
      }
    },

    async write(path, bytes) {
      const folder = dirname(absolute(path));
      await makeFolders(folder);
      // In the same folder, because a rename is atomic only within one file system.
      const draft = join(folder, `.${basename(path)}.${random.id()}.draft`);
      const file = await open(
        draft,
        constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW,
        OWNER_ONLY_FILE,
      );
      try {
        try {
          await file.writeFile(bytes);
          // Without it, a crash could leave an empty file under the new name.
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      await syncFolder(folder);
    },

    async append(path, bytes) {
      await makeFolders(dirname(absolute(path)));
      const file = await open(
        path,
        constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | NO_FOLLOW,
        OWNER_ONLY_FILE,
      );
      try {
        await file.writeFile(bytes);
      } finally {
        await file.close();
      }
    },

    async makePrivate(path, kind) {
      await makePrivate(absolute(path), kind);
    },

    async exists(path) {
      try {
        await stat(absolute(path));
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    },

    async remove(path) {
      await rm(absolute(path), { force: true });
    },

    async list(path) {
      try {
        return (await readdir(absolute(path))).sort();
      } catch (error) {
        if (isMissing(error)) return [];
        throw error;
      }
    },

    async realPath(path) {
      return await realpath(absolute(path));
    },
  };
}

function absolute(path: string): string {
  if (!isAbsolute(path)) throw new TypeError(`The path ${JSON.stringify(path)} must be absolute.`);
  return path;
}

function notAFile(path: string): Error {
  return Object.assign(new Error(`${path} is a pipe or a device, and not a file`), { code: "EINVAL" });
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Makes a rename durable. Not every system allows syncing a folder; the file itself is safe either way. */
async function syncFolder(folder: string): Promise<void> {
  let handle: Awaited<ReturnType<typeof open>> | undefined;
  try {
    handle = await open(folder, constants.O_RDONLY);
    await handle.sync();
  } catch {
    // Cannot be helped, and nothing is lost as long as the machine stays up.
  } finally {
    await handle?.close();
  }
}
