import type * as http from "node:http";
import type { Socket } from "node:net";
import type { Fetch, HttpRequest, HttpResponse } from "#domain";
import { followSignal } from "#streams";
import { readBytes } from "../readable-bytes.ts";
import { ConnectionFailure } from "./connection-failure.ts";

/** A `Fetch` that keeps connections for later requests until it is closed. */
export interface HttpFetch extends Fetch {
  /** Closes all connections, also those in use. Idempotent. Idle ones do not keep the process alive anyway. */
  close(): void;
}

export interface HttpFetchOptions {
  /** How long a connection is kept that nobody uses. Default 30 000. */
  readonly idleMs?: number;
}

const IDLE_MS = 30_000;

/**
 * Makes real HTTP exchanges on Node's own sockets: web streams cost about twice as much per byte.
 *
 * Follows no redirect and never tries again; who calls decides about limits and retries. Rejects with
 * `ConnectionFailure`, or with the signal's reason when aborted, also in the middle of a body. A body must be read to
 * its end, left (which closes the connection) or aborted.
 *
 * @example
 * const fetch = createHttpFetch()
 * const { status, body } = await fetch({ method: "GET", url: "http://127.0.0.1:8080/", headers: {} })
 */
export function createHttpFetch({ idleMs = IDLE_MS }: HttpFetchOptions = {}): HttpFetch {
  let plain: Pool | undefined;
  let secure: Pool | undefined;
  const poolFor = ({ isSecure }: Address): Pool =>
    isSecure ? (secure ??= openSecurePool(idleMs)) : (plain ??= openPlainPool(idleMs));

  const fetch = async (request: HttpRequest): Promise<HttpResponse> => {
    request.signal?.throwIfAborted();
    const address = parseUrl(request.url);
    // As bytes from here on: the length of a text would have to be counted, and the text encoded after that.
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
 * Idle connections kept per host. More than a thousand runs at once are rare, and whoever has had five hundred will have
 * them again: to close a connection and open the next one costs more than what streams through it.
 */
const KEPT_CONNECTIONS = 1024;

/** The connections to all hosts that are reached in the same way. */
interface Pool {
  /** Begins a request on one of them. */
  dial(request: HttpRequest, address: Address, length: number | undefined): http.ClientRequest;
  close(): void;
}

const POOL_OPTIONS = { keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS, scheduling: "lifo" } as const;

// Node's modules are taken at the first request: they are a good part of a cold start, and TLS is not always needed.

function openPlainPool(idleMs: number): Pool {
  const { Agent, request } = process.getBuiltinModule("node:http");
  const agent = dropIdle(new Agent(POOL_OPTIONS), idleMs);
  return {
    dial: ({ method, headers }, { hostname, port, path, auth }, length) => {
      const all = headersFor(headers, length);
      // Without a name for TLS Node would work one out, for each request.
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
 * Has an agent close connections that nobody uses. Its own option for that counts while they are in use, too, when silence
 * is for others to judge.
 */
function dropIdle<Pool extends http.Agent>(agent: Pool, idleMs: number): Pool {
  const { keepSocketAlive, reuseSocket } = agent;
  agent.keepSocketAlive = (socket) => {
    const isKept: unknown = keepSocketAlive.call(agent, socket);
    // The agent closes an idle connection whose time is up.
    (socket as Socket).setTimeout(idleMs);
    return isKept;
  };
  agent.reuseSocket = (socket, request) => {
    (socket as Socket).setTimeout(0);
    reuseSocket.call(agent, socket, request);
  };
  return agent;
}

/** Sends the body and resolves when the answer begins. */
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
      // Takes the answer with it, if there is one already.
      outgoing.destroy();
    };
    const explain = (error: Error): unknown =>
      aborted === undefined ? new ConnectionFailure(host, error, incoming !== undefined) : aborted.reason;

    // Stays after the answer began: a socket that breaks while the body of the request is still going out ends here.
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

/** A URL as Node's HTTP takes it. */
interface Address {
  readonly isSecure: boolean;
  /** Name and port, for messages. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string | undefined;
  readonly path: string;
  readonly auth: string | undefined;
}

// Runs on one host have one address, and reading it is a good part of starting a request.
let lastUrl: { readonly text: string; readonly address: Address } | undefined;

function parseUrl(text: string): Address {
  if (lastUrl?.text !== text) lastUrl = { text, address: readUrl(text) };
  return lastUrl.address;
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
    // An IPv6 address stands in brackets in a URL, and nowhere else.
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
    // A compressed answer would have to be gathered before it can be read.
    "accept-encoding": "identity",
    ...headers,
    ...(length !== undefined && { "content-length": length }),
  };
}

function joinHeaders(headers: http.IncomingHttpHeaders): Readonly<Record<string, string>> {
  // Without a prototype: header names are the server's.
  const joined = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = typeof value === "string" ? value : value.join(", ");
  }
  return joined;
}
