import { plainText } from "#sinks";
import { commandIn, formatRegistry, startRun } from "#runtime";
import { findFormat } from "./find-format.ts";
import type { AskFlags } from "./flags/ask-flags.ts";
import type { CommandIo } from "./io.ts";
import { planExec } from "./plan-ask.ts";
import { splitWords } from "./split-words.ts";

export interface ExecFlags extends AskFlags {
  readonly exec: string;
  readonly format?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

/**
 * Starts a foreign command, without a shell, and reads its output as events. Guards and limits of the flags and the
 * configuration apply; rules that cannot be applied are refused before it starts. If the command fails, the run fails,
 * whatever its output was; if the run ends first, the command is stopped.
 */
export async function startExec(flags: ExecFlags, prompt: string, io: CommandIo): Promise<ReturnType<typeof startRun>> {
  const argv = splitWords(flags.exec, "--exec");
  const format = flags.format === undefined ? formatRegistry().require("ndjson") : await findFormat(flags.format, io);
  const isShown = flags.quiet !== true && flags.json !== true;
  const backend = commandIn(
    argv,
    {
      format,
      input: prompt === "" ? "none" : "stdin",
      cwd: io.cwd,
      ...(isShown && { onStderr: (text: string) => io.err.write(plainText(text)) }),
    },
    io.world,
  );
  const options = await planExec(flags, io);
  // A run needs an input; without a prompt it is the command itself.
  const input = prompt === "" ? flags.exec : prompt;
  // Formats with templates show the content of the frames.
  return startRun(backend, input, { ...options, keepRaw: true }, io.world);
}
