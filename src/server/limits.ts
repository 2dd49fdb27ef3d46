import { checkInput, shape, zeroOrMore } from "#domain";

/** The limits of one server. Every one can be configured; no request can override them. */
export interface ServerLimits {
  /** The bytes of a request's body. */
  readonly bodyBytes: number;
  /** The levels of nesting in a request's JSON. */
  readonly bodyDepth: number;
  /** Milliseconds for a request's headers to arrive. */
  readonly headersMs: number;
  /** Milliseconds for a whole request to arrive. This does not limit streams, which are responses. */
  readonly requestMs: number;
  /** Open sockets. */
  readonly connections: number;
  /** Event streams that one address may hold open. */
  readonly streams: number;
  /**
   * Event streams that one tenant may hold open, from all addresses. Default: a quarter of `connections`; all of them if
   * there is only one tenant.
   */
  readonly streamsPerTenant: number;
  /** Requests that one address may make per minute. */
  readonly requestsPerMinute: number;
  /** Wrong tokens from one address per minute, after which further ones are rejected with `too-many-requests`. */
  readonly failuresPerMinute: number;
  /** Simultaneous runs. */
  readonly runs: number;
  /** Simultaneous runs of one tenant. Default: a quarter of `runs`; all of them if there is only one tenant. */
  readonly runsPerTenant: number;
  /** Threads that one tenant may store. */
  readonly threadsPerTenant: number;
  /** Bytes of messages and events that one tenant may store. */
  readonly bytesPerTenant: number;
  /** Bytes that may be buffered for one reader of a stream. */
  readonly readerBytes: number;
  /** How long a reader may take nothing before it is disconnected. It can resume at its cursor. */
  readonly stallMs: number;
  /** The silence before the first heartbeat, and between later ones. */
  readonly firstHeartbeatMs: number;
  readonly heartbeatMs: number;
  /** How many agent processes wait for the next message of their thread. 0: each ends with its run. */
  readonly warmThreads: number;
  /** How long such a process waits. */
  readonly warmMs: number;
  /**
   * How many processes wait for the first message of a thread, for each target that is an agent with its own process.
   */
  readonly warmSpares: number;
  /**
   * How long a run holds its process while all of its calls wait for something outside: the answer of a person, a
   * result, a time. Then it waits in the store.
   */
  readonly parkMs: number;
  /** How long `close` lets runs finish before it leaves them to the next start. */
  readonly shutdownMs: number;
}

/**
 * The default limits of a server.
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
  streamsPerTenant: 2500,
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
  parkMs: 60_000,
  shutdownMs: 10_000,
};

/**
 * The limits with defaults filled in, for a server with this number of tenants.
 * @throws StartError for an invalid limit.
 */
export function readLimits(given: Partial<ServerLimits> = {}, tenants = 1): ServerLimits {
  checkInput(shape(Object.fromEntries(Object.keys(SERVER_LIMITS).map((name) => [name, zeroOrMore]))), given, "limits");
  const { runs = SERVER_LIMITS.runs, connections = SERVER_LIMITS.connections } = given;
  const shareOf = (all: number): number => (tenants > 1 ? Math.max(1, Math.floor(all / 4)) : all);
  return { ...SERVER_LIMITS, runsPerTenant: shareOf(runs), streamsPerTenant: shareOf(connections), ...given };
}
