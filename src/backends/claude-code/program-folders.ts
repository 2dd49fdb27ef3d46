import { fileURLToPath } from "node:url";
import { posix, win32 } from "node:path";

export interface ProgramFoldersRequest {
  /** The variable PATH. */
  readonly path: string;
  /** Our working folder and the agent's. */
  readonly folders: readonly string[];
  readonly isWindows: boolean;
  /** Where this package is installed. Default: derived from this file. */
  readonly own?: string | undefined;
}

/**
 * The folders of PATH that do not belong to the current project. A relative one depends on the working folder; and npm
 * and npx put the `node_modules/.bin` of the project first, which contains whatever a cloned repository brought along.
 * Only if this package itself is installed in the project, its programs are as trusted as we are.
 */
export function programFolders(request: ProgramFoldersRequest): readonly string[] {
  const { path, folders, isWindows, own = fileURLToPath(import.meta.url) } = request;
  const { delimiter, isAbsolute, basename, dirname, normalize, sep } = isWindows ? win32 : posix;
  const fold = (name: string): string => (isWindows ? name.toLowerCase() : name);
  const isIn = (inner: string, outer: string): boolean =>
    fold(normalize(`${inner}${sep}`)).startsWith(fold(normalize(`${outer}${sep}`)));
  /** The project that a folder of programs belongs to; `undefined` if it is not one that contains a working folder. */
  const projectOf = (folder: string): string | undefined => {
    const modules = dirname(normalize(folder).replace(/[\\/]+$/, ""));
    if (fold(basename(modules)) !== "node_modules") return undefined;
    const project = dirname(modules);
    return folders.some((one) => isIn(one, project)) ? project : undefined;
  };
  const given = path.split(delimiter).filter((folder) => isAbsolute(folder));
  const projects = new Set(given.map(projectOf).filter((project) => project !== undefined));
  const isOurProject = [...projects].some((project) => isIn(own, `${project}${sep}node_modules`));
  return [...new Set(given.filter((folder) => isOurProject || projectOf(folder) === undefined))];
}
