import { isAbsolute, join } from "node:path";
import { describeReadFailure, describeWriteFailure, type FileSystem, StartError } from "#domain";
import { sha256Of } from "./config-reach.ts";

/** Whether a person trusts a configuration file. `changed`: the person trusted it with a different content. */
export type TrustState = "trusted" | "changed" | "unknown";

/** A trusted file. */
export interface TrustedFile {
  readonly file: string;
  /** The digest of its bytes and of the files it imports, in hex. */
  readonly sha256: string;
}

/** The files a person trusts, each by its real path and the digest of its content (`ConfigReach.proof`). */
export interface TrustList {
  /** The file that holds the list. */
  readonly path: string;
  list(): Promise<readonly TrustedFile[]>;
  judge(file: string, proof: Uint8Array): Promise<TrustState>;
  add(file: string, proof: Uint8Array): Promise<TrustedFile>;
  /** `false`: it was not in the list. */
  remove(file: string): Promise<boolean>;
}

/**
 * The person's own settings folder: `$XDG_CONFIG_HOME/millrace`, `~/.config/millrace`, on Windows `%APPDATA%\millrace`.
 * `undefined` where there is no home folder.
 */
export function ownConfigFolder(
  env: Readonly<Record<string, string | undefined>>,
  platform: string = process.platform,
): string | undefined {
  const candidates =
    platform === "win32"
      ? [env["APPDATA"]]
      : [env["XDG_CONFIG_HOME"], env["HOME"] === undefined ? undefined : join(env["HOME"], ".config")];
  const base = candidates.find((path) => path !== undefined && path !== "" && isAbsolute(path));
  return base === undefined ? undefined : join(base, "millrace");
}

/** The list's file, in the person's own folder. */
export const TRUST_FILE = "trust.json";

/** Opens the list in a person's own folder; the file is read on demand. */
export function openTrustList(folder: string, files: FileSystem): TrustList {
  const path = join(folder, TRUST_FILE);

  const read = async (): Promise<Map<string, string>> => {
    const bytes = await readIfThere(path, files);
    if (bytes === undefined) return new Map();
    const found = readBook(bytes);
    if (found !== undefined) return found;
    throw new StartError(
      "invalid-config",
      `${path} is not the list of trusted files that millrace writes. Remove it, and trust your files again.`,
    );
  };
  const write = async (entries: ReadonlyMap<string, string>): Promise<void> => {
    const trusted = Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
    const text = `${JSON.stringify({ trusted }, undefined, 2)}\n`;
    try {
      await files.write(path, new TextEncoder().encode(text));
    } catch (error) {
      throw new StartError(
        "invalid-config",
        `${path} cannot be written: ${describeWriteFailure(error)}. Make its folder writable, or set XDG_CONFIG_HOME to another one.`,
        { cause: error },
      );
    }
  };

  return {
    path,
    async list() {
      return [...(await read())].map(([file, sha256]) => ({ file, sha256 }));
    },
    async judge(file, proof) {
      const known = (await read()).get(file);
      if (known === undefined) return "unknown";
      return known === sha256Of(proof) ? "trusted" : "changed";
    },
    async add(file, proof) {
      const sha256 = sha256Of(proof);
      await write(new Map([...(await read()), [file, sha256]]));
      return { file, sha256 };
    },
    async remove(file) {
      const entries = await read();
      if (!entries.delete(file)) return false;
      await write(entries);
      return true;
    },
  };
}

function readBook(bytes: Uint8Array): Map<string, string> | undefined {
  try {
    const { trusted } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly trusted?: unknown };
    if (typeof trusted !== "object" || trusted === null) return undefined;
    const entries = Object.entries(trusted as Readonly<Record<string, unknown>>);
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return undefined;
  }
}

async function readIfThere(path: string, files: FileSystem): Promise<Uint8Array | undefined> {
  try {
    return await files.read(path);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ENOENT") return undefined;
    throw new StartError(
      "invalid-config",
      `${path} cannot be read: ${describeReadFailure(error)}. Correct the file, or set XDG_CONFIG_HOME to another folder.`,
      { cause: error },
    );
  }
}
