import { isAbsolute, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { adviceFor, describeThrown, StartError } from "#domain";
import {
  applyConfig,
  inspectAgents,
  inspectTarget,
  openBullMqQueue,
  openPgBossQueue,
  openPostgresStore,
  type RunQueue,
  type ServerField,
  type Store,
  withSecrets,
} from "#runtime";
import { secretsOfAddress } from "#secrets";
import type { LogRecord, Server, ServerOptions } from "#server";
import { plainText } from "#sinks";
import { addText, parsePort } from "../flags/values.ts";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { demoTools } from "../load-tools.ts";
import { openData } from "../open-data.ts";
import { readConfig } from "../read-config.ts";
import { say } from "../say.ts";

interface ServeFlags {
  readonly port?: number;
  readonly host: string;
  readonly token?: string;
  readonly metricsToken?: string;
  readonly data?: string;
  readonly store?: string;
  readonly queue?: string;
  readonly worker?: boolean;
  readonly workerOnly?: boolean;
  readonly node?: string;
  readonly config?: string | boolean;
  readonly backend?: readonly string[];
  readonly target?: readonly string[];
  readonly allowHost?: readonly string[];
}

type Setting = Pick<ServerOptions, ServerField | "target" | "agents" | "run">;

const DEFAULT_PORT = 4000;

export function addServeCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("serve")
    .description("serve threads, chat and events over HTTP, with the chat page at /")
    .option("-p, --port <n>", `port; 0 takes any free one (default ${DEFAULT_PORT})`, parsePort)
    .option("--host <address>", "address to listen on; one that others can reach needs a token", "127.0.0.1")
    .option("--token <text>", "token every request must carry (better: MILLRACE_TOKEN)")
    .option("--metrics-token <text>", "token for /metrics (better: MILLRACE_METRICS_TOKEN)")
    .option("--data <folder>", "where threads and runs are kept (default: the user's data folder)")
    .addOption(new Option("--store <url>", "keep them in Postgres instead (better: MILLRACE_STORE)").conflicts("data"))
    .option("--queue <where>", "share the runs with other nodes: pg-boss, or redis://… (better: MILLRACE_QUEUE)")
    .option("--no-worker", "with --queue: leave the work on runs to other nodes")
    .addOption(
      new Option("--worker-only", "with --queue: only work on runs; with --port, answer probes and /metrics").conflicts(
        "worker",
      ),
    )
    .option("--node <name>", "the name of this node, for people (default: MILLRACE_NODE, or that of the machine)")
    .option("-b, --backend <backend>", "who may be asked; may be repeated, the first is the default (offline)", addText)
    .addOption(new Option("--target <name>", "the same as --backend").argParser(addText))
    .option("--allow-host <name...>", "host names under which the server is reached")
    .option("-c, --config <file>", "the configuration (default: the nearest millrace.config.*)")
    .option("--no-config", "use none")
    .action(async (flags: ServeFlags) => {
      outcome.code = await serve(flags, io);
    });
}

/** Serves until Ctrl-C. The address goes to stdout, for scripts; the log goes to stderr, one JSON object per line. */
async function serve(flags: ServeFlags, io: CommandIo): Promise<number> {
  const setting = await readSetting(flags, io);
  const { store, kept, url: storeUrl } = await openPlace(flags, io);
  const queueUrl = flags.queue ?? io.world.env["MILLRACE_QUEUE"];
  let queue: RunQueue | undefined;
  try {
    queue = await openQueue(queueUrl, storeUrl);
    if (queue === undefined && (flags.workerOnly === true || flags.worker === false)) {
      throw new StartError(
        "invalid-config",
        `${flags.workerOnly === true ? "--worker-only" : "--no-worker"} needs the queue that the nodes share: --queue pg-boss, or redis://…`,
      );
    }
    // Loaded here: the other commands need no server.
    const { createServer, logLine } = await import("#server");
    const log = (record: LogRecord): void => io.err.write(logLine(record));
    const node = flags.node ?? (io.world.env["MILLRACE_NODE"] || undefined);
    const server = createServer({
      ...setting,
      store,
      ...(queue !== undefined && { queue, worker: flags.workerOnly === true ? "only" : (flags.worker ?? true) }),
      ...(node !== undefined && { node }),
      // Whoever has the passwords in these has what all tenants have stored.
      world: withSecrets(
        io.world,
        [storeUrl, queueUrl].flatMap((url) => secretsOfAddress(url ?? "")),
      ),
      log,
    });
    if (flags.workerOnly === true) await startWorker(server, flags, io);
    else {
      const { url } = await server.listen({ port: flags.port ?? DEFAULT_PORT, host: flags.host });
      io.out.write(`${url}\n`);
      // A person at a terminal needs instructions; a program reads the line above.
      if (io.err.isTerminal) say(`The chat page is at ${url} until Ctrl-C. Threads are kept in ${kept}.`, io);
    }
    // Not awaited: a host may take seconds to answer, and the server can be used meanwhile.
    warnOfTargets(setting, log, io);
    return await untilInterrupted(server, io);
  } finally {
    await queue?.close();
    await store.close();
  }
}

/** A worker has no page and no API. It listens only if it is told where: for probes and metrics. */
async function startWorker(server: Server, { port, host }: ServeFlags, io: CommandIo): Promise<void> {
  if (port === undefined) await server.start();
  else io.out.write(`${(await server.listen({ port, host })).url}\n`);
  if (io.err.isTerminal) say("Working on the runs of the queue until Ctrl-C.", io);
}

