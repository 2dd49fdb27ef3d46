import { checkNames, checkOptionNames, isId, isStartError, StartError } from "#domain";
import {
  type Agent,
  checkOptions,
  resolveBackend,
  type RunOptions,
  swarm,
  systemWorld,
  type Target,
  type World,
} from "#runtime";
import { LOCAL_TENANT, type Store } from "#sessions";
import type { SecretMask } from "#secrets";
import type { ReportOptions } from "#views";
import { createServerMask, withTokens } from "./server-secrets.ts";
import { ApiError } from "./api-error.ts";
import { readLimits, type ServerLimits } from "./limits.ts";
import type { LogRecord } from "./server-log.ts";

/** Who may ask, and whose threads he sees. */
export interface AccessToken {
  /** At least 16 characters. */
  readonly token: string;
  /** Letters, digits, `-` and `_`. Default `local`. */
  readonly tenant?: string;
}

/** The options of `createServer`. */
export interface ServerOptions {
  /** Where threads and runs are kept. The server does not close it. */
  readonly store: Store;
  /**
   * Who answers in threads that name nobody. Default: the first of `targets`, else `offline`. Threads keep theirs when
   * this changes, as long as it is offered.
   */
  readonly target?: string;
  /** Agents that threads may name. Those with `handoffs` hand over among each other. */
  readonly agents?: readonly Agent[];
  /**
   * Backend strings that threads may name, exactly as they are written here. Default: `target` alone. An agent with
   * tools of its own (`claude-code`) asks before it writes, runs or reaches out, unless `run` has rules that allow it.
   */
  readonly targets?: readonly string[];
  /** The older name of `targets`. */
  readonly backends?: readonly string[];
  /** The options of every run: tools, rules, limits, providers. */
  readonly run?: Omit<RunOptions, "signal" | "session" | "record" | "replay">;
  /** Without any, everybody who can reach the server is let in; it then listens on this machine alone. */
  readonly tokens?: readonly AccessToken[];
  /**
   * The token for `/metrics`, which are about all tenants. Without one, a server with `tokens` shows them to nobody, and
   * one without to whoever can reach it.
   */
  readonly metricsToken?: string;
  /** Host names under which the server is reached, beside this machine's own: `chat.example.org`. */
  readonly hosts?: readonly string[];
  /** Origins of other pages that may ask: `https://app.example.org`. Never a wildcard. */
  readonly origins?: readonly string[];
  /** A proxy in front tells the asking address in `X-Forwarded-For`. */
  readonly trustProxy?: boolean;
  /** The folder of the chat page, or `false` for none. Default: the one that comes with the package. */
  readonly page?: string | false;
  readonly limits?: Partial<ServerLimits>;
  /**
   * Which tool results are artifacts, and which documents they used, for readers of the vocabularies `chat` and `runner`.
   * Called anew for every reader, so they have to give the same answer each time. Tools of your own may say it themselves:
   * `context.artifact`, `context.documents`.
   */
  readonly reports?: ReportOptions;
  /** Hears what happens. Default: nobody. */
  readonly log?: (record: LogRecord) => void;
  /**
   * For tests: the outside.
   *
   * @internal
   */
  readonly world?: World;
}

/** The options, checked and complete. */
export interface Settings {
  readonly target: string;
  readonly agents: ReadonlyMap<string, Agent>;
  /** Everybody a thread may name, agents first. */
  readonly targets: readonly string[];
  readonly run: RunOptions;
  readonly tokens: readonly Required<AccessToken>[];
  readonly metricsToken: string | undefined;
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly trustProxy: boolean;
  readonly page: string | false | undefined;
  readonly limits: ServerLimits;
  readonly reports: ReportOptions;
  readonly world: World;
  /** Covers the server's secrets in its log, in its refusals and in what callers have it keep. */
  readonly secrets: SecretMask | undefined;
  /** Our own working folder. */
  readonly folder: string;
}

const SHORTEST_TOKEN = 16;

