import { hostname } from "node:os";
import {
  aFlag,
  aFunction,
  anObject,
  aText,
  type Check,
  checkInput,
  checkNames,
  checkOptionNames,
  expects,
  isId,
  isStartError,
  listOf,
  shape,
  StartError,
} from "#domain";
import {
  type Agent,
  checkOptions,
  resolveBackend,
  type RunOptions,
  secretsAround,
  swarm,
  systemWorld,
  type Target,
  withSecrets,
  type World,
} from "#runtime";
import type { SecretMask } from "#secrets";
import { CHAT_TENANT, LOCAL_TENANT, type RunQueue, type Store } from "#sessions";
import type { ReportOptions } from "#views";
import { ApiError } from "./api-error.ts";
import { readLimits, type ServerLimits } from "./limits.ts";
import { requireSecret } from "./secret-option.ts";
import type { LogRecord } from "./server-log.ts";

/** A token, and the tenant whose threads it gives access to. */
export interface AccessToken {
  /** At least 16 characters. */
  readonly token: string;
  /** Letters, digits, `-` and `_`. Default `local`. */
  readonly tenant?: string;
}

/** The options of `createServer`. */
export interface ServerOptions {
  /** Stores threads and runs. The server does not close it. */
  readonly store: Store;
  /**
   * Decides which of several servers works on a run: a queue that all of them share, as they share the store. The server
   * does not close it. Without one, this server is alone and works on every run itself.
   */
  readonly queue?: RunQueue;
  /**
   * Whether this server works on runs of the queue. Default: yes. `"only"`: it does nothing else; of the routes only
   * `/healthz`, `/readyz` and `/metrics` are there.
   */
  readonly worker?: boolean | "only";
  /**
   * The name of this server among those that share the queue, for people: shown with the runs it works on, in metrics and
   * in the log. 1 to 63 letters, digits, `-`, `_` and `.`. Default: the name of the machine.
   */
  readonly node?: string;
  /**
   * The target of threads that name none. Default: the first of `targets`, otherwise `offline`. Existing threads keep
   * theirs when this changes, as long as it is offered.
   */
  readonly target?: string;
  /** Agents that threads may name. Those with `handoffs` hand over among each other. */
  readonly agents?: readonly Agent[];
  /**
   * Backend strings that threads may name, exactly as written here. Default: only `target`. An agent with its own tools
   * (`claude-code`) asks before it writes, runs or reaches out, unless `run` has rules that allow it.
   */
  readonly targets?: readonly string[];
  /** The older name of `targets`. */
  readonly backends?: readonly string[];
  /** The options of every run: tools, rules, limits, providers. */
  readonly run?: Omit<RunOptions, "signal" | "session" | "record" | "replay">;
  /** Without tokens, everyone who can reach the server has access; it then only listens on this machine. */
  readonly tokens?: readonly AccessToken[];
  /**
   * The token for `/metrics`, which cover all tenants. Without it, a server with `tokens` does not show them, and a
   * server without `tokens` shows them to everyone who can reach it.
   */
  readonly metricsToken?: string;
  /**
   * Signs the links that `resultLink` makes, with which a service sends the result of a parked call without a token. At
   * least 16 characters. Without it, no such link is accepted.
   */
  readonly linkKey?: string;
  /** Host names under which the server is reached, in addition to those of this machine: `chat.example.org`. */
  readonly hosts?: readonly string[];
  /** Origins of other pages that may send requests: `https://app.example.org`. Never a wildcard. */
  readonly origins?: readonly string[];
  /** A proxy in front passes the client's address in `X-Forwarded-For`. */
  readonly trustProxy?: boolean;
  /** The folder of the chat page, or `false` for none. Default: the one in the package. */
  readonly page?: string | false;
  readonly limits?: Partial<ServerLimits>;
  /**
   * Which tool results are artifacts, and which documents they used, for readers of the vocabularies `chat` and
   * `runner`. Called again for every reader, so the answer must be the same each time. Your own tools can report this
   * themselves: `context.artifact`, `context.documents`.
   */
  readonly reports?: ReportOptions;
  /** Receives log records. Default: none. */
  readonly log?: (record: LogRecord) => void;
  /**
   * For tests: replaces the outside world.
   *
   * @internal
   */
  readonly world?: World;
}

