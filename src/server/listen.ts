import type { Server as HttpServer, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { checkOptionNames, type Clock, StartError } from "#domain";
import type { ServerLimits } from "./limits.ts";
import { isLoopback } from "./origin-check.ts";
import { sendStream } from "./stream-response.ts";

/** Where the server listens. */
export interface ListenOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. An address that other machines can reach requires a token. */
  readonly host?: string;
}

const LISTEN_NAMES = ["port", "host"] satisfies (keyof ListenOptions)[];

/**
 * Checks the names of the options.
 * @throws StartError for an unknown name.
 */
export function checkListenOptions(options: ListenOptions): void {
  checkOptionNames(options, LISTEN_NAMES, "listen");
}

/** A listening server. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  /**
   * Accepts no more connections, gives current responses a moment to reach their readers, and closes the rest.
   * Idempotent.
   */
  close(): Promise<void>;
}

/** Throws a `StartError` if other machines could reach the server without a token. */
export function requireSafeAddress(host: string, hasTokens: boolean): void {
  if (hasTokens || isLoopback(host)) return;
  throw new StartError(
    "invalid-option",
    `host is ${JSON.stringify(host)}, which other machines can reach, and there is no token. Give one (--token, or tokens), or listen on 127.0.0.1.`,
  );
}

/** How long the last responses may take to reach their readers, so that these receive `done`. */
const LINGER_MS = 1000;

/** Serves `fetch` over HTTP. */
export async function listenOn(
  fetch: (request: Request, env: unknown) => Promise<Response> | Response,
  { port = 0, host = "127.0.0.1" }: ListenOptions,
  { limits, clock }: { readonly limits: ServerLimits; readonly clock: Clock },
): Promise<Listening> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new StartError(
      "invalid-option",
      `port is ${port}. Give a whole number from 0 to 65535; 0 takes any free one.`,
    );
  }
  const answer = async (request: Request, env: { readonly outgoing: ServerResponse }): Promise<Response> => {
    const response = await fetch(request, env);
    return sendStream(response, env.outgoing) ? RESPONSE_ALREADY_SENT : response;
  };
  const server = createAdaptorServer({
    fetch: answer as never,
    overrideGlobalObjects: false,
    serverOptions: {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      // Checked often enough to enforce the two timeouts above.
      connectionsCheckingInterval: Math.max(100, Math.min(limits.headersMs, limits.requestMs) / 4),
      keepAliveTimeout: 5000,
      maxHeaderSize: 16_384,
    },
  }) as HttpServer;
  server.maxConnections = limits.connections;
  server.maxHeadersCount = 200;
  server.on("connection", (socket) => socket.setNoDelay(true));
  const actual = await open(server, port, host);
  let closing: Promise<void> | undefined;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${actual}`,
    port: actual,
    close() {
      closing ??= new Promise((resolve) => {
        const takeBack = clock.after(LINGER_MS, () => server.closeAllConnections());
        server.close(() => {
          takeBack();
          resolve();
        });
        server.closeIdleConnections();
      });
      return closing;
    },
  };
}

function open(server: HttpServer, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const message = `Cannot listen on ${host}:${port} (${error.message}). Give another port, or 0 for any free one.`;
      reject(new StartError("invalid-option", message, { cause: error }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
