import type { AgentBackend } from "#backends";
import { checkInput, checkOptionNames, describeValue, oneOf, StartError } from "#domain";
import type { Format } from "#dialects";
import { createSecretMask } from "#secrets";
import { commandSecrets, createCommandBackend } from "../backends/command/backend.ts";
import { requireFormatName } from "./format-names.ts";
import { madeBy } from "./made-backend.ts";
import { startGuarded } from "./guarded-process.ts";
import { coverStartErrors } from "./run-secrets.ts";
import { systemWorld, type World } from "./world.ts";

/** How a foreign command is started and read. */
export interface CommandOptions {
  /** The format of what it prints: a name of `millrace formats list`, such as `"text"`, or a format. Default `"ndjson"`. */
  readonly format?: string | Format;
  /** How the prompt reaches it: on stdin (default), as its last argument, or not at all. */
  readonly input?: "stdin" | "argument" | "none";
  readonly cwd?: string;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with what it writes to stderr. */
  readonly onStderr?: (text: string) => void;
}

const OPTION_NAMES = ["format", "input", "cwd", "env", "onStderr"] as const satisfies readonly (keyof CommandOptions)[];

/**
 * A foreign command as a backend: what it prints is read as the events of a run. It is started without a shell, once for
 * each turn; an exit code other than 0 fails the run, and an abort ends everything it has started.
 *
 * Guards on input and output hold, and so do the limits of time, silence, size, tokens and cost. Rules about tools
 * cannot: nobody asks us before a foreign command does something, so a run with such rules is refused.
 *
 * @throws StartError `invalid-option` or `unknown-format`.
 * @example
 * const wordCount = command(["wc", "-w"], { format: "text" })
 * const { text } = await run(wordCount, "How many words are these?").result()
 */
export function command(argv: readonly string[], options: CommandOptions = {}): AgentBackend {
  return commandIn(argv, options, systemWorld());
}

/** `command` with its seams in hand. */
export function commandIn(argv: readonly string[], options: CommandOptions, world: World): AgentBackend {
  return coverStartErrors([argv, options], world, () => createCommand(argv, options, world));
}

function createCommand(argv: readonly string[], options: CommandOptions, world: World): AgentBackend {
  if (!Array.isArray(argv) || argv.length === 0 || !argv.every((word) => typeof word === "string") || argv[0] === "") {
    throw new StartError(
      "invalid-option",
      `command: argv is ${describeValue(argv)}. Give the program and its arguments as a list of texts.`,
    );
  }
  checkOptionNames(options, OPTION_NAMES, "command");
  const { format = "ndjson", input = "stdin", cwd, env = {}, onStderr } = options;
  checkInput(oneOf(["stdin", "argument", "none"]), input, "command: input");
  const [executable = "", ...args] = argv;
  const variables = { ...givenVariables(world.env), ...env };
  const backend = createCommandBackend(
    {
      executable,
      args,
      format: typeof format === "string" ? builtIn(format) : { name: format.name, load: async () => format },
      input,
      cwd,
      env: variables,
      onStderr: onStderr && coverPieces(onStderr, commandSecrets({ executable, args, env: variables })),
    },
    { clock: world.clock, start: (request) => startGuarded(request, world) },
  );
  // A format of the caller's own is code, and no tape can hold it.
  const { onStderr: _, format: __, ...data } = options;
  const program = {
    argv,
    options: { ...data, ...(typeof format === "string" && { format }) },
    hasOwnFormat: typeof format !== "string",
  };
  return madeBy(backend, { remake: (other) => commandIn(argv, options, other), program: { $command: program } });
}

/** Known by name now, and loaded when the command is opened. */
function builtIn(given: string): { readonly name: string; load(): Promise<Format> } {
  const name = requireFormatName(given);
  return { name, load: async () => (await import("./formats.ts")).formatRegistry().require(name) };
}

/** Passes a text on piece by piece, without the secrets in it, wherever it is cut. Nothing is held back. */
function coverPieces(take: (text: string) => void, secrets: readonly string[]): (text: string) => void {
  const mask = createSecretMask(secrets)?.stream();
  return mask === undefined ? take : (text) => take(mask.push(text) + mask.tear());
}

function givenVariables(env: World["env"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
