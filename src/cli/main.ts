import { Command } from "commander";
import { nearestName } from "#domain";
import { readVersion } from "#runtime";
import { plainText } from "#sinks";
import { addChatCommand } from "./commands/chat.ts";
import { addCompareCommand } from "./commands/compare.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addEmulateCommand } from "./commands/emulate.ts";
import { addExplainCommand } from "./commands/explain.ts";
import { addFormatsCommand } from "./commands/formats.ts";
import { addReplayCommand } from "./commands/replay.ts";
import { addRunCommand } from "./commands/run.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addStoreCommand } from "./commands/store.ts";
import { addTrustCommand } from "./commands/trust.ts";
import { coverOutput } from "./cover-output.ts";
import { flagMessage } from "./flags/flag-message.ts";
import { normaliseFlags } from "./flags/normalise.ts";
import { type CommandIo, EXIT, type Outcome, systemIo } from "./io.ts";
import { report } from "./report.ts";
import { foldText, say } from "./say.ts";
import { usageError } from "./usage-error.ts";

/**
 * The command line. Prints, and resolves with the exit code; never ends the process itself.
 *
 * @example
 * process.exitCode = await main(process.argv.slice(2))
 */
export async function main(argv: readonly string[], real: CommandIo = systemIo()): Promise<number> {
  const io = coverOutput(real, argv);
  const outcome: Outcome = { code: EXIT.success };
  const program = createProgram(io, outcome);
  let code: number;
  try {
    checkCommand(argv, program);
    // Without arguments, start a conversation.
    await program.parseAsync(argv.length === 0 ? ["chat"] : normaliseFlags(argv), { from: "user" });
    ({ code } = outcome);
  } catch (error) {
    code = report(error, io);
  }
  await io.written();
  const lost = real.lost?.();
  if (lost === undefined) return code;
  say(
    `millrace: The output could not be written (${lost}), and is not complete. Check the disk, and run it again.`,
    io,
  );
  await io.written();
  return EXIT.failed;
}

/**
 * `main` for the executable: ends the process when everything is written. Otherwise a tool that ignores its signal, or
 * an open stdin, would keep an aborted program alive.
 */
export async function mainAndExit(argv: readonly string[]): Promise<never> {
  const io = systemIo();
  // Node would print the thrown value as it is, with every field, secrets included.
  process.on("uncaughtException", (error) => {
    const code = report(error, coverOutput(io, argv));
    const end = (): never => process.exit(code);
    io.written().then(end, end);
  });
  process.exit(await main(argv, io));
}

/** The commands, in the order of the help. A new one is a line here. */
const COMMANDS: readonly ((program: Command, io: CommandIo, outcome: Outcome) => void)[] = [
  addRunCommand,
  addChatCommand,
  addExplainCommand,
  addDoctorCommand,
  addCompareCommand,
  addReplayCommand,
  addFormatsCommand,
  addEmulateCommand,
  addServeCommand,
  addStoreCommand,
  addTrustCommand,
  addCompletionCommand,
];

function createProgram(io: CommandIo, outcome: Outcome): Command {
  const program = new Command("millrace")
    .description("Runs any agent as one honest stream of events.")
    .version(readVersion(), "-v, --version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out.write(foldText(text, io.out)),
      writeErr: (text) => io.err.write(foldText(plainText(text), io.err)),
      getOutHelpWidth: () => io.out.columns,
      getErrHelpWidth: () => io.err.columns,
    })
    .addHelpText(
      "after",
      `
Examples:
  millrace "What is 25 + 17?"                  ask the built-in offline model; it calls a tool
  millrace run --backend anthropic/claude-sonnet-4-6 "Say hello"
  git diff | millrace run "Review this"        words first, then stdin
  millrace run --json "Say hello" | jq .type   one event per line
  millrace explain -b claude-code --ask Bash   which way a run would go, and why
  millrace compare prompts.json -b offline -b openai/gpt-5.6-sol
  millrace run --record bug.tape "Say hello"   a tape; millrace replay bug.tape plays it
  millrace formats decode claude-code log.ndjson
  millrace emulate --port 4010                 the offline model as a server
  millrace serve                               threads and chat over HTTP, with a page

Exit codes: 0 success, 1 the run failed, 2 wrong usage, 3 set-up is missing, 130 aborted.`,
    );
  for (const add of COMMANDS) add(program, io, outcome);
  wordErrors(program, "");
  return program;
}

/** Every command reports errors with our own messages, which name its help. */
function wordErrors(command: Command, path: string): void {
  command.configureOutput({ outputError: (text, write) => write(`millrace: ${flagMessage(text, path)}\n`) });
  for (const below of command.commands) wordErrors(below, `${path} ${below.name()}`.trimStart());
}

/**
 * A first word that resembles a command was probably meant as one, if what follows looks like a command line: nothing,
 * a flag, or one more word. A longer sentence is a prompt.
 */
function checkCommand(argv: readonly string[], program: Command): void {
  const [word = "", next = ""] = argv;
  const names = program.commands.map((command) => command.name());
  if (word === "help" && /^[a-z]/i.test(next) && ![...names, "help"].includes(next)) {
    throw usageError(`There is no command "${next}". The commands are: ${names.join(", ")}.`);
  }
  if (!/^[a-z]+$/i.test(word) || (argv.length > 2 && !next.startsWith("-") && !(argv[2] ?? "").startsWith("-"))) return;
  if (names.includes(word) || word === "help") return;
  const near = nearestName(word, names);
  if (near === undefined) return;
  const prompt = [word, ...argv.slice(1).filter((one) => !one.startsWith("-"))].join(" ");
  throw usageError(
    `There is no command "${word}". Did you mean millrace ${near}? To ask an agent this, write millrace run ${JSON.stringify(prompt)}.`,
  );
}