/** The options, checked and complete. */
export interface Settings {
  readonly queue: RunQueue | undefined;
  readonly isWorker: boolean;
  /** It serves no threads, only what probes and metrics ask. */
  readonly isWorkerOnly: boolean;
  /** The name of this server, for people. */
  readonly node: string;
  readonly target: string;
  readonly agents: ReadonlyMap<string, Agent>;
  /** All targets that a thread may name, agents first. */
  readonly targets: readonly string[];
  readonly run: RunOptions;
  readonly tokens: readonly Required<AccessToken>[];
  readonly metricsToken: string | undefined;
  readonly linkKey: string | undefined;
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly trustProxy: boolean;
  readonly page: string | false | undefined;
  readonly limits: ServerLimits;
  readonly reports: ReportOptions;
  readonly world: World;
  /** Masks the secrets of the server and of its targets in its log, in its errors and in what it stores for callers. */
  readonly secrets: SecretMask | undefined;
  /** The working folder of this process. */
  readonly folder: string;
}

/** A promise is what a missing `await` before `openStore` leaves. */
const aStore = expects(
  (value) => typeof (value as Partial<Store> | null | undefined)?.createRun === "function",
  "a store, such as createMemoryStore() or await openStore(folder)",
);

const aQueue = expects(
  (value) => typeof (value as Partial<RunQueue> | null | undefined)?.take === "function",
  "a queue, such as await openQueue(url) of millrace/queues/pg-boss",
);

/** Checked where they are read, because they have to fit each other. */
const later: Check = () => undefined;

const SERVER_OPTIONS: Readonly<Record<keyof ServerOptions, Check>> = {
  store: aStore,
  queue: aQueue,
  worker: later,
  node: later,
  target: aText,
  agents: listOf(later, "agents"),
  targets: listOf(aText, "names of backends and agents"),
  backends: listOf(aText, "names of backends and agents"),
  run: anObject,
  tokens: listOf(anObject, "objects with a token"),
  metricsToken: later,
  linkKey: later,
  hosts: listOf(aText, "names of hosts"),
  origins: listOf(aText, "origins"),
  trustProxy: aFlag,
  page: expects((value) => value === false || typeof value === "string", "the path of a folder, or false"),
  limits: anObject,
  reports: anObject,
  log: aFunction,
  world: anObject,
};

/**
 * Reads the options.
 * @throws StartError naming field, value and remedy.
 */
export function readSettings(options: ServerOptions): Settings {
  checkOptionNames(options, Object.keys(SERVER_OPTIONS), "createServer");
  checkInput(shape(SERVER_OPTIONS, { required: ["store"] }), options, "");
  checkOptions(options.run ?? {}, ["signal", "session", "record", "replay"]);
  const agents = new Map((options.agents ?? []).map((agent) => [agent.name, agent]));
  // Invalid handoffs are reported here rather than with the first thread.
  if (agents.size > 0) swarm([...agents.values()]);
  const named = options.targets ?? options.backends ?? [];
  const target = options.target ?? named[0] ?? "offline";
  const targets = [...new Set([...agents.keys(), target, ...named])];
  const tokens = (options.tokens ?? []).map(readToken);
  const metricsToken = readMetricsToken(options);
  const linkKey = readLinkKey(options);
  const ownSecrets = [...tokens.map(({ token }) => token), ...[metricsToken, linkKey].flatMap((one) => one ?? [])];
  const given = options.world ?? systemWorld();
  for (const name of targets) if (!agents.has(name)) requireKnown(name, options.run ?? {}, given);
  const backends = targets.map((name) => targetOf(name, { agents }));
  const world = withSecrets(given, [...ownSecrets, ...secretsAround(backends, options.run ?? {}, given)]);
  return {
    queue: options.queue,
    ...readWorker(options),
    node: readNode(options.node),
    target,
    agents,
    targets,
    run: options.run ?? {},
    tokens,
    metricsToken,
    linkKey,
    secrets: world.maskOf?.([]),
    hosts: new Set((options.hosts ?? []).map((host) => host.toLowerCase())),
    origins: new Set((options.origins ?? []).map(readOrigin)),
    trustProxy: options.trustProxy ?? false,
    page: options.page,
    limits: readLimits(
      options.limits,
      new Set((options.tokens ?? []).map(({ tenant }) => tenant ?? LOCAL_TENANT)).size,
    ),
    reports: readReportOptions(options.reports),
    world,
    folder: process.cwd(),
  };
}

function readWorker({ worker = true, queue }: ServerOptions): Pick<Settings, "isWorker" | "isWorkerOnly"> {
  if (typeof worker !== "boolean" && worker !== "only") {
    throw new StartError("invalid-option", `worker is ${JSON.stringify(worker)}. Give true, false or "only".`);
  }
  if (worker === "only" && queue === undefined) {
    throw new StartError("invalid-option", 'worker: "only" needs a queue from which the work comes.');
  }
  return { isWorker: worker !== false, isWorkerOnly: worker === "only" };
}

