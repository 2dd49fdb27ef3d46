import { dirname, isAbsolute, join, resolve } from "node:path";
import { describeThrown, type FileSystem, StartError } from "#domain";
import { type GitConfigEntry, parseGitConfig } from "./git-config.ts";
import { readGitLinks } from "./git-links.ts";
import { ALWAYS_OFF, type GitSetting } from "./git-settings.ts";

/** The maximum number of nested repositories that are read. */
const MOST_REPOSITORIES = 200;

/** Git's own limit for files that include each other. */
const DEEPEST_INCLUDE = 10;

export interface Machine {
  readonly files: FileSystem;
  /** The user's home folder, for `~`. */
  readonly home: string | undefined;
}

/**
 * Settings that disable the repository's own commands in every git that is started in these folders: those that are
 * always off, and one for each command in a repository's configuration. The user's own configuration stays in effect.
 *
 * @throws StartError if a repository's configuration includes a file that only git could find.
 */
export async function isolateGit(folders: readonly string[], machine: Machine): Promise<readonly GitSetting[]> {
  const settings = new Map<string, string>(ALWAYS_OFF);
  const waiting = [...folders];
  const seen = new Set<string>();
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    const place = await findGitFolder(folder, machine.files);
    if (place === undefined || seen.has(place.gitFolder)) continue;
    seen.add(place.gitFolder);
    if (seen.size > MOST_REPOSITORIES) throw tooMany(folder);
    const entries = await readRepository(place.gitFolder, machine);
    for (const entry of entries) {
      for (const [key, value] of replacements(entry)) settings.set(key, value);
    }
    waiting.push(...(await innerRepositories(place, entries, machine.files)));
  }
  return [...settings];
}

/** The repositories in a working tree that git enters by itself: submodules, and others in its index. */
async function innerRepositories(
  { gitFolder, top }: GitPlace,
  entries: readonly GitConfigEntry[],
  files: FileSystem,
): Promise<readonly string[]> {
  const modules = parseGitConfig((await readText(join(top, ".gitmodules"), files)) ?? "");
  const named = modules.filter(({ section, name }) => section === "submodule" && name === "path");
  const usesSha256 = entries.some(({ name, value }) => name === "objectformat" && value.toLowerCase() === "sha256");
  const index = (await readBytes(join(gitFolder, "index"), files)) ?? new Uint8Array();
  const links = readGitLinks(index, usesSha256 ? 32 : 20);
  const inner = [...new Set([...named.map(({ value }) => value), ...links])].map((path) => resolve(top, path));
  const found: string[] = [];
  // Without its own repository, git would find this one again.
  for (const folder of inner) if (await exists(join(folder, ".git"), files)) found.push(folder);
  return found;
}

function tooMany(folder: string): StartError {
  return new StartError(
    "invalid-config",
    `There are more than ${MOST_REPOSITORIES} repositories inside of each other (${folder} is the next), so the commands in their git ` +
      "configuration cannot be switched off. Work in one of them, or set claudeCode.repositoryGit to true if you trust them.",
  );
}

/** Everything git reads for a repository. */
async function readRepository(gitFolder: string, machine: Machine): Promise<readonly GitConfigEntry[]> {
  const { files } = machine;
  const common = (await readText(join(gitFolder, "commondir"), files))?.trim();
  const shared = common === undefined ? gitFolder : resolve(gitFolder, common);
  const entries: GitConfigEntry[] = [];
  const seen = new Set<string>();
  for (const file of [join(shared, "config"), join(gitFolder, "config"), join(gitFolder, "config.worktree")]) {
    await readFile(file, { ...machine, entries, seen, depth: 0 });
  }
  return entries;
}

/** A repository: its git folder, and the top of its working tree. */
interface GitPlace {
  readonly gitFolder: string;
  readonly top: string;
}

async function findGitFolder(folder: string, files: FileSystem): Promise<GitPlace | undefined> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const link = join(at, ".git");
    if (await exists(link, files)) {
      // In a worktree (`git worktree`) or a submodule, `.git` is a file with the path of the folder.
      const [, target] = /^gitdir:\s*(.+?)\s*$/m.exec((await readText(link, files)) ?? "") ?? [];
      return { gitFolder: target === undefined ? link : resolve(at, target), top: at };
    }
    const isBare = (await exists(join(at, "HEAD"), files)) && (await exists(join(at, "objects"), files));
    if (isBare) return { gitFolder: at, top: at };
    if (at === dirname(at)) return undefined;
  }
}

interface Reading extends Machine {
  readonly entries: GitConfigEntry[];
  readonly seen: Set<string>;
  readonly depth: number;
}

/** A conditional include is always followed: that is safer than evaluating its condition. */
async function readFile(file: string, reading: Reading): Promise<void> {
  const { files, entries, seen, depth } = reading;
  if (seen.has(file) || depth > DEEPEST_INCLUDE) return;
  seen.add(file);
  const text = await readText(file, files);
  if (text === undefined) return;
  for (const entry of parseGitConfig(text)) {
    entries.push(entry);
    if (!/^include(?:if)?$/.test(entry.section) || entry.name !== "path") continue;
    await readFile(includedFile(entry.value, file, reading), { ...reading, depth: depth + 1 });
  }
}

