import { type Clock, describeThrown, type ProcessHandle, type ProcessTag, type Spawn } from "#domain";
import { type CliVersion, parseVersion } from "./cli-version.ts";
import type { CliCommand } from "./windows-shim.ts";

/** The outcome of asking a CLI for its version. */
export type VersionDetection =
  | { readonly kind: "found"; readonly version: CliVersion }
  | { readonly kind: "unreadable"; readonly output: string }
  | { readonly kind: "failed"; readonly reason: string };

export interface DetectRequest {
  /** The CLI, as `locateClaude` found it. */
  readonly path: string;
  /** How to start it. Default: by its path. */
  readonly command?: CliCommand;
  readonly env: Readonly<Record<string, string>>;
  readonly spawn: Spawn;
  readonly clock: Clock;
  /** One of the variables of `env`, with which `stop` also ends what the CLI has started. */
  readonly tag?: ProcessTag;
  readonly stop?: (handle: ProcessHandle) => Promise<unknown>;
  /** Default 5000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5000;
/** A version is one line; a CLI that writes more than this is not one we know. */
const MAX_OUTPUT_BYTES = 65_536;

/**
 * Asks a CLI for its version. Never rejects; one that does not answer in time is killed, and gone when this resolves.
 */
export async function detectVersion(request: DetectRequest): Promise<VersionDetection> {
  const { path, env, tag, spawn, clock, timeoutMs = TIMEOUT_MS } = request;
  const { executable, args } = request.command ?? { executable: path, args: [] };
  let handle: ProcessHandle;
  try {
    handle = await spawn({ executable, args: [...args, "--version"], env, ...(tag !== undefined && { tag }) });
  } catch (error) {
    return { kind: "failed", reason: describeThrown(error) };
  }
  let isLate = false;
  const takeBack = clock.after(timeoutMs, () => {
    isLate = true;
    handle.kill("SIGKILL");
  });
  handle.endInput();
  const [said, saidAside, exit] = await Promise.all([readSome(handle.stdout), readSome(handle.stderr), handle.exit]);
  takeBack();
  await request.stop?.(handle);
  if (isLate) return { kind: "failed", reason: `${path} --version gave no answer within ${timeoutMs} ms.` };
  if (exit.code !== 0) {
    const how = exit.code === null ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`;
    const stderr = saidAside.text.trim();
    const aside = stderr === "" ? "" : `, and said ${JSON.stringify(stderr.slice(0, 500))}`;
    return { kind: "failed", reason: `${path} --version ${how}${aside}.` };
  }
  const version = parseVersion(said.text);
  if (version !== undefined) return { kind: "found", version };
  if (said.failure === undefined) return { kind: "unreadable", output: said.text.trim() };
  return { kind: "failed", reason: `What ${path} --version said could not be read: ${said.failure}` };
}

/** Reads to the end but keeps only the beginning: a process whose output is not read would never end. */
async function readSome(
  stream: AsyncIterable<Uint8Array>,
): Promise<{ readonly text: string; readonly failure?: string }> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    for await (const bytes of stream) {
      if (size < MAX_OUTPUT_BYTES) text += decoder.decode(bytes.subarray(0, MAX_OUTPUT_BYTES - size), { stream: true });
      size += bytes.length;
    }
  } catch (error) {
    // The exit may explain more than a broken pipe.
    return { text, failure: describeThrown(error) };
  }
  return { text };
}
