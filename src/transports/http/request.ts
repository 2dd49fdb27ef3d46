import type * as http from "node:http";
import type { Socket } from "node:net";
import type { Fetch, HttpRequest, HttpResponse } from "#domain";
import { followSignal } from "#streams";
import { readBytes } from "../readable-bytes.ts";
import { ConnectionFailure } from "./connection-failure.ts";

/** A `Fetch` that keeps connections for later requests until it is closed. */
export interface HttpFetch extends Fetch {
  /**
   * Closes all connections, including those in use. Idempotent. Idle connections do not keep the process alive anyway.
   */
  close(): void;
}

export interface HttpFetchOptions {
  /** How long an idle connection is kept. Default 30 000. */
  readonly idleMs?: number;
}

const IDLE_MS = 30_000;

/**
 * Makes real HTTP exchanges on Node's own sockets: web streams cost about twice as much per byte.
 *
 * Follows no redirects and does not retry; the caller decides about limits and retries. Rejects with
 * `ConnectionFailure`, or with the signal's reason when aborted, even in the middle of a body. A body must be read to
 * its end, left (which closes the connection) or aborted.
 *
 * @example
 * const fetch = createHttpFetch()
 * const { status, body } = await fetch({ method: "GET", url: "http://127.0.0.1:8080/", headers: {} })
 */
export function createHttpFetch({ idleMs = IDLE_MS }: HttpFetchOptions = {}): HttpFetch {
  let plain: Pool | undefined;
  let secure: Pool | undefined;
  // Runs on one host share one address, and parsing it is a good part of starting a request.
  let last: { readonly url: string; readonly address: Address } | undefined;
  const poolFor = ({ isSecure }: Address): Pool =>
    isSecure ? (secure ??= openSecurePool(idleMs)) : (plain ??= openPlainPool(idleMs));

  const fetch = async (request: HttpRequest): Promise<HttpResponse> => {
    request.signal?.throwIfAborted();
    if (last?.url !== request.url) last = { url: request.url, address: readUrl(request.url) };
    const { address } = last;
    // Converted to bytes at once: the length of a string would have to be counted, and the string encoded again later.
    const body = typeof request.body === "string" ? Buffer.from(request.body) : request.body;
    return exchange(poolFor(address).dial(request, address, body?.length), address.host, body, request.signal);
  };

  return Object.assign(fetch, {
    close() {
      plain?.close();
      secure?.close();
    },
  });
}

/**
 * Idle connections kept per host. More than a thousand simultaneous runs are rare, and a program that had five hundred
 * is likely to have them again: closing a connection and opening another costs more than the data that streams through
 * it.
 */
const KEPT_CONNECTIONS = 1024;

/** The connections to all hosts that use the same protocol. */
interface Pool {
  /** Begins a request on one of them. */
  dial(request: HttpRequest, address: Address, length: number | undefined): http.ClientRequest;
  close(): void;
}

const POOL_OPTIONS = { keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS, scheduling: "lifo" } as const;

// Node's modules are loaded at the first request: they take a good part of a cold start, and TLS is not always needed.

function openPlainPool(idleMs: number): Pool {
  const { Agent, request } = process.getBuiltinModule("node:http");
  const agent = dropIdle(new Agent(POOL_OPTIONS), idleMs);
  return {
    dial: ({ method, headers }, { hostname, port, path, auth }, length) => {
      const all = headersFor(headers, length);
      // Without an explicit TLS server name, Node would compute one for each request.
      return request({ hostname, port, path, auth, method, headers: all, agent, servername: "" } as object);
    },
    close: () => agent.destroy(),
  };
}

function openSecurePool(idleMs: number): Pool {
  const { Agent, request } = process.getBuiltinModule("node:https");
  const agent = dropIdle(new Agent(POOL_OPTIONS), idleMs);
  return {
    dial: ({ method, headers }, { hostname, port, path, auth }, length) =>
      request({ hostname, port, path, auth, method, headers: headersFor(headers, length), agent }),
    close: () => agent.destroy(),
  };
}

/**
 * Makes an agent close idle connections. The agent's own `timeout` option would also apply while they are in use, where
 * the caller has its own rule for silence.
 */
function dropIdle<Pool extends http.Agent>(agent: Pool, idleMs: number): Pool {
  const { keepSocketAlive, reuseSocket } = agent;
  agent.keepSocketAlive = (socket) => {
    const isKept: unknown = keepSocketAlive.call(agent, socket);
    // The agent closes an idle connection when this timeout fires.
    (socket as Socket).setTimeout(idleMs);
    return isKept;
  };
  agent.reuseSocket = (socket, request) => {
    (socket as Socket).setTimeout(0);
    reuseSocket.call(agent, socket, request);
  };
  return agent;
}

/** Sends the body and resolves when the response begins. */
function exchange(
  outgoing: http.ClientRequest,
  host: string,
  body: Uint8Array | undefined,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let incoming: http.IncomingMessage | undefined;
    let aborted: { readonly reason: unknown } | undefined;
    const abort = (reason: unknown): void => {
      aborted = { reason };
      // Also destroys the response, if there is one already.
      outgoing.destroy();
    };
    const explain = (error: Error): unknown =>
      aborted === undefined ? new ConnectionFailure(host, error, incoming !== undefined) : aborted.reason;

    // Stays after the response has begun: a socket that breaks while the request body is still being sent fails here.
    outgoing.on("error", (error) => reject(explain(error)));
    outgoing.on("response", (response) => {
      incoming = response;
      resolve({
        status: response.statusCode ?? 0,
        headers: joinHeaders(response.headers),
        body: readBytes(response, explain),
      });
    });
    if (signal !== undefined) outgoing.on("close", followSignal(signal, abort));
    outgoing.end(body);
  });
}

/** A URL in the form that Node's HTTP module takes. */
interface Address {
  readonly isSecure: boolean;
  /** Name and port, for messages. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string | undefined;
  readonly path: string;
  readonly auth: string | undefined;
}

function readUrl(text: string): Address {
  if (!URL.canParse(text))
    throw new TypeError("The URL cannot be read. Give an absolute one, such as https://host/path.");
  const { protocol, host, hostname, port, pathname, search, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") {
    throw new TypeError(`The URL has the protocol ${protocol} where http: or https: is needed.`);
  }
  return {
    isSecure: protocol === "https:",
    host,
    // Only in a URL is an IPv6 address in brackets.
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: port === "" ? undefined : port,
    path: `${pathname}${search}`,
    auth:
      username === "" && password === ""
        ? undefined
        : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
  };
}

function headersFor(headers: HttpRequest["headers"], length: number | undefined): Record<string, string | number> {
  return {
    // A compressed response would have to be collected before it can be read.
    "accept-encoding": "identity",
    ...headers,
    ...(length !== undefined && { "content-length": length }),
  };
}

function joinHeaders(headers: http.IncomingHttpHeaders): Readonly<Record<string, string>> {
  // No prototype, because the server chooses the header names.
  const joined = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = typeof value === "string" ? value : value.join(", ");
  }
  return joined;
}