const SERVER_OPTION_NAMES: readonly string[] = Object.keys({
  store: 1,
  target: 1,
  agents: 1,
  targets: 1,
  backends: 1,
  run: 1,
  tokens: 1,
  metricsToken: 1,
  hosts: 1,
  origins: 1,
  trustProxy: 1,
  page: 1,
  limits: 1,
  reports: 1,
  log: 1,
  world: 1,
} satisfies Record<keyof ServerOptions, 1>);

/** @throws StartError naming field, value and remedy. */
export function readSettings(options: ServerOptions): Settings {
  checkOptionNames(options, SERVER_OPTION_NAMES, "createServer");
  checkOptions(options.run ?? {}, ["signal", "session", "record", "replay"]);
  const agents = new Map((options.agents ?? []).map((agent) => [agent.name, agent]));
  // Wrong handoffs are found here and not with the first thread.
  if (agents.size > 0) swarm([...agents.values()]);
  const named = options.targets ?? options.backends ?? [];
  const target = options.target ?? named[0] ?? "offline";
  const targets = [...new Set([...agents.keys(), target, ...named])];
  const tokens = (options.tokens ?? []).map(readToken);
  const metricsToken = readMetricsToken(options);
  const ownSecrets = [...tokens.map(({ token }) => token), ...(metricsToken === undefined ? [] : [metricsToken])];
  const world = withTokens(options.world ?? systemWorld(), ownSecrets);
  for (const name of targets) if (!agents.has(name)) requireKnown(name, options.run ?? {}, world);
  return {
    target,
    agents,
    targets,
    run: options.run ?? {},
    tokens,
    metricsToken,
    secrets: createServerMask(ownSecrets, options.run ?? {}, world),
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

function readReportOptions(reports: ReportOptions = {}): ReportOptions {
  checkOptionNames(reports, ["artifactOf", "documentsOf"] satisfies (keyof ReportOptions)[], "reports");
  for (const [name, value] of Object.entries(reports)) {
    if (value === undefined || typeof value === "function") continue;
    throw new StartError("invalid-option", `reports.${name} is a ${typeof value}. Give a function, or leave it out.`);
  }
  return reports;
}

/** A key that is missing today may be there tomorrow; a name that is wrong stays wrong. */
function requireKnown(target: string, run: RunOptions, world: World): void {
  try {
    resolveBackend(target, run, world);
  } catch (error) {
    if (!isStartError(error) || error.code === "unknown-backend") throw error;
  }
}

/** Refuses a target that the operator has not named. @throws ApiError with the list of those he has. */
export function requireOffered(target: string, { targets }: Pick<Settings, "targets">): void {
  if (targets.includes(target)) return;
  const shown = target.length <= 80 ? target : `${target.slice(0, 79)}…`;
  throw new ApiError(
    "invalid-target",
    `This server does not offer ${JSON.stringify(shown)}. It offers: ${targets.join(", ")}.`,
  );
}

/** What a thread's target means now. */
export function targetOf(name: string, { agents }: Settings): Target {
  const agent = agents.get(name);
  if (agent === undefined) return name;
  return agents.size === 1 ? agent : swarm([...agents.values()], { start: name });
}

function readToken(given: AccessToken, index: number): Required<AccessToken> {
  checkNames(given, ["token", "tenant"] satisfies (keyof AccessToken)[], `tokens[${index}].`);
  const { token, tenant = LOCAL_TENANT } = given;
  requireSecret(`tokens[${index}].token`, token);
  if (!isId(tenant)) {
    throw new StartError("invalid-option", `tokens[${index}].tenant must be 1 to 64 letters, digits, "-" or "_".`);
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

/** Neither the token nor a part of it is told: messages end up in logs. */
function requireSecret(field: string, token: unknown): void {
  if (typeof token === "string" && token.length >= SHORTEST_TOKEN && /^[\u0021-\u007e]+$/.test(token)) return;
  throw new StartError(
    "invalid-option",
    `${field} must be at least ${SHORTEST_TOKEN} characters without blanks. Make one with: openssl rand -hex 24`,
  );
}

function readOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin && !origin.includes("*")) return origin;
  throw new StartError(
    "invalid-option",
    `origins has ${JSON.stringify(origin)}, which is no origin. Write it as https://host, without a path; a wildcard is not taken.`,
  );
}