function includedFile(path: string, file: string, { home }: Machine): string {
  if (path.startsWith("~/") && home !== undefined) return join(home, path.slice(2));
  if (!/^(?:~|%\()/.test(path)) return isAbsolute(path) ? path : join(dirname(file), path);
  throw new StartError(
    "invalid-config",
    `${file} includes ${JSON.stringify(path)}, which is not a plain path, so the commands in it cannot be switched off. ` +
      "Write the path in full, or set claudeCode.repositoryGit to true if you trust this repository.",
  );
}

/** Shows a difference without external commands; git passes the two files as the second and fifth argument. */
const OWN_DIFF = 'show() { git diff --no-index --no-ext-diff --no-textconv -- "$2" "$5"; true; }; show';

/** All settings through which a repository could make git run something, and their replacements. */
const COMMANDS: readonly (readonly [keys: RegExp, value: string])[] = [
  [/^core\.editor$|^sequence\.editor$/, ":"],
  [/^core\.pager$|^pager\./, "cat"],
  [/^core\.sshcommand$/, "ssh"],
  [/^core\.askpass$|^credential\.(?:.*\.)?helper$/, ""],
  [/^core\.alternaterefscommand$|^gc\.recentobjectshook$|^hook\..*\.command$/, "true"],
  [/^diff\.external$|^diff\..*\.command$/, OWN_DIFF],
  [/^diff\..*\.textconv$|^interactive\.difffilter$|^tar\..*\.command$|^lfs\.extension\..*\.(?:clean|smudge)$/, "cat"],
  [/^filter\..*\.(?:clean|smudge|process)$/, ""],
  [/^filter\..*\.required$|^log\.showsignature$/, "false"],
  [/^remote\..*\.promisor$/, "false"],
  [/^merge\..*\.driver$/, "git merge-file %A %O %B"],
  [/^gpg\.(?:openpgp\.)?program$/, "gpg"],
  [/^gpg\.x509\.program$/, "gpgsm"],
  [/^gpg\.ssh\.program$/, "ssh-keygen"],
  [/^gpg\.ssh\.defaultkeycommand$|^trailer\..*\.(?:command|cmd)$/, "true"],
  [/^(?:mergetool|difftool|man|browser|guitool)\..*\.(?:cmd|path)$|^web\.browser$/, "false"],
  [/^sendemail\.(?:.*\.)?(?:smtpserver|sendmailcmd|tocmd|cccmd|headercmd)$/, "false"],
  [/^lfs\.customtransfer\..*\.path$/, "false"],
  [/^submodule\..*\.update$/, "checkout"],
];

/** Git LFS: `git lfs install --local` writes exactly these. */
const LARGE_FILES = /^git-lfs (?:clean -- %f|smudge -- %f|filter-process)$/;

function replacements({ section, subsection, name, value }: GitConfigEntry): readonly GitSetting[] {
  const written = subsection === undefined ? `${section}.${name}` : `${section}.${subsection}.${name}`;
  if (section === "filter" && subsection === "lfs") {
    if (name === "required" || LARGE_FILES.test(value)) return [];
  }
  // An alias may be a shell command, or options for git before one of its own commands.
  if (section === "alias") return /^\s*[!-]/.test(value) ? [[written, ""]] : [];
  // Neither can be replaced, because git uses the first of several values; but the protocol can be disabled.
  if (section === "core" && name === "gitproxy") return [["protocol.git.allow", "never"]];
  if (section === "remote" && /^(?:uploadpack|receivepack)$/.test(name)) return [["protocol.file.allow", "never"]];
  const found = COMMANDS.find(([keys]) => keys.test(written.toLowerCase()));
  return found === undefined ? [] : [[written, found[1]]];
}

async function readText(file: string, files: FileSystem): Promise<string | undefined> {
  const bytes = await readBytes(file, files);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

async function readBytes(file: string, files: FileSystem): Promise<Uint8Array | undefined> {
  try {
    return await files.read(file);
  } catch (error) {
    requireMissing(file, error);
    return undefined;
  }
}

async function exists(path: string, files: FileSystem): Promise<boolean> {
  try {
    return await files.exists(path);
  } catch (error) {
    requireMissing(path, error);
    return false;
  }
}

/** Failures that git would meet, too, and that leave it nothing to read there. */
const NOTHING_THERE: ReadonlySet<unknown> = new Set([
  "ENOENT",
  "ENOTDIR",
  "EISDIR",
  "EACCES",
  "EPERM",
  "ELOOP",
  "ENAMETOOLONG",
]);

/** @throws StartError if git may be able to read there what we could not: a command would then stay enabled. */
function requireMissing(path: string, error: unknown): void {
  if (NOTHING_THERE.has((error as { readonly code?: unknown } | null)?.code)) return;
  throw new StartError(
    "invalid-config",
    `${path} could not be read (${describeThrown(error)}), so the commands in this repository's git configuration cannot be ` +
      "switched off. Try again, or set claudeCode.repositoryGit to true if you trust this repository.",
    { cause: error },
  );
}
