import { describeThrown, type FileSystem, StartError } from "#domain";

/** The text of a file; `undefined` if there is none. */
export async function readText(file: string, files: FileSystem): Promise<string | undefined> {
  const bytes = await readBytes(file, files);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

export async function readBytes(file: string, files: FileSystem): Promise<Uint8Array | undefined> {
  try {
    return await files.read(file);
  } catch (error) {
    requireMissing(file, error);
    return undefined;
  }
}

export async function exists(path: string, files: FileSystem): Promise<boolean> {
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
export function requireMissing(path: string, error: unknown): void {
  if (NOTHING_THERE.has((error as { readonly code?: unknown } | null)?.code)) return;
  throw new StartError(
    "invalid-config",
    `${path} could not be read (${describeThrown(error)}), so the commands in this repository's git configuration cannot be ` +
      "switched off. Try again, or set claudeCode.repositoryGit to true if you trust this repository.",
    { cause: error },
  );
}
