import { isId, StartError } from "#domain";
import { type Agent, type RunOptions, swarm, systemWorld, type Target, type World } from "#runtime";
import { LOCAL_TENANT, type Store } from "#sessions";
import { readLimits, type ServerLimits } from "./limits.ts";
import type { LogRecord } from "./server-log.ts";

/** Who may ask, and whose threads he sees. */
export interface AccessToken {
  /** At least 16 characters. */
  readonly token: string;
  /** Letters, digits, `-` and `_`. Default `local`. */
  readonly tenant?: string;
}

export interface ServerOptions {
  /** Where threads and runs are kept. The server does not close it. */
  readonly store: Store;
  /** Who answers in threads that name nobody. Default `offline`. Threads keep theirs when this changes. */
  readonly target?: string;
  /** Agents that threads may name. Those with `handoffs` hand over among each other. */
  readonly agents?: readonly Agent[];
  /** Backend strings that threads may name. Default: every one that is known. */
  readonly backends?: readonly string[];
  /** The options of every run: tools, rules, limits, providers. */
  readonly run?: Omit<RunOptions, "signal" | "session" | "record">;
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
  /** Hears what happens. Default: nobody. */
  readonly log?: (record: LogRecord) => void;
  readonly world?: World;
  /** For tests: where they may stop the world. */
  readonly failPoint?: (name: FailPointName) => Promise<void> | void;
}

export type FailPointName = "before-append" | "after-append" | "inside-frame" | "after-emit";

/** The options, checked and complete. */
export interface Settings {
  readonly target: string;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly backends: readonly string[] | undefined;
  readonly run: RunOptions;
  readonly tokens: readonly Required<AccessToken>[];
  readonly metricsToken: string | undefined;
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly trustProxy: boolean;
  readonly page: string | false | undefined;
  readonly limits: ServerLimits;
  readonly world: World;
}

const SHORTEST_TOKEN = 16;

/** @throws StartError naming field, value and remedy. */
export function readSettings(options: ServerOptions): Settings {
  const agents = new Map((options.agents ?? []).map((agent) => [agent.name, agent]));
  // Wrong handoffs are found here and not with the first thread.
  if (agents.size > 0) swarm([...agents.values()]);
  return {
    target: options.target ?? "offline",
    agents,
    backends: options.backends,
    run: options.run ?? {},
    tokens: (options.tokens ?? []).map(readToken),
    metricsToken: readMetricsToken(options),
    hosts: new Set((options.hosts ?? []).map((host) => host.toLowerCase())),
    origins: new Set((options.origins ?? []).map(readOrigin)),
    trustProxy: options.trustProxy ?? false,
    page: options.page,
    limits: readLimits(options.limits),
    world: options.world ?? systemWorld(),
  };
}

/** What a thread's target means now. */
export function targetOf(name: string, { agents }: Settings): Target {
  const agent = agents.get(name);
  if (agent === undefined) return name;
  return agents.size === 1 ? agent : swarm([...agents.values()], { start: name });
}

function readToken({ token, tenant = LOCAL_TENANT }: AccessToken, index: number): Required<AccessToken> {
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
