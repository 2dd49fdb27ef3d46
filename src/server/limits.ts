import { checkInput, shape, zeroOrMore } from "#domain";

/** What one server takes, and for how long. Every number can be set; none can be switched off by a request. */
export interface ServerLimits {
  /** Bytes of a request's body. */
  readonly bodyBytes: number;
  /** Levels of nesting in a request's JSON. */
  readonly bodyDepth: number;
  /** Time for a request's headers to arrive. */
  readonly headersMs: number;
  /** Time for a whole request to arrive. Streams are answers, so this does not end them. */
  readonly requestMs: number;
  /** Open sockets. */
  readonly connections: number;
  /** Event streams one address may hold open. */
  readonly streams: number;
  /** Requests one address may make in a minute. */
  readonly requestsPerMinute: number;
  /** Wrong tokens from one address in a minute, after which further ones are told to wait. */
  readonly failuresPerMinute: number;
  /** Runs that go on at the same time. */
  readonly runs: number;
  /** Runs of one tenant that go on at the same time. Default: a quarter of `runs`; all of them where there is one tenant. */
  readonly runsPerTenant: number;
  /** Threads one tenant may keep. */
  readonly threadsPerTenant: number;
  /** Bytes of messages and events one tenant may keep. */
  readonly bytesPerTenant: number;
  /** Bytes that may wait for one reader of a stream. */
  readonly readerBytes: number;
  /** How long a reader may take nothing before it is cut off. It can resume at its cursor. */
  readonly stallMs: number;
  /** Silence before the first heartbeat, and between later ones. */
  readonly firstHeartbeatMs: number;
  readonly heartbeatMs: number;
  /** Agents' processes that wait for the next message of their thread. 0: each is ended with its run. */
  readonly warmThreads: number;
  /** How long such a process waits. */
  readonly warmMs: number;
  /** Processes that wait for a thread's first message, for each target that is an agent with a process of its own. */
  readonly warmSpares: number;
  /** How long `close` lets runs finish before it aborts them. */
  readonly shutdownMs: number;
}

/**
 * The limits of a server that is given none.
 *
 * @example
 * createServer({ store, limits: { bodyBytes: SERVER_LIMITS.bodyBytes * 4 } })
 */
export const SERVER_LIMITS: ServerLimits = {
  bodyBytes: 1_048_576,
  bodyDepth: 64,
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 10_000,
  streams: 256,
  requestsPerMinute: 6000,
  failuresPerMinute: 10,
  runs: 256,
  runsPerTenant: 64,
  threadsPerTenant: 10_000,
  bytesPerTenant: 10 * 1_073_741_824,
  readerBytes: 1_048_576,
  stallMs: 30_000,
  firstHeartbeatMs: 5000,
  heartbeatMs: 15_000,
  warmThreads: 8,
  warmMs: 300_000,
  warmSpares: 0,
  shutdownMs: 10_000,
};

/**
 * The limits with the defaults filled in, for a server with so many tenants. @throws StartError for one that would not
 * limit anything.
 */
export function readLimits(given: Partial<ServerLimits> = {}, tenants = 1): ServerLimits {
  checkInput(shape(Object.fromEntries(Object.keys(SERVER_LIMITS).map((name) => [name, zeroOrMore]))), given, "limits");
  const { runs = SERVER_LIMITS.runs } = given;
  const runsPerTenant = tenants > 1 ? Math.max(1, Math.floor(runs / 4)) : runs;
  return { ...SERVER_LIMITS, runsPerTenant, ...given };
}
