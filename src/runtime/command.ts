import type { AgentBackend } from "#backends";
import type { Format } from "#dialects";
import { checkInput, checkOptionNames, describeValue, nearestName, oneOf, StartError } from "#domain";
import { createSecretMask, isSecretVariable, secretsOfAddress } from "#secrets";
import { probeExecutable } from "#transports";
import { commandSecrets, createCommandBackend } from "../backends/command/backend.ts";
import { findMissing } from "./find-program.ts";
import { startGuarded } from "./guarded-process.ts";
import { madeBy } from "./made-backend.ts";
import { coverStartErrors } from "./run-secrets.ts";
import { systemWorld, type World } from "./world.ts";

/** How a command is started and its output read. */
export interface CommandOptions {
  /**
   * The format of its output: a name from `millrace formats list`, such as `"text"`, or a format. Default `"ndjson"`.
   */
  readonly format?: string | Format;
  /** How the prompt is passed: on stdin (default), as the last argument, or not at all. */
  readonly input?: "stdin" | "argument" | "none";
  readonly cwd?: string;
  /** Variables in addition to those of this process, which are passed on without Millrace's own secrets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the text the command writes to stderr. */
  readonly onStderr?: (text: string) => void;
}

const OPTION_NAMES = ["format", "input", "cwd", "env", "onStderr"] as const satisfies readonly (keyof CommandOptions)[];

/**
 * Any command as a backend: its output is read as the events of a run. It is started without a shell, once for each
 * turn; an exit code other than 0 fails the run, and an abort ends everything the command has started.
 *
 * Guards on input and output apply, and so do the limits of time, silence, size, tokens and cost. Rules about tools
 * cannot apply, because the command does not ask before it acts; a run with such rules is refused.
 *
 * @throws StartError `invalid-option` or `unknown-format`.
 * @example
 * const wordCount = command(["wc", "-w"], { format: "text" })
 * const { text } = await run(wordCount, "How many words are these?").result()
 */
export function command(argv: readonly string[], options: CommandOptions = {}): AgentBackend {
  return commandIn(argv, options, systemWorld());
}

/** `command` with its seams passed in. */
export function commandIn(argv: readonly string[], options: CommandOptions, world: World): AgentBackend {
  return coverStartErrors([argv, options], world, () => createCommand(argv, options, world));
}

function createCommand(argv: readonly string[], options: CommandOptions, world: World): AgentBackend {
  if (!Array.isArray(argv) || argv.length === 0 || !argv.every((word) => typeof word === "string") || argv[0] === "") {
    throw new StartError(
      "invalid-option",
      `command: argv is ${describeValue(argv)}. Give the program and its arguments as a list of strings.`,
    );
  }
  checkOptionNames(options, OPTION_NAMES, "command");
  const { format = "ndjson", input = "stdin", cwd, env = {}, onStderr } = options;
  checkInput(oneOf(["stdin", "argument", "none"]), input, "command: input");
  const [executable = "", ...args] = argv;
  const variables = { ...inheritedVariables(world.env), ...env };
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
    {
      clock: world.clock,
      start: (request) => startGuarded(request, world),
      async missing() {
        const search = { probe: probeExecutable, folder: process.cwd() };
        const text = await findMissing({ executable, cwd, env: variables }, search);
        return text && (createSecretMask(commandSecrets({ executable, args, env: variables }))?.text(text) ?? text);
      },
    },
  );
  // A custom format is code, which a tape cannot hold.
  const { onStderr: _, format: __, ...data } = options;
  const program = {
    argv,
    options: { ...data, ...(typeof format === "string" && { format }) },
    hasOwnFormat: typeof format !== "string",
  };
  return madeBy(backend, { remake: (other) => commandIn(argv, options, other), program: { $command: program } });
}

/** The name is checked now; the format is loaded when the command is opened. */
function builtIn(given: string): { readonly name: string; load(): Promise<Format> } {
  const name = requireFormatName(given);
  return { name, load: async () => (await import("./formats.ts")).formatRegistry().require(name) };
}

/** Passes text on piece by piece, with the secrets in it masked, even those split across pieces. Holds nothing back. */
function coverPieces(take: (text: string) => void, secrets: readonly string[]): (text: string) => void {
  const mask = createSecretMask(secrets)?.stream();
  return mask === undefined ? take : (text) => take(mask.push(text) + mask.tear());
}

/** A shorter text is the value of many variables by chance. */
const SHORTEST_COPY = 6;

/** Where the server keeps what all tenants have said. An address may need no password. */
const STORE_VARIABLES: readonly string[] = ["MILLRACE_STORE", "MILLRACE_QUEUE"];

/**
 * The variables that a command inherits: without the secrets of Millrace itself (`MILLRACE_TOKEN`, `MILLRACE_STORE` …),
 * under whatever name they are there. A command answers people who must not learn the token of the server, nor read its
 * store.
 */
function inheritedVariables(env: World["env"]): Record<string, string> {
  const own = Object.entries(env).filter(([name]) => /^MILLRACE_/i.test(name) && isSecretVariable(name));
  const places = Object.entries(env).filter(([name]) => STORE_VARIABLES.includes(name.toUpperCase()));
  // The driver of Postgres takes from these what its address lacks.
  const isPostgres = places.some(([, url = ""]) => /^postgres/i.test(url));
  const passwords = isPostgres ? Object.keys(env).filter((name) => /^PGPASS(?:WORD|FILE)$/i.test(name)) : [];
  const values = [...own, ...places].flatMap(([, value = ""]) => [value, ...secretsOfAddress(value)]);
  const secrets = new Set(values.filter((value) => value.length >= SHORTEST_COPY));
  const names = new Set([...[...own, ...places].map(([name]) => name), ...passwords]);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || names.has(name) || secrets.has(value) ? [] : [[name, value]],
    ),
  );
}

/**
 * The built-in formats with their aliases. Only the names, so that one can be checked without loading the formats:
 * declarative formats have their own parser, and few runs need it.
 */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "claude-code": ["claude-agent-sdk", "@mlld/claude-agent-sdk", "anthropic"],
  "anthropic-messages": [],
  "openai-chat": [],
  gemini: [],
  ndjson: [],
  text: [],
};

/**
 * Resolves a name or an alias of a built-in format.
 *
 * @throws StartError `unknown-format`, as a registry does.
 */
export function requireFormatName(name: string): string {
  const entries = Object.entries(NAMES);
  const found = entries.find(([own, aliases]) => own === name || aliases.includes(name));
  if (found !== undefined) return found[0];
  const known = entries.flatMap(([own, aliases]) => [own, ...aliases]);
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? "" : ` Did you mean ${JSON.stringify(nearest)}?`;
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 57)}...` : name);
  throw new StartError("unknown-format", `format: ${shown} is not registered.${hint} Known: ${known.join(", ")}.`);
}