const NODE_NAME = /^[\w.-]{1,63}$/;

function readNode(given: string | undefined): string {
  if (given === undefined)
    return (
      hostname()
        .replaceAll(/[^\w.-]/g, "-")
        .slice(0, 63) || "node"
    );
  if (typeof given === "string" && NODE_NAME.test(given)) return given;
  throw new StartError(
    "invalid-option",
    `node is ${JSON.stringify(given)}. Give 1 to 63 letters, digits, "-", "_" and ".".`,
  );
}

function readReportOptions(reports: ReportOptions = {}): ReportOptions {
  checkOptionNames(reports, ["artifactOf", "documentsOf"] satisfies (keyof ReportOptions)[], "reports");
  for (const [name, value] of Object.entries(reports)) {
    if (value === undefined || typeof value === "function") continue;
    throw new StartError("invalid-option", `reports.${name} is a ${typeof value}. Give a function, or leave it out.`);
  }
  return reports;
}

/** A missing key may be added later; a wrong name stays wrong. */
function requireKnown(target: string, run: RunOptions, world: World): void {
  try {
    resolveBackend(target, run, world);
  } catch (error) {
    if (!isStartError(error) || error.code === "unknown-backend") throw error;
  }
}

/**
 * Rejects a target that is not offered.
 * @throws ApiError with the list of those that are.
 */
export function requireOffered(target: string, { targets }: Pick<Settings, "targets">): void {
  if (targets.includes(target)) return;
  const shown = target.length <= 80 ? target : `${target.slice(0, 79)}…`;
  throw new ApiError(
    "invalid-target",
    `This server does not offer ${JSON.stringify(shown)}. It offers: ${targets.join(", ")}.`,
  );
}

/** The current meaning of a thread's target. */
export function targetOf(name: string, { agents }: Pick<Settings, "agents">): Target {
  const [agent, ...others] = reachedFrom(name, agents);
  if (agent === undefined) return name;
  return others.length === 0 ? agent : swarm([agent, ...others], { start: name });
}

/** The backends that a run of this target may need. */
export function backendsOf(name: string, { agents }: Pick<Settings, "agents">): readonly Agent["backend"][] {
  const reached = reachedFrom(name, agents);
  return reached.length === 0 ? [name] : reached.map(({ backend }) => backend);
}

/** An agent and those that it can hand over to: what is wrong with another one does not concern its threads. */
function reachedFrom(name: string, agents: Settings["agents"]): readonly Agent[] {
  const agent = agents.get(name);
  if (agent === undefined) return [];
  const reached = new Set([agent]);
  for (const one of reached) for (const other of one.handoffs ?? []) reached.add(agents.get(other) as Agent);
  return [...reached];
}

function readToken(given: AccessToken, index: number): Required<AccessToken> {
  checkNames(given, ["token", "tenant"] satisfies (keyof AccessToken)[], `tokens[${index}].`);
  const { token, tenant = LOCAL_TENANT } = given;
  requireSecret(`tokens[${index}].token`, token);
  if (!isId(tenant)) {
    throw new StartError("invalid-option", `tokens[${index}].tenant must be 1 to 64 letters, digits, "-" or "_".`);
  }
  if (tenant === CHAT_TENANT) {
    throw new StartError("invalid-option", `tokens[${index}].tenant is that of "millrace chat". Give it another name.`);
  }
  return { token, tenant };
}

function readMetricsToken({ metricsToken, tokens = [] }: ServerOptions): string | undefined {
  if (metricsToken === undefined) return undefined;
  requireSecret("metricsToken", metricsToken);
  if (!tokens.some(({ token }) => token === metricsToken)) return metricsToken;
  throw new StartError(
    "invalid-option",
    "metricsToken is a tenant's token too. Make another one: openssl rand -hex 24",
  );
}

/** A token as the key would let its tenant sign links for the runs of others. */
function readLinkKey({ linkKey, metricsToken, tokens = [] }: ServerOptions): string | undefined {
  if (linkKey === undefined) return undefined;
  requireSecret("linkKey", linkKey);
  if (linkKey !== metricsToken && !tokens.some(({ token }) => token === linkKey)) return linkKey;
  throw new StartError("invalid-option", "linkKey is a token too. Make another one: openssl rand -hex 24");
}

function readOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin && !origin.includes("*")) return origin;
  throw new StartError(
    "invalid-option",
    `origins has ${JSON.stringify(origin)}, which is not an origin. Write it as https://host, without a path; a wildcard is not taken.`,
  );
}
