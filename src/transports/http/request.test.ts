import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { HttpRequest } from "#domain";
import { createDeferred } from "#streams";
import { ConnectionFailure } from "./connection-failure.ts";
import { createHttpFetch } from "./request.ts";

const fetch = createHttpFetch();
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  fetch.close();
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A loopback server that answers every request with `answer`. */
async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; server: Server }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`, server };
}

/** A loopback server that writes raw bytes. */
async function serveRaw(speak: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => speak(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(resolve);
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`;
}

const echo = (request: IncomingMessage, response: ServerResponse): void => {
  response.end(JSON.stringify([request.headers.host, request.headers.authorization]));
};

function get(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  return { method: "GET", url, headers: {}, ...more };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no failure",
    (error: unknown) => error,
  );

describe("an exchange", () => {
  it("sends method, path, headers and body, and returns status, headers and body", async () => {
    const { url } = await serve((request, response) => {
      void textOf(request).then((body) => {
        response.writeHead(429, { "retry-after": "3", "set-cookie": ["a=1", "b=2"] });
        response.end(JSON.stringify({ method: request.method, path: request.url, headers: request.headers, body }));
      });
    });
    const { status, headers, body } = await fetch({
      method: "POST",
      url: `${url}?q=1`,
      headers: { "x-api-key": "k", "content-type": "application/json" },
      body: '{"é":1}',
    });
    expect(status).toBe(429);
    expect(headers["retry-after"]).toBe("3");
    expect(headers["set-cookie"]).toBe("a=1, b=2");
    expect(JSON.parse(await textOf(body))).toMatchObject({
      method: "POST",
      path: "/path?q=1",
      headers: { "x-api-key": "k", "content-length": "8", "accept-encoding": "identity" },
      body: '{"é":1}',
    });
  });

  it("sends bytes unchanged", async () => {
    const { url } = await serve((request, response) => void request.pipe(response));
    const sent = new Uint8Array([0, 195, 40, 255]);
    const { body } = await fetch({ method: "POST", url, headers: {}, body: sent });
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    expect([...Buffer.concat(pieces)]).toEqual([...sent]);
  });

  it("SEC6: follows no redirect", async () => {
    let asked = 0;
    const { url } = await serve((_, response) => {
      asked += 1;
      response.writeHead(307, { location: "/elsewhere" }).end("moved");
    });
    const { status, headers, body } = await fetch(get(url, { headers: { authorization: "Bearer secret" } }));
    expect([status, headers["location"], await textOf(body), asked]).toEqual([307, "/elsewhere", "moved", 1]);
  });

  it("reuses a connection after its body was read to the end", async () => {
    const { url, server } = await serve((_, response) => response.end("ok"));
    let connections = 0;
    server.on("connection", () => (connections += 1));
    for (let round = 0; round < 5; round += 1) {
      await textOf((await fetch(get(url))).body);
      // The socket goes back to the pool a turn after the body has ended.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connections).toBe(1);
  });

  it("closes an idle connection, but none that is in use, however silent", async () => {
    const hasty = createHttpFetch({ idleMs: 1 });
    const { url, server } = await serve((request, response) => {
      if (request.headers["x-wait"] === undefined) response.end("ok");
      else setTimeout(() => response.end("late"), 30);
    });
    const gone: Promise<unknown>[] = [];
    server.on("connection", (socket) => gone.push(new Promise((resolve) => socket.on("close", resolve))));
    const first = await textOf((await hasty(get(url))).body);
    const second = await textOf((await hasty(get(url, { headers: { "x-wait": "1" } }))).body);
    expect([first, second]).toEqual(["ok", "late"]);
    await Promise.all(gone);
    hasty.close();
  });

  it("connects to an IPv6 address, and sends a name and a password from the address", async () => {
    const server = createServer(echo);
    const isListening = await new Promise((resolve) => {
      server.on("error", () => resolve(false));
      server.listen(0, "::1", () => resolve(true));
    });
    // Not every machine has it; the address is read the same way everywhere.
    const host = isListening
      ? `[::1]:${(server.address() as AddressInfo).port}`
      : new URL((await serve(echo)).url).host;
    const { body } = await fetch(get(`http://user:p%40ss@${host}/`));
    expect(JSON.parse(await textOf(body))).toEqual([host, `Basic ${btoa("user:p@ss")}`]);
    fetch.close();
    server.close();
  });

  it("gives each piece when it arrives, before the next is sent", async () => {
    const next = createDeferred<void>();
    const { url } = await serve((_, response) => {
      response.write("first");
      void next.promise.then(() => response.end("second"));
    });
    const { body } = await fetch(get(url));
    const reader = body[Symbol.asyncIterator]();
    expect(Buffer.from((await reader.next()).value as Uint8Array).toString()).toBe("first");
    next.resolve();
    expect(Buffer.from((await reader.next()).value as Uint8Array).toString()).toBe("second");
    expect((await reader.next()).done).toBe(true);
  });

  it("I8: slows the sender down to the reader, and loses nothing of 20 MB", async () => {
    let waited = 0;
    const { url } = await serve((_, response) => {
      let left = 320;
      const block = Buffer.alloc(65_536, 120);
      const more = (): void => {
        while (left-- > 0) {
          if (response.write(block)) continue;
          waited += 1;
          response.once("drain", more);
          return;
        }
        response.end();
      };
      more();
    });
    const { body } = await fetch(get(url));
    // Nothing is read: the buffers hold far less than 20 MB, so the sender must be blocked.
    await new Promise((resolve) => setImmediate(resolve));
    let size = 0;
    for await (const piece of body) size += piece.length;
    expect(size).toBe(320 * 65_536);
    expect(waited).toBeGreaterThan(3);
  });

  it("does not let a header name reach a prototype", async () => {
    const url = await serveRaw((socket) =>
      socket.end("HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\nContent-Length: 0\r\n\r\n"),
    );
    const { headers, body } = await fetch(get(url));
    await textOf(body);
    expect(({} as { x?: unknown }).x).toBeUndefined();
    expect(headers["constructor"]).toBe("y");
    expect(Object.getPrototypeOf(headers)).toBeNull();
  });
});

describe("an exchange that breaks", () => {
  it("names the host and the reason when nothing answers", async () => {
    const { url, server } = await serve(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    const error = await failureOf(fetch(get(url, { headers: { authorization: "Bearer secret" } })));
    const host = new URL(url).host;
    expect(error).toBeInstanceOf(ConnectionFailure);
    expect(error).toMatchObject({ code: "ECONNREFUSED", host, answered: false });
    expect((error as Error).message).toBe(
      `Nothing answers at ${host}. Check the address and that the server runs (ECONNREFUSED).`,
    );
  });

  it("reports a name that does not exist", async () => {
    const error = await failureOf(fetch(get("http://user:secret@host.invalid/secret-path?key=secret")));
    expect(error).toMatchObject({ host: "host.invalid", code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/) });
    expect((error as Error).message).not.toContain("secret");
  });

  it("reports a connection closed without an answer", async () => {
    const url = await serveRaw((socket) => socket.destroy());
    expect(await failureOf(fetch(get(url)))).toMatchObject({ code: "ECONNRESET", answered: false });
  });

  it.each([
    ["with a length", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"],
    ["in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
  ])("I4: gives what arrived of a body %s, then throws", async (_, start) => {
    const url = await serveRaw((socket) => socket.end(start));
    const { body } = await fetch(get(url));
    let text = "";
    const reading = (async () => {
      for await (const piece of body) text += Buffer.from(piece).toString();
    })();
    expect(await failureOf(reading)).toMatchObject({
      name: "ConnectionFailure",
      answered: true,
      message: expect.stringContaining("broke before the answer was complete"),
    });
    expect(text).toBe("half");
  });

  it("throws if the body stops being HTTP", async () => {
    const url = await serveRaw((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n"),
    );
    const { body } = await fetch(get(url));
    expect(await failureOf(textOf(body))).toBeInstanceOf(ConnectionFailure);
  });

  it("rejects an answer that is not HTTP", async () => {
    const url = await serveRaw((socket) => socket.end("garbage\r\n\r\n"));
    expect(await failureOf(fetch(get(url)))).toMatchObject({ name: "ConnectionFailure", answered: false });
  });

  it("rejects a URL or a header that cannot be sent, without repeating it", async () => {
    expect(String(await failureOf(fetch(get("not a url with secret"))))).toMatch(/^TypeError: The URL cannot be read/);
    expect(String(await failureOf(fetch(get("file:///etc/passwd"))))).toContain("protocol file:");
    const header = String(await failureOf(fetch(get("http://127.0.0.1:9/", { headers: { "x-api-key": "sec\nret" } }))));
    expect(header).toContain("x-api-key");
    expect(header).not.toContain("ret");
  });
});

describe("an abort", () => {
  const reason = new Error("the user went away");

  it("rejects at once if it came before, and sends no request", async () => {
    let asked = 0;
    const { url } = await serve((_, response) => response.end(String((asked += 1))));
    expect(await failureOf(fetch(get(url, { signal: AbortSignal.abort(reason) })))).toBe(reason);
    expect(asked).toBe(0);
  });

  it("rejects with its reason while waiting for the answer, and closes the connection", async () => {
    const controller = new AbortController();
    const gone = createDeferred<void>();
    const { url } = await serve((request) => {
      request.socket.on("close", () => gone.resolve());
      controller.abort(reason);
    });
    expect(await failureOf(fetch(get(url, { signal: controller.signal })))).toBe(reason);
    await gone.promise;
  });

  it("throws its reason in the middle of a body, and closes the connection", async () => {
    const controller = new AbortController();
    const gone = createDeferred<void>();
    const { url } = await serve((request, response) => {
      request.socket.on("close", () => gone.resolve());
      response.write("half");
    });
    const { body } = await fetch(get(url, { signal: controller.signal }));
    const reader = body[Symbol.asyncIterator]();
    await reader.next();
    const waiting = failureOf(reader.next());
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    await gone.promise;
  });

  it("passes on a reason that is not an error", async () => {
    const controller = new AbortController();
    const { url } = await serve((_, response) => response.write("half"));
    const { body } = await fetch(get(url, { signal: controller.signal }));
    const reader = body[Symbol.asyncIterator]();
    await reader.next();
    const waiting = failureOf(reader.next());
    controller.abort("enough");
    expect(await waiting).toBe("enough");
  });

  it("changes nothing after the end, and leaves no listener on the signal", async () => {
    const { url } = await serve((_, response) => response.end("ok"));
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...given);
    };
    for (let round = 0; round < 20; round += 1)
      expect(await textOf((await fetch(get(url, { signal }))).body)).toBe("ok");
    await new Promise((resolve) => setImmediate(resolve));
    expect(listeners).toBe(0);
    controller.abort(reason);
  });

  it("is the same as leaving the body: the connection is closed", async () => {
    const gone = createDeferred<void>();
    const { url } = await serve((request, response) => {
      request.socket.on("close", () => gone.resolve());
      response.write("half");
    });
    for await (const _ of (await fetch(get(url))).body) break;
    await gone.promise;
  });
});

it("closing ends exchanges in progress", async () => {
  const { url } = await serve((_, response) => response.write("half"));
  const own = createHttpFetch();
  const { body } = await own(get(url));
  const reading = failureOf(textOf(body));
  own.close();
  own.close();
  expect(await reading).toBeInstanceOf(ConnectionFailure);
});
