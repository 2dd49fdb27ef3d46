import { basename, dirname, join } from "node:path";
import type { FileSystem } from "#domain";
import { isInside, projectFolders } from "./config-find.ts";
import { ownConfigFolder } from "./trust.ts";

/** The home folder that the system has for this user, whatever the variables say. `undefined`: it has none. */
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
  /** A folder that the variables name, but that is in the project: its contents come from the author of the project. */
  readonly refused?: string;
  /** The refused folder exists: settings in it are ignored. */
  readonly isThere?: boolean;
}

/**
 * The person's own folder for settings. One inside of the project that we stand in is not taken for it, unless it is where the
 * system itself says that this user is at home: variables come from anywhere, and a cloned repository may hold a `.config`.
 */
export async function findOwnFolder(options: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: FileSystem;
  readonly account?: AccountHome | undefined;
}): Promise<OwnFolder> {
  const { cwd, env, files, account = accountHome } = options;
  const folder = ownConfigFolder(env);
  if (folder === undefined || usualFolders(account()).includes(folder)) return { folder };
  const { root } = await projectFolders(cwd, files);
  const isOfProject = isInside(await realPlace(folder, files), await realPlace(root, files));
  if (!isOfProject) return { folder };
  return { folder: undefined, refused: folder, isThere: await isThere(folder, files) };
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

/** Where a path leads, also if its last parts are not there yet. */
async function realPlace(path: string, files: FileSystem): Promise<string> {
  try {
    return await files.realPath(path);
  } catch {
    return path === dirname(path) ? path : join(await realPlace(dirname(path), files), basename(path));
  }
}
