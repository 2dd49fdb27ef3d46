const CONNECTION_FAILURE: unique symbol = Symbol.for("millrace.ConnectionFailure") as never;

/**
 * An HTTP exchange that broke: no connection, or one that was lost on the way. The message names the host and the
 * reason, and nothing of what was sent.
 */
export class ConnectionFailure extends Error {
  override readonly name = "ConnectionFailure";
  readonly [CONNECTION_FAILURE] = true;
  /** Host and port. */
  readonly host: string;
  /** The system's name for it, such as `ECONNREFUSED`. */
  readonly code: string;
  /** The answer had begun: trying again could show or do things twice. */
  readonly answered: boolean;

  constructor(host: string, cause: NodeJS.ErrnoException, answered: boolean) {
    const code = cause.code ?? cause.name;
    super(`${describe(host, code, answered)} (${code}).`, { cause });
    this.host = host;
    this.code = code;
    this.answered = answered;
  }
}

/** Unlike `instanceof`, holds when two copies of the package are loaded. */
export function isConnectionFailure(value: unknown): value is ConnectionFailure {
  return typeof value === "object" && value !== null && CONNECTION_FAILURE in value;
}

function describe(host: string, code: string, answered: boolean): string {
  if (answered) return `The connection to ${host} broke before the answer was complete`;
  switch (code) {
    case "ECONNREFUSED":
      return `Nothing answers at ${host}. Check the address and that the server runs`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host ${host} cannot be found. Check the address and the network`;
    case "ECONNRESET":
    case "EPIPE":
      return `${host} closed the connection before it answered`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `${host} cannot be reached. Check the network`;
    default:
      return `The request to ${host} failed`;
  }
}
