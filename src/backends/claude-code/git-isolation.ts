import { join } from "node:path";
import { type FileSystem, StartError } from "#domain";
import { type GitConfigEntry, parseGitConfig } from "./git-config.ts";
import { exists, readBytes, readText } from "./git-files.ts";
import { readGitLinks } from "./git-links.ts";
import { findGitPlaces, type GitPlace, notPlain, pathIn, realPlace, withoutLineEnd } from "./git-places.ts";
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

/** What was found out about repositories. */
export interface FoundSettings {
  readonly settings: Map<string, string>;
  /** The git folders that were read. */
  readonly seen: Set<string>;
}

/**
 * Settings that disable the repository's own commands in every git that is started in these folders: those that are
 * always off, and one for each command in a repository's configuration. The user's own configuration stays in effect.
 *
 * @throws StartError if a repository's configuration includes a file that only git could find, or names a command that
 * cannot be overridden.
 */
export async function isolateGit(folders: readonly string[], machine: Machine): Promise<readonly GitSetting[]> {
  const found: FoundSettings = { settings: new Map(ALWAYS_OFF), seen: new Set() };
  await findSettings(folders, machine, found);
  return [...found.settings];
}

/** The same, added to `found`. Repositories that were seen before are not read again. */
export async function findSettings(folders: readonly string[], machine: Machine, found: FoundSettings): Promise<void> {
  const { settings, seen } = found;
  const waiting = [...folders];
  let count = 0;
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    for (const place of await findGitPlaces(folder, machine.files)) {
      if (seen.has(place.gitFolder)) continue;
      seen.add(place.gitFolder);
      count += 1;
      if (count > MOST_REPOSITORIES) throw tooMany(folder);
      const entries = await readRepository(place.gitFolder, machine);
      for (const entry of entries) {
        for (const [key, value] of replacements(entry)) settings.set(requireText(key, place), value);
      }
      waiting.push(...(await innerRepositories(place, entries, machine.files)));
    }
  }
}

/** @throws StartError if the name of a driver is not UTF-8, because a variable cannot contain it. */
function requireText(key: string, { gitFolder }: GitPlace): string {
  if (!key.includes("\ufffd")) return key;
  throw notPlain(`The git configuration of ${gitFolder} sets ${JSON.stringify(key)}, which is not UTF-8`);
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
  const inner = [...new Set([...named.map(({ value }) => value), ...links])].map((path) =>
    pathIn(path, join(top, ".gitmodules")),
  );
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
  const commonFile = join(gitFolder, "commondir");
  const common = await readText(commonFile, files);
  const shared = common === undefined ? gitFolder : await realPlace(pathIn(withoutLineEnd(common), commonFile), files);
  const entries: GitConfigEntry[] = [];
  const seen = new Set<string>();
  for (const file of [join(shared, "config"), join(gitFolder, "config"), join(gitFolder, "config.worktree")]) {
    await readFile(file, { ...machine, entries, seen, depth: 0 });
  }
  return entries;
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
  if (path.startsWith("~/") && home !== undefined) return pathIn(`${home}/${path.slice(2)}`, file);
  if (!/^(?:~|%\()/.test(path)) return pathIn(path, file);
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
  [/^lfs\.customtransfer\..*\.path$|^imap\.tunnel$|^instaweb\.httpd$|^svn\.authorsprog$/, "false"],
  [/^submodule\..*\.update$/, "checkout"],
];

/** Git LFS: `git lfs install --local` writes exactly these. */
const LARGE_FILES = /^git-lfs (?:clean -- %f|smudge -- %f|filter-process)$/;

function replacements({ section, subsection, name, value }: GitConfigEntry): readonly GitSetting[] {
  const written = subsection === undefined ? `${section}.${name}` : `${section}.${subsection}.${name}`;
  if (section === "filter" && subsection === "lfs") {
    if (name === "required" || LARGE_FILES.test(value)) return [];
  }
  // Git reads a shell script of this name, also from outside of its own folder.
  if (/^(?:diff|merge)$/.test(section) && /^(?:gui)?tool$/.test(name))
    return /[\\/]/.test(value) ? [[written, "none"]] : [];
  // An alias may be a shell command, or options for git before one of its own commands.
  if (section === "alias") return /^\s*[!-]/.test(value) ? [[written, ""]] : [];
  // Neither can be replaced, because git uses the first of several values; but the protocol can be disabled.
  if (section === "core" && name === "gitproxy") return [["protocol.git.allow", "never"]];
  if (section === "remote" && /^(?:uploadpack|receivepack)$/.test(name)) return [["protocol.file.allow", "never"]];
  const found = COMMANDS.find(([keys]) => keys.test(written.toLowerCase()));
  return found === undefined ? [] : [[written, found[1]]];
}
