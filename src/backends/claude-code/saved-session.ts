import { join } from "node:path";
import { isRecord, parseJson } from "#wire";
import type { ClaudeCodeWorld } from "./world.ts";
import type { SessionFiles } from "../backend.ts";
import type { ClaudeCodeOptions } from "./options.ts";

/**
 * Whether the CLI can continue a session: it keeps each one in a file for its working folder, and searches only there.
 * It adds lines with a delay, so the file of a CLI that was killed may not have a message yet; then it denies that it
 * knows the session. If this is wrong, then on the safe side: a session that is not found here is sent to the CLI again.
 */
export async function isSessionSaved(sessionId: string, options: SessionFolder, world: SessionWorld): Promise<boolean> {
  const path = await findSession(sessionId, options, world);
  const bytes = path === undefined ? undefined : await world.files.read(path).catch(() => undefined);
  return bytes !== undefined && hasMessage(new TextDecoder().decode(bytes));
}

/** Where the file of a session is, if there is one. */
async function findSession(
  sessionId: string,
  options: SessionFolder,
  world: SessionWorld,
): Promise<string | undefined> {
  try {
    const path = await findPath(sessionId, options, world);
    return path !== undefined && (await world.files.exists(path)) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a session has a whole message. Usually one of its first lines is one. */
function hasMessage(text: string): boolean {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const { value } = parseJson(text.slice(start, end === -1 ? undefined : end));
    if (isRecord(value) && (value["type"] === "user" || value["type"] === "assistant")) return true;
    if (end === -1) return false;
    start = end + 1;
  }
  return false;
}

/** Reads and writes the files of sessions. Secrets are masked in what is read, because it is stored. */
export function createSessionFiles(
  options: SessionFolder,
  world: SessionWorld,
  mask: (text: string) => string,
): SessionFiles {
  const at = (cwd: string | undefined): SessionFolder => (cwd === undefined ? options : { ...options, cwd });
  return {
    async read(sessionId, cwd) {
      const path = await findSession(sessionId, at(cwd), world);
      if (path === undefined) return undefined;
      return new TextEncoder().encode(mask(new TextDecoder().decode(await world.files.read(path))));
    },
    async write(sessionId, data, cwd) {
      const path = await findPath(sessionId, at(cwd), world);
      if (path === undefined) return;
      // One that is as long has the same lines, and its secrets are not masked.
      const isBehind = !(await world.files.exists(path)) || countLines(await world.files.read(path)) < countLines(data);
      if (isBehind) await world.files.write(path, data);
    },
  };
}

/** The CLI only ever adds lines. */
function countLines(bytes: Uint8Array): number {
  return bytes.reduce((lines, byte) => (byte === 0x0a ? lines + 1 : lines), 0);
}

type SessionFolder = Pick<ClaudeCodeOptions, "cwd" | "env">;
type SessionWorld = Pick<ClaudeCodeWorld, "files" | "env" | "cwd">;

async function findPath(
  sessionId: string,
  options: SessionFolder,
  { files, env, cwd }: SessionWorld,
): Promise<string | undefined> {
  // It becomes part of a path.
  if (!/^[\w-]{1,100}$/.test(sessionId)) return undefined;
  const variables = { ...env, ...options.env };
  const home = variables["HOME"] ?? variables["USERPROFILE"];
  const folder = variables["CLAUDE_CONFIG_DIR"] ?? (home === undefined ? undefined : join(home, ".claude"));
  if (folder === undefined) return undefined;
  const project = (await files.realPath(options.cwd ?? cwd)).replaceAll(/[^a-zA-Z0-9]/g, "-");
  return join(folder, "projects", project, `${sessionId}.jsonl`);
}
