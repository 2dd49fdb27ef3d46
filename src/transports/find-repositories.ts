import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** The Git repositories inside a folder. */
export interface FoundRepositories {
  readonly folders: readonly string[];
  /** `false`: there are more folders than were searched. Folders inside packages (`node_modules`) do not count. */
  readonly isComplete: boolean;
  /** A folder whose name is not UTF-8, so that it cannot be opened. */
  readonly unreadable?: string | undefined;
}

/** Finds the repositories below a folder; the folder itself is not included. */
export type FindRepositories = (folder: string) => Promise<FoundRepositories>;

/** Searching more would delay every start. Of the folders inside packages, even fewer are searched. */
const MOST_FOLDERS = 5_000;
const MOST_OF_PACKAGES = 1_000;
const AT_ONCE = 32;

/** Searches the folders of this machine, the nearest first and packages last. Does not follow links. */
export function createFindRepositories(mostFolders = MOST_FOLDERS): FindRepositories {
  return async (top) => {
    const found: string[] = [];
    const packages: string[] = [];
    let unreadable: string | undefined;
    const search = async (waiting: string[], most: number): Promise<boolean> => {
      for (let left = most; waiting.length > 0; ) {
        if (left <= 0) return false;
        const next = waiting.splice(0, Math.min(left, AT_ONCE));
        left -= next.length;
        await Promise.all(
          next.map(async (folder) => {
            const { isRepository, inner } = await lookInto(folder);
            if (isRepository && folder !== top) found.push(folder);
            for (const name of inner) {
              if (name.includes("\ufffd")) unreadable ??= join(folder, name);
              else (name === "node_modules" ? packages : waiting).push(join(folder, name));
            }
          }),
        );
      }
      return true;
    };
    const isComplete = await search([top], mostFolders);
    await search(packages, MOST_OF_PACKAGES);
    return { folders: found.sort(), isComplete, ...(unreadable !== undefined && { unreadable }) };
  };
}

async function lookInto(
  folder: string,
): Promise<{ readonly isRepository: boolean; readonly inner: readonly string[] }> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const has = (name: string): boolean => entries.some((entry) => entry.name === name);
    // A repository without a working tree has everything in its own folder.
    const isBare = has("HEAD") && has("objects") && has("refs");
    const inner = entries.filter((entry) => entry.isDirectory() && entry.name !== ".git");
    return { isRepository: isBare || has(".git"), inner: isBare ? [] : inner.map(({ name }) => name) };
  } catch {
    // A folder that we may not read, git may not read either.
    return { isRepository: false, inner: [] };
  }
}
