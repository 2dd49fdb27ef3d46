import { Command, CommanderError } from "commander";
import { isStartError, type StartErrorCode } from "#domain";
import { plainText } from "#sinks";
import { addChatCommand } from "./commands/chat.ts";
import { addEmulateCommand } from "./commands/emulate.ts";
import { addFormatsCommand } from "./commands/formats.ts";
import { addRunCommand } from "./commands/run.ts";
import { type CommandIo, EXIT, type Outcome, systemIo } from "./io.ts";
import { readVersion } from "./version.ts";

/**
 * The command line. Resolves to the exit code; prints, but never ends the process itself.
 *
 * @example
 * process.exitCode = await main(process.argv.slice(2))
 */
export async function main(argv: readonly string[], io: CommandIo = systemIo()): Promise<number> {
  const outcome: Outcome = { code: EXIT.success };
  const program = createProgram(io, outcome);
  try {
    // Without a word on the command line, a conversation is what a person wants.
    await program.parseAsync(argv.length === 0 ? ["chat"] : [...argv], { from: "user" });
    return outcome.code;
  } catch (error) {
    return report(error, io);
  }
}

/**
 * `main` for the executable: ends the process when everything is written. Without this a tool that does not mind its
 * signal, or a stdin that nobody closes, would keep an aborted program alive.
 */
export async function mainAndExit(argv: readonly string[]): Promise<never> {
  const code = await main(argv);
  await Promise.all([process.stdout, process.stderr].map(written));
  process.exit(code);
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  // Called after all earlier writes, and also when the reader has left.
  return new Promise((resolve) => stream.write("", () => resolve()));
}

function createProgram(io: CommandIo, outcome: Outcome): Command {
  const program = new Command("millrace")
    .description("Runs any agent as one honest stream of events.")
    .version(readVersion(), "-v, --version")
    .exitOverride()
    .showHelpAfterError("(millrace --help shows every option)")
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(plainText(text)),
    })
    .addHelpText(
      "after",
      `
Examples:
  millrace "What is 25 + 17?"                  ask the built-in offline model; it calls a tool
  millrace run --backend anthropic/claude-sonnet-4-5 "Say hello"
  git diff | millrace run -                    the prompt from stdin
  millrace run --json "Say hello" | jq .type   one event per line
  millrace formats decode claude-code log.ndjson
  millrace emulate --port 4010                 the offline model as a server

Exit codes: 0 success, 1 the run failed, 2 wrong usage, 3 set-up is missing, 130 aborted.`,
    );
  addRunCommand(program, io, outcome);
  addChatCommand(program, io, outcome);
  addFormatsCommand(program, io, outcome);
  addEmulateCommand(program, io, outcome);
  return program;
}

const SETUP_CODES: ReadonlySet<StartErrorCode> = new Set<StartErrorCode>([
  "missing-key",
  "cli-not-found",
  "unsupported-cli-version",
]);

function report(error: unknown, io: CommandIo): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  if (isStartError(error)) {
    io.err.write(`millrace: ${plainText(error.message)}\n`);
    return SETUP_CODES.has(error.code) ? EXIT.setup : EXIT.usage;
  }
  // Not foreseen, so a mistake of ours: here a stack helps.
  io.err.write(`millrace: ${plainText(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
  return EXIT.failed;
}
