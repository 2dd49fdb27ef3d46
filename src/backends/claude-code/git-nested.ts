import { isStartError, type WarningDetail } from "#domain";
import type { FindRepositories } from "#transports";
import { findSettings, type FoundSettings, type Machine } from "./git-isolation.ts";
import { ALWAYS_OFF, type GitSetting } from "./git-settings.ts";

/** Settings that disable commands of repositories, and warnings where that was impossible. */
export interface GitIsolation {
  readonly settings: readonly GitSetting[];
  readonly warnings: readonly WarningDetail[];
}

interface Folders extends Machine {
  readonly findRepositories: FindRepositories | undefined;
}

/** The maximum number of repositories below a folder that are read. */
const MOST_NESTED = 500;

/**
 * Disables the commands of the repositories that these folders belong to, and of those inside them. Git enters the
 * latter only on request, so one that cannot be read is a warning and no failure.
 *
 * @throws StartError as `findSettings` does.
 */
export async function isolateFolders(folders: readonly string[], machine: Folders): Promise<GitIsolation> {
  const seen = new Set<string>();
  const outer: FoundSettings = { settings: new Map(ALWAYS_OFF), seen };
  await findSettings(folders, machine, outer);
  const inner: FoundSettings = { settings: new Map(), seen };
  const warnings: WarningDetail[] = [];
  for (const folder of folders) {
    const nested = await machine.findRepositories?.(folder);
    if (nested === undefined) continue;
    if (!nested.isComplete || nested.folders.length > MOST_NESTED)
      warnings.push(warnOf(folder, "it holds too many folders to search"));
    if (nested.unreadable !== undefined)
      warnings.push(warnOf(folder, `the name of ${JSON.stringify(nested.unreadable)} is not UTF-8`));
    for (const one of nested.folders.slice(0, MOST_NESTED)) {
      try {
        await findSettings([one], machine, inner);
      } catch (error) {
        if (!isStartError(error)) throw error;
        warnings.push(warnOf(one, error.message.replace(/\.$/, "")));
      }
    }
  }
  // If both name a command, the outer repository's replacement wins.
  return { settings: [...new Map([...inner.settings, ...outer.settings])], warnings };
}

function warnOf(folder: string, why: string): WarningDetail {
  return {
    code: "git-not-isolated",
    message:
      `Not every git repository below ${folder} is known: ${why}. Commands in the git configuration of the others are run when the agent ` +
      "asks git about them. Work in a smaller folder, or set claudeCode.repositoryGit to true if you trust them all.",
    context: { folder },
  };
}
