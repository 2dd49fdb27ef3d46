import { stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { type ProcessRequest, StartError } from "#domain";

/**
 * Rejects values that the system would misread, or that Node would repeat in its own error message, secrets included.
 */
export function refuseUnsafe(request: ProcessRequest): void {
  const { executable, args, cwd, env } = request;
  if (executable === "") throw new StartError("spawn", "The executable is empty. Give a name or a path.");
  if (/\.(?:cmd|bat)$/i.test(executable)) {
    throw new StartError("spawn", `${executable} is a batch file, which needs a shell. Name the program it starts.`);
  }
  const argument = args.findIndex(hasNul);
  const variable = Object.entries(env).find(([key, value]) => hasNul(key) || key.includes("=") || hasNul(value));
  if (hasNul(executable)) throw new StartError("spawn", "The executable holds a NUL byte. Remove it.");
  if (cwd !== undefined && hasNul(cwd))
    throw new StartError("spawn", "The working folder holds a NUL byte. Remove it.");
  if (argument !== -1)
    throw new StartError("spawn", `Argument ${argument} holds a NUL byte. Remove it, or send it by stdin.`);
  if (variable !== undefined) {
    throw new StartError(
      "spawn",
      `The environment variable ${JSON.stringify(variable[0])} holds a NUL byte or has "=" in its name.`,
    );
  }
}

/** Why a process could not be started, as an error that distinguishes a missing folder from a missing executable. */
export async function explainStartFailure(request: ProcessRequest, error: NodeJS.ErrnoException): Promise<StartError> {
  const { executable, cwd } = request;
  const details = { cause: error };
  // A missing folder gives the same ENOENT as a missing executable, so the folder is checked first.
  const folder = cwd === undefined || cwd === "" ? undefined : await describeFolder(cwd);
  if (folder !== undefined) return new StartError("spawn", folder, details);
  switch (error.code) {
    case "ENOENT":
      return isPath(executable) && (await exists(cwd === undefined ? executable : resolve(cwd, executable)))
        ? new StartError(
            "spawn",
            `${executable} exists, but the interpreter that its first line names does not.`,
            details,
          )
        : new StartError("cli-not-found", `${executable} was not found. Install it, or give its path.`, details);
    case "EACCES":
      return new StartError("spawn", `${executable} may not be executed (EACCES). Check its mode and owner.`, details);
    case "E2BIG":
      return new StartError(
        "spawn",
        "The arguments and the environment are too long (E2BIG). Send long text by stdin.",
        details,
      );
    default:
      return new StartError("spawn", `${executable} could not be started: ${error.code ?? error.message}.`, details);
  }
}

/** What is wrong with a working folder; `undefined` when nothing is. */
async function describeFolder(cwd: string): Promise<string | undefined> {
  try {
    const found = await stat(cwd);
    return found.isDirectory() ? undefined : `The working folder ${cwd} is not a folder.`;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === "ENOENT"
      ? `The working folder ${cwd} does not exist (ENOENT). Create it, or leave it out.`
      : `The working folder ${cwd} cannot be used (${code}).`;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function isPath(executable: string): boolean {
  return isAbsolute(executable) || executable.includes("/");
}

function hasNul(text: string): boolean {
  return text.includes("\0");
}
