import { CommanderError } from "commander";
import { adviceFor, isStartError } from "#domain";
import { plainText } from "#sinks";
import { type CommandIo, EXIT } from "./io.ts";
import { say } from "./say.ts";

/** Codes that say: what is missing is not on the command line but on this machine. */
export const SETUP_CODES: ReadonlySet<string> = new Set([
  "missing-key",
  "cli-not-found",
  "unsupported-cli-version",
  "unknown-version",
  "version-detection",
]);

/** Says what went wrong before a run began, and gives the exit code. */
export function report(error: unknown, io: CommandIo): number {
  // It has been said already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  if (isStartError(error)) {
    say(`millrace: ${plainText(adviceFor("shell", error.message))}`, io);
    return SETUP_CODES.has(error.code) ? EXIT.setup : EXIT.usage;
  }
  // Not foreseen, so a mistake of ours: here a stack helps.
  io.err.write(`millrace: ${plainText(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
  return EXIT.failed;
}
