import { posix, win32 } from "node:path";
import { StartError } from "#domain";
import { readVariable } from "./environment.ts";
import { programFolders } from "./program-folders.ts";

/** What exists at a path. */
export type ExecutableState = "executable" | "not-executable" | "folder" | "missing";

/** Examines one path. Never rejects; an inaccessible path is `missing`. */
export type ProbeExecutable = (path: string) => Promise<ExecutableState>;

export interface LocateRequest {
  /** A name to search in PATH, or a path. Default `claude`. */
  readonly executable?: string | undefined;
  /** The variables of our own process, for PATH. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly probe: ProbeExecutable;
  /** The base of a relative `executable`. */
  readonly cwd: string;
  readonly platform?: string | undefined;
}

/**
 * Finds the CLI, without starting anything and without a shell. Resolves with an absolute path, which is used for the
 * version check and every start.
 *
 * Folders of PATH inside the current project are skipped: it may be an untrusted repository. Rejects with `StartError`:
 * `cli-not-found`, or `spawn` if the file at the path cannot be run. On Windows the path may be that of a batch file,
 * which is read and not run (`readShim`).
 */
export async function locateClaude({ executable, env, probe, cwd, platform }: LocateRequest): Promise<string> {
  const isWindows = (platform ?? process.platform) === "win32";
  const paths = isWindows ? win32 : posix;
  const wanted = executable ?? "claude";
  if (wanted.includes("/") || (isWindows && wanted.includes("\\"))) {
    return await checkPath(paths.resolve(cwd, wanted), probe);
  }
  const path = readVariable(env, "PATH", isWindows) ?? "";
  const folders = programFolders({ path, folders: [cwd], isWindows });
  const names = isWindows ? windowsNames(wanted, env) : [wanted];
  let unusable: string | undefined;
  for (const folder of folders) {
    for (const name of names) {
      const program = paths.join(folder, name);
      const state = await probe(program);
      if (state === "executable") return program;
      // As in a shell, a file that cannot be run is skipped; it is reported only if nothing better is found.
      if (state === "not-executable") unusable ??= program;
    }
  }
  const passedOver = path.split(paths.delimiter).filter((folder) => folder !== "" && !folders.includes(folder));
  throw unusable === undefined ? notInPath(wanted, folders, passedOver) : notExecutable(unusable);
}

async function checkPath(path: string, probe: ProbeExecutable): Promise<string> {
  const state = await probe(path);
  if (state === "executable") return path;
  if (state === "not-executable") throw notExecutable(path);
  if (state === "folder") {
    throw new StartError("spawn", `${path} is a folder, not a program. Give the path of the claude program in it.`);
  }
  throw new StartError(
    "cli-not-found",
    `There is no Claude Code CLI at ${path}. Correct claudeCode.executable, or leave it out to search PATH.`,
  );
}

/** As on Windows, a name without an extension gets those of PATHEXT, in order. Only these four are programs. */
function windowsNames(wanted: string, env: LocateRequest["env"]): readonly string[] {
  if (/\.(?:com|exe|bat|cmd)$/i.test(wanted)) return [wanted];
  const listed = (readVariable(env, "PATHEXT", true) ?? "").toLowerCase().split(";");
  const known = listed.filter((extension) => /^\.(?:com|exe|bat|cmd)$/.test(extension));
  return (known.length === 0 ? [".com", ".exe", ".bat", ".cmd"] : known).map((extension) => `${wanted}${extension}`);
}

function notExecutable(path: string): StartError {
  return new StartError(
    "spawn",
    `${path} exists but is not executable. Make it executable (chmod +x), or set executable to another one.`,
  );
}

function notInPath(wanted: string, folders: readonly string[], passedOver: readonly string[]): StartError {
  const where = folders.length === 0 ? "PATH, which names no folder" : `PATH (${folders.join(", ")})`;
  const why =
    passedOver.length === 0
      ? ""
      : ` Not searched, because they belong to the folder you are in: ${passedOver.join(", ")}.`;
  return new StartError(
    "cli-not-found",
    `The Claude Code CLI was not found: no ${JSON.stringify(wanted)} in ${where}. ` +
      `Install it with npm install -g @anthropic-ai/claude-code, or set executable to its path.${why}`,
  );
}
