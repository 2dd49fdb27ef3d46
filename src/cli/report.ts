import { CommanderError } from "commander";
import { adviceFor, isStartError } from "#domain";
import { plainText } from "#sinks";
import { type CommandIo, EXIT } from "./io.ts";
import { say } from "./say.ts";

/** Codes for something that is missing on this machine, not on the command line. */
export const SETUP_CODES: ReadonlySet<string> = new Set([
  "missing-key",
  "cli-not-found",
  "unsupported-cli-version",
  "unknown-version",
  "version-detection",
]);

/** Reports an error that occurred before a run began, and returns the exit code. */
export function report(error: unknown, io: CommandIo): number {
  // Commander has already printed it.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  if (isStartError(error)) {
    // A mistake in a configuration is corrected there: its message names the file and the field, not a flag.
    const text = error.code === "invalid-config" ? error.message : adviceFor("shell", error.message);
    say(`millrace: ${plainText(text)}`, io);
    return SETUP_CODES.has(error.code) ? EXIT.setup : EXIT.usage;
  }
  // Unforeseen, so a mistake of ours: here a stack helps.
  io.err.write(`millrace: ${plainText(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
  return EXIT.failed;
}
