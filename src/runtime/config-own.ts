import { basename, dirname, join } from "node:path";
import type { FileSystem } from "#domain";
import { type LookAtFile, lookAtFile } from "#transports";
import { isInside, projectFolders } from "./config-find.ts";
import { ownConfigFolder, TRUST_FILE } from "./trust.ts";

/** The file names of a person's own configuration, in the person's own folder. */
export const OWN_FILES = ["config.ts", "config.js", "config.mjs", "config.json"];

/** The home folder that the system records for this user, regardless of variables. `undefined`: there is none. */
export type AccountHome = () => string | undefined;

const accountHome: AccountHome = () => {
  try {
    return process.getBuiltinModule("node:os").userInfo().homedir;
  } catch {
    // A user without an entry, as in many containers.
    return undefined;
  }
};

/** Where a person's own settings are. */
export interface OwnFolder {
  readonly folder: string | undefined;
  /** The folder that the variables name contains what others have written. */
  readonly refused?: RefusedOwn;
}

/** A person's own settings that are not used. */
export interface RefusedOwn {
  readonly path: string;
  /** The reason, with the remedy. */
  readonly why: string;
  /** It exists: settings in it are ignored. */
  readonly isThere: boolean;
}

/**
 * The person's own settings folder. A folder inside the current project is not accepted unless the system itself
 * records it as this user's home: variables can come from anywhere, and a cloned repository may contain a `.config`.
 * Nor is one that other users can write to, or whose files they can.
 */
export async function findOwnFolder(options: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: FileSystem;
  readonly account?: AccountHome | undefined;
  readonly look?: LookAtFile | undefined;
}): Promise<OwnFolder> {
  const { cwd, env, files, account = accountHome, look = lookAtFile } = options;
  const folder = ownConfigFolder(env);
  if (folder === undefined) return { folder };
  if (!usualFolders(account()).includes(folder)) {
    const { root } = await projectFolders(cwd, files);
    if (isInside(await realPlace(folder, files), await realPlace(root, files))) {
      const why = "is inside this project. Set HOME or XDG_CONFIG_HOME to a folder of your own";
      return { folder: undefined, refused: { path: folder, why, isThere: await isThere(folder, files) } };
    }
  }
  for (const path of [folder, ...[...OWN_FILES, TRUST_FILE].map((name) => join(folder, name))]) {
    if ((await look(path))?.isOpen !== true) continue;
    const why = `can be changed by other users. Check it, and make it your own: chown "$(id -u)", chmod go-w`;
    return { folder: undefined, refused: { path, why, isThere: true } };
  }
  return { folder };
}

function usualFolders(home: string | undefined): readonly string[] {
  if (home === undefined || home === "") return [];
  return [join(home, ".config", "millrace"), join(home, "AppData", "Roaming", "millrace")];
}

function isThere(path: string, files: FileSystem): Promise<boolean> {
  return files.realPath(path).then(
    () => true,
    () => false,
  );
}

/** The real path, even if its last segments do not exist yet. */
async function realPlace(path: string, files: FileSystem): Promise<string> {
  try {
    return await files.realPath(path);
  } catch {
    return path === dirname(path) ? path : join(await realPlace(dirname(path), files), basename(path));
  }
}
