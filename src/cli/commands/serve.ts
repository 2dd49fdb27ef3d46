import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { describeThrown, StartError } from "#domain";
import { openStore } from "#runtime";
import type { Server, ServerOptions } from "#server";
import { parsePort } from "../flags/values.ts";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { demoTools } from "../load-tools.ts";
import { readJsonFile } from "../read-input.ts";

interface ServeFlags {
  readonly port?: number;
  readonly host: string;
  readonly token?: string;
  readonly data?: string;
  readonly config?: string;
  readonly backend?: string;
  readonly allowHost?: readonly string[];
}

/** What a configuration may say: everything but what the command itself brings. */
type Configuration = Partial<Omit<ServerOptions, "store" | "log" | "world" | "failPoint">>;

const DEFAULT_PORT = 4000;

export function addServeCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("serve")
    .description("serve threads, chat and events over HTTP, with the chat page at /")
    .option("-p, --port <n>", `port; 0 takes any free one (default ${DEFAULT_PORT})`, parsePort)
    .option("--host <address>", "address to listen on; one that others can reach needs a token", "127.0.0.1")
    .option("--token <text>", "token every request must carry (better: MILLRACE_TOKEN)")
    .option("--data <folder>", "where threads and runs are kept (default: the user's data folder)")
    .option("-b, --backend <backend>", "who answers in new threads (default offline)")
    .option("--allow-host <name...>", "host names under which the server is reached")
    .option("-c, --config <file>", "a module or JSON file with the server's options: agents, tools, rules, tokens")
    .action(async (flags: ServeFlags) => {
      outcome.code = await serve(flags, io);
    });
}

/** Serves until Ctrl-C. The address goes to stdout, for scripts; the log goes to stderr, one JSON object per line. */
async function serve(flags: ServeFlags, io: CommandIo): Promise<number> {
  const configuration = await readConfiguration(flags.config, io);
  const folder = dataFolder(flags.data, io);
  const store = await openStore(folder).catch((error: unknown) => {
    throw new StartError("invalid-config", `--data ${folder}: ${describeThrown(error)}`, { cause: error });
  });
  try {
    // Loaded by this command alone: the others need no server.
    const { createServer, logLine } = await import("#server");
    const server = createServer({
      ...mergeFlags(configuration, flags, io),
      store,
      world: io.world,
      log: (record) => io.err.write(logLine(record)),
    });
    const { url } = await server.listen({ port: flags.port ?? DEFAULT_PORT, host: flags.host });
    io.out.write(`${url}\n`);
    return await untilInterrupted(server, io);
  } finally {
    await store.close();
  }
}

/** The first interrupt lets runs finish, the second does not wait for them. */
async function untilInterrupted(server: Server, io: CommandIo): Promise<number> {
  let interrupts = 0;
  let onFirst = (): void => undefined;
  let onSecond = (): void => undefined;
  const first = new Promise<void>((done) => {
    onFirst = done;
  });
  const second = new Promise<void>((done) => {
    onSecond = done;
  });
  const release = io.onInterrupt(() => {
    interrupts += 1;
    if (interrupts === 1) onFirst();
    else onSecond();
  });
  await first;
  const closed = server.close().then(() => EXIT.success);
  const code = await Promise.race([closed, second.then(() => EXIT.aborted)]);
  release();
  return code;
}

function mergeFlags(configuration: Configuration, flags: ServeFlags, io: CommandIo): Configuration {
  const token = flags.token ?? (io.world.env["MILLRACE_TOKEN"] || undefined);
  const target = flags.backend ?? configuration.target ?? (io.world.env["MILLRACE_BACKEND"] || undefined);
  return {
    // Without a word about runs the offline model gets its small tools, so that a first try shows a tool call.
    run: { tools: demoTools() },
    ...configuration,
    ...(target !== undefined && { target }),
    ...(token !== undefined && { tokens: [{ token }, ...(configuration.tokens ?? [])] }),
    ...(flags.allowHost !== undefined && { hosts: [...flags.allowHost, ...(configuration.hosts ?? [])] }),
  };
}

function dataFolder(given: string | undefined, io: CommandIo): string {
  const { MILLRACE_DATA, XDG_DATA_HOME, HOME } = io.world.env;
  const chosen = given ?? (MILLRACE_DATA || undefined);
  if (chosen !== undefined) return resolve(io.cwd, chosen);
  if (XDG_DATA_HOME !== undefined && isAbsolute(XDG_DATA_HOME)) return join(XDG_DATA_HOME, "millrace");
  if (HOME !== undefined && isAbsolute(HOME)) return join(HOME, ".local", "share", "millrace");
  throw new StartError("invalid-config", "There is no home folder to keep threads in. Give one with --data.");
}

async function readConfiguration(path: string | undefined, io: CommandIo): Promise<Configuration> {
  if (path === undefined) return {};
  const given = path.endsWith(".json") ? await readJsonFile("--config", path, io) : await importConfiguration(path, io);
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given as Configuration;
  throw new StartError("invalid-config", `--config ${path} gives no object. Export the options as config or default.`);
}

async function importConfiguration(path: string, io: CommandIo): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(resolve(io.cwd, path)).href)) as Record<string, unknown>;
    return module["config"] ?? module["default"];
  } catch (error) {
    throw new StartError("invalid-config", `--config ${path} could not be loaded: ${describeThrown(error)}`, {
      cause: error,
    });
  }
}
