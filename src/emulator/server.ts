import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { describeThrown, StartError } from "#domain";
import type { Answer } from "./answer.ts";
import type { Exchanges } from "./exchanges.ts";
import { type ApiRequest, ConnectionBroken, MAX_BODY_BYTES } from "./request.ts";

/** Where the emulator listens. */
export interface ListenOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. Only loopback addresses are allowed. */
  readonly host?: string;
}

/** A server that is listening. */
export interface ListeningServer {
  /** The base URL without a path, as the Anthropic and Google SDKs expect it; OpenAI's expects `${url}/v1`. */
  readonly url: string;
  readonly port: number;
  /** Ends all connections and stops listening. Idempotent. */
  close(): Promise<void>;
}

/** Listens for HTTP on this machine. */
export async function listen(
  answer: Answer,
  { port = 0, host = "127.0.0.1" }: ListenOptions,
  exchanges: Exchanges,
): Promise<ListeningServer> {
  checkAddress(port, host);
  const server = createServer((incoming, response) => {
    serve(answer, { incoming, response, exchanges }).catch(() => response.destroy());
  });
  const actual = await open(server, port, host);
  let closing: Promise<void> | undefined;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${actual}`,
    port: actual,
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

function checkAddress(port: number, host: string): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new StartError(
      "invalid-option",
      `port is ${port}. Give a whole number from 0 to 65535; 0 takes any free one.`,
    );
  }
  if (isLoopback(host)) return;
  throw new StartError(
    "invalid-option",
    `host is "${host}". The offline model server accepts any key and produces faults on request, so it listens on this machine only: give 127.0.0.1, ::1 or localhost.`,
  );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function open(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      reject(
        new StartError(
          "invalid-option",
          `Cannot listen on ${host}:${port} (${error.message}). Give another port, or 0 for any free one.`,
          { cause: error },
        ),
      );
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

interface Serving {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly exchanges: Exchanges;
}

async function serve(answer: Answer, { incoming, response, exchanges }: Serving): Promise<void> {
  const controller = new AbortController();
  response.on("close", () => controller.abort(new Error("The other side has gone.")));
  response.on("error", () => controller.abort(new Error("The other side has gone.")));
  const request = await readRequest(incoming, controller.signal);
  exchanges.log(request);
  const untrack = exchanges.track(controller);
  try {
    const { status, headers, body } = await answer(request);
    response.writeHead(status, headers);
    if (incoming.method === "HEAD") {
      response.end();
      return;
    }
    response.flushHeaders();
    for await (const bytes of body) await write(response, bytes);
    response.end();
  } catch (thrown) {
    // All bytes written so far were handed to the system, so the other side receives them before the break.
    if (thrown instanceof ConnectionBroken || response.headersSent || controller.signal.aborted) response.destroy();
    else
      response
        .writeHead(500, { "content-type": "text/plain" })
        .end(`The offline server failed: ${describeThrown(thrown)}`);
  } finally {
    untrack();
  }
}

/** Reads a request to its end, but keeps only enough of the body to see that it is too large. */
async function readRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<ApiRequest> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of incoming as AsyncIterable<Uint8Array>) {
    if (size <= MAX_BODY_BYTES) parts.push(part);
    size += part.length;
  }
  const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://localhost");
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : (value ?? ""),
  ]);
  return {
    method: incoming.method ?? "GET",
    path: pathname,
    query: searchParams,
    headers: Object.fromEntries(headers),
    body: joinParts(parts),
    signal,
  };
}

function joinParts(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Resolves when the bytes were handed to the system, or the other side has gone. */
function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve();
    const done = (): void => {
      response.off("close", done);
      resolve();
    };
    response.once("close", done);
    response.write(bytes, done);
  });
}
