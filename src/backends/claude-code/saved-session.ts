import { join } from "node:path";
import type { ClaudeCodeWorld } from "./launch.ts";
import type { ClaudeCodeOptions } from "./options.ts";

/**
 * Whether the CLI can go on with a session: it keeps each in a file of the folder it worked in, and looks for it there
 * alone. A guess that errs on one side: what is not found here is told to the CLI again.
 */
export async function isSessionSaved(
  sessionId: string,
  options: Pick<ClaudeCodeOptions, "cwd" | "env">,
  { files, env, cwd }: Pick<ClaudeCodeWorld, "files" | "env" | "cwd">,
): Promise<boolean> {
  // It becomes part of a path.
  if (!/^[\w-]{1,100}$/.test(sessionId)) return false;
  const variables = { ...env, ...options.env };
  const home = variables["HOME"] ?? variables["USERPROFILE"];
  const folder = variables["CLAUDE_CONFIG_DIR"] ?? (home === undefined ? undefined : join(home, ".claude"));
  if (folder === undefined) return false;
  try {
    const project = (await files.realPath(options.cwd ?? cwd)).replaceAll(/[^a-zA-Z0-9]/g, "-");
    return await files.exists(join(folder, "projects", project, `${sessionId}.jsonl`));
  } catch {
    return false;
  }
}
