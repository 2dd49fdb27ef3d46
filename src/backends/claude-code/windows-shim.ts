import { win32 } from "node:path";
import { StartError } from "#domain";

/** How to start the CLI: a program, and the arguments before our own. */
export interface CliCommand {
  readonly executable: string;
  readonly args: readonly string[];
}

export interface ShimRequest {
  /** The batch file. */
  readonly path: string;
  /** Rejects if the file cannot be read. */
  readonly read: (path: string) => Promise<Uint8Array>;
  /** The Node that runs us. */
  readonly node: string;
}

/** A shim is smaller than a kilobyte; a longer file is some other program. */
const MAX_SHIM_BYTES = 16_384;
/** A path below the folder of the shim, as npm, pnpm and Yarn write it: `"%dp0%\…"` or `"%~dp0\…"`. */
const TARGET = /"%(?:~dp0|dp0%)\\?([^"%]+)"/gi;

/**
 * What a batch file of npm starts. It is read and never run: `cmd.exe` interprets characters in arguments as commands,
 * however they are quoted.
 *
 * Rejects with `StartError` if the file is not such a shim.
 */
export async function readShim({ path, read, node }: ShimRequest): Promise<CliCommand> {
  let text: string;
  try {
    const bytes = await read(path);
    if (bytes.length > MAX_SHIM_BYTES) throw refusal(path);
    text = new TextDecoder().decode(bytes);
  } catch (error) {
    throw error instanceof StartError
      ? error
      : new StartError("spawn", `${path} cannot be read. Set executable to the program it starts.`, { cause: error });
  }
  const targets = new Set<string>();
  for (const [, target = ""] of text.matchAll(TARGET)) {
    if (!/(?:^|\\)node\.exe$/i.test(target)) targets.add(win32.resolve(win32.dirname(path), target));
  }
  const [target = ""] = targets;
  const isScript = /\.[cm]?js$/i.test(target);
  if (targets.size !== 1 || !text.includes("%*") || !(isScript || /\.exe$/i.test(target))) throw refusal(path);
  return isScript ? { executable: node, args: [target] } : { executable: target, args: [] };
}

function refusal(path: string): StartError {
  return new StartError(
    "spawn",
    `${path} is a batch file that npm has not written, and a batch file needs a shell. ` +
      "Set executable to the program it starts (claude.exe).",
  );
}
