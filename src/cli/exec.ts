import type { ProcessHandle } from "#domain";
import { plainText } from "#sinks";
import { decodeStream, formatRegistry, startGuarded } from "#runtime";
import { findFormat } from "./find-format.ts";
import type { CommandIo } from "./io.ts";
import type { Showable } from "./show.ts";
import { splitWords } from "./split-words.ts";

export interface ExecFlags {
  readonly exec: string;
  readonly format?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

/** A foreign command as a run. */
export interface ExecRun {
  readonly run: Showable;
  /** Resolves when its process is gone. */
  readonly gone: Promise<void>;
}

const STDERR_TAIL = 2000;

/**
 * Starts a foreign command, without a shell, and decodes what it writes as events. A command that fails is a run that
 * fails, whatever it had written; when the run ends, so does everything the command has started.
 */
export async function startExec(flags: ExecFlags, prompt: string, io: CommandIo): Promise<ExecRun> {
  const [executable = "", ...args] = splitWords(flags.exec, "--exec");
  const format = flags.format === undefined ? formatRegistry().require("ndjson") : await findFormat(flags.format, io);
  const env = Object.fromEntries(
    Object.entries(io.world.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const { handle, stop } = await startGuarded({ executable, args, cwd: io.cwd, env }, io.world);
  const stderr = followStderr(handle, flags, io);
  feed(handle, prompt);
  const run = decodeStream(format, readOutput(handle, executable, stderr), { keepRaw: true }, io.world);
  const gone = run.done().then(stop);
  return { run, gone };
}

/** The prompt on stdin, for commands that read one. */
function feed(handle: ProcessHandle, prompt: string): void {
  if (prompt === "") handle.endInput();
  else {
    // A command that reads no input closes it, which is no failure of ours.
    const written = handle.write(new TextEncoder().encode(prompt)).catch(() => undefined);
    written.then(() => handle.endInput()).catch(() => undefined);
  }
}

async function* readOutput(handle: ProcessHandle, name: string, stderr: Promise<string>): AsyncGenerator<Uint8Array> {
  yield* handle.stdout;
  const { code, signal } = await handle.exit;
  if (code === 0) return;
  const said = (await stderr).trim();
  const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
  throw new Error(`The command ${name} ${how}${said === "" ? "" : `: ${said}`}`);
}

/** Shows what a command says on stderr, and remembers its last words. */
async function followStderr(handle: ProcessHandle, flags: ExecFlags, io: CommandIo): Promise<string> {
  const decoder = new TextDecoder();
  const isShown = flags.quiet !== true && flags.json !== true;
  let tail = "";
  try {
    for await (const bytes of handle.stderr) {
      const text = plainText(decoder.decode(bytes, { stream: true }));
      if (isShown) io.err.write(text);
      tail = (tail + text).slice(-STDERR_TAIL);
    }
  } catch {
    // What it said until then is all there is.
  }
  return tail;
}
