/**
 * A failed HTTP exchange: there was no connection, or it broke. The message names the host and the reason, and nothing
 * that was sent.
 */
export class ConnectionFailure extends Error {
  override readonly name = "ConnectionFailure";
  /** Host and port. */
  readonly host: string;
  /** The system's error code, such as `ECONNREFUSED`. */
  readonly code: string;
  /** The response had begun: a retry could show or do things twice. */
  readonly answered: boolean;

  constructor(host: string, cause: NodeJS.ErrnoException, answered: boolean) {
    const code = cause.code ?? cause.name;
    super(`${describe(host, code, answered)} (${code}).`, { cause });
    this.host = host;
    this.code = code;
    this.answered = answered;
  }
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
