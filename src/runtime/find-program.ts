import { posix, win32 } from "node:path";
import type { ProbeExecutable } from "../backends/claude-code/locate.ts";
import { readVariable } from "../backends/claude-code/environment.ts";
import type { CommandSettings } from "../backends/command/settings.ts";

export interface ProgramSearch {
  readonly probe: ProbeExecutable;
  /** The working folder of this process. */
  readonly folder: string;
  readonly platform?: string | undefined;
}

/** What is missing to start a command, with the remedy; `undefined` if nothing is. Starts nothing. */
export async function findMissing(
  { executable, cwd, env }: Pick<CommandSettings, "executable" | "cwd" | "env">,
  { probe, folder, platform = process.platform }: ProgramSearch,
): Promise<string | undefined> {
  const isWindows = platform === "win32";
  const paths = isWindows ? win32 : posix;
  const place = paths.resolve(folder, cwd ?? "");
  if (cwd !== undefined && (await probe(place)) !== "folder") {
    return `The command ${executable} cannot be started in ${place}, which is not a folder. Create it, or correct cwd.`;
  }
  const files = (path: string): readonly string[] => (isWindows ? [path, `${path}.exe`, `${path}.com`] : [path]);
  if (executable.includes("/") || (isWindows && executable.includes("\\"))) {
    const path = paths.resolve(place, executable);
    return describeState(path, await bestOf(files(path), probe));
  }
  const folders = (readVariable(env, "PATH", isWindows) ?? "").split(paths.delimiter).filter((one) => one !== "");
  const found = await bestOf(
    folders.flatMap((one) => files(paths.resolve(place, one, executable))),
    probe,
  );
  if (found?.state === "executable") return undefined;
  if (found?.state === "not-executable") return describeState(found.path, found);
  const where = folders.length === 0 ? "PATH, which names no folder" : `PATH (${folders.join(", ")})`;
  return `The program ${executable} was not found in ${where}. Install it, or give its path.`;
}

interface Found {
  readonly path: string;
  readonly state: Awaited<ReturnType<ProbeExecutable>>;
}

/** The first file that can be run, otherwise the first that is there. */
async function bestOf(candidates: readonly string[], probe: ProbeExecutable): Promise<Found | undefined> {
  let best: Found | undefined;
  for (const path of candidates) {
    const state = await probe(path);
    if (state === "executable") return { path, state };
    if (state !== "missing" && (best === undefined || best.state === "folder")) best = { path, state };
  }
  return best;
}

function describeState(path: string, found: Found | undefined): string | undefined {
  if (found?.state === "executable") return undefined;
  if (found?.state === "folder") return `${path} is a folder, not a program. Give the path of the program in it.`;
  if (found?.state === "not-executable") {
    return `${found.path} may not be executed. Make it executable (chmod +x), or give another program.`;
  }
  return `There is no program at ${path}. Install it, or correct the path.`;
}