/** The queue that nodes share. pg-boss keeps it in the database of the store. */
async function openQueue(where: string | undefined, storeUrl: string | undefined): Promise<RunQueue | undefined> {
  if (where === undefined || where === "") return undefined;
  if (storeUrl === undefined) {
    throw new StartError("invalid-config", "--queue needs a store that nodes can share: --store postgres://…");
  }
  if (where === "pg-boss") return openPgBossQueue(storeUrl);
  if (/^rediss?:/u.test(where)) return openBullMqQueue(where);
  throw new StartError("invalid-config", "--queue must be pg-boss or an address that begins with redis://.");
}

/** Logs which targets cannot answer, and what they need. They are offered all the same: a host may be down briefly. */
function warnOfTargets(setting: Setting, log: (record: LogRecord) => void, io: CommandIo): void {
  const { agents = [], target, targets = [], run = {} } = setting;
  const named = [target, ...targets].filter((name) => !agents.some((agent) => agent.name === name));
  const warn = (backend: string, missing: readonly string[]): void => {
    if (missing.length === 0) return;
    const ts = new Date(io.world.clock.now()).toISOString();
    const reason = adviceFor("shell", missing.join(" "));
    log({ ts, level: "warn", event: "target-not-ready", target: backend, reason });
  };
  const failed = (name: string) => (error: unknown) => warn(name, [describeThrown(error)]);
  inspectAgents(agents, io.world).then((states) => {
    for (const { name, missing } of states) warn(name, missing);
  }, failed("agents"));
  for (const backend of new Set([...named, ...agents.map((agent) => agent.backend)])) {
    if (typeof backend !== "string") continue;
    inspectTarget(backend, { cwd: io.cwd, run }, io.world).then(
      ({ missing }) => warn(backend, missing),
      failed(backend),
    );
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

/** Combines flags, configuration and variables, in this order of precedence. */
async function readSetting(flags: ServeFlags, io: CommandIo): Promise<Setting> {
  const { config } = await readConfig({ file: flags.config }, io);
  // The names of the fields were checked when the file was read; the server checks their values.
  const configured = (config.server ?? {}) as Setting;
  const { agents = [] } = config;
  const first = config.swarm?.start ?? agents[0]?.name ?? config.backend;
  const named = [...(flags.backend ?? []), ...(flags.target ?? [])];
  const target = named[0] ?? first ?? configured.targets?.[0] ?? (io.world.env["MILLRACE_BACKEND"] || "offline");
  const token = flags.token ?? (io.world.env["MILLRACE_TOKEN"] || undefined);
  const metricsToken =
    flags.metricsToken ?? configured.metricsToken ?? (io.world.env["MILLRACE_METRICS_TOKEN"] || undefined);
  const linkKey = configured.linkKey ?? (io.world.env["MILLRACE_LINK_KEY"] || undefined);
  const { options } = applyConfig({ ...config, agents: [] }, {});
  const isBare = agents.length === 0 && (options.tools ?? []).length === 0;
  return {
    ...configured,
    target,
    // Targets on the command line replace those of the configuration.
    ...(named.length > 0 && { targets: named }),
    agents,
    // If no tools are given, the offline model gets some: enough to show a tool call.
    run: isBare && target.split("/", 1)[0] === "offline" ? { ...options, tools: demoTools() } : options,
    ...(token !== undefined && { tokens: [{ token }, ...(configured.tokens ?? [])] }),
    ...(metricsToken !== undefined && { metricsToken }),
    ...(linkKey !== undefined && { linkKey }),
    ...(flags.allowHost !== undefined && { hosts: [...flags.allowHost, ...(configured.hosts ?? [])] }),
  };
}

interface Place {
  readonly store: Store;
  /** Where it is, in words. */
  readonly kept: string;
  /** The address of a store that nodes can share. */
  readonly url: string | undefined;
}

/** The store of the server. */
async function openPlace({ store: url, data }: ServeFlags, io: CommandIo): Promise<Place> {
  const chosen = url ?? (data === undefined ? io.world.env["MILLRACE_STORE"] || undefined : undefined);
  if (chosen !== undefined) {
    // Not repeated: an address may have a password.
    if (!/^postgres(ql)?:\/\//i.test(chosen)) {
      const given = url === undefined ? "MILLRACE_STORE" : "--store";
      throw new StartError(
        "invalid-config",
        `${given} must be an address that begins with postgres://. For a folder use --data.`,
      );
    }
    const store = await openPostgresStore(chosen).catch((error: unknown) => {
      throw new StartError("invalid-config", describeThrown(error), { cause: error });
    });
    return { store, kept: "Postgres", url: chosen };
  }
  const folder = dataFolder(data, io);
  const store = await openData(folder);
  return { store, kept: plainText(folder), url: undefined };
}

function dataFolder(given: string | undefined, io: CommandIo): string {
  const { MILLRACE_DATA, XDG_DATA_HOME, HOME } = io.world.env;
  const chosen = given ?? (MILLRACE_DATA || undefined);
  if (chosen !== undefined) return resolve(io.cwd, chosen);
  if (XDG_DATA_HOME !== undefined && isAbsolute(XDG_DATA_HOME)) return join(XDG_DATA_HOME, "millrace");
  if (HOME !== undefined && isAbsolute(HOME)) return join(HOME, ".local", "share", "millrace");
  throw new StartError("invalid-config", "There is no home folder to keep threads in. Give one with --data.");
}
