import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentEvent, messageItem, noticeItem } from "#domain";
import { agent } from "#runtime";
import { createServer, type ServerLimits } from "#server";
import type { Store } from "#sessions";
import { closeRunLog, createScriptedBackend, type ScriptedReply } from "#testing";
import { createSystemFiles, systemClock } from "#transports";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { byEffort } from "../effort.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { followSse } from "./support.ts";

async function listen(
  limits: Partial<ServerLimits>,
  store: Store = createMemoryStore(),
  replies: readonly ScriptedReply[] = [{ text: "x" }],
) {
  const server = createServer({
    store,
    agents: [agent({ name: "clerk", backend: createScriptedBackend(replies) })],
    target: "clerk",
    page: false,
    limits: { requestsPerMinute: 1e9, shutdownMs: 100, ...limits },
  });
  const { url, port } = await server.listen();
  return { server, store, url, port };
}

const opened = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once("connect", () => resolve()));
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => (socket.destroyed ? resolve() : socket.once("close", () => resolve())));

/** A log that is much larger than what may wait for one reader. */
async function writeBigLog(store: Store, megabytes: number): Promise<number> {
  await store.createRun({ id: "big", createdAt: 1 });
  const text = "x".repeat(64 * 1024);
  const count = megabytes * 16;
  const [notice, done] = closeRunLog([noticeItem("status", { text })], "big") as [AgentEvent, AgentEvent];
  for (let seq = 0; seq < count; seq += 16) {
    await store.append(
      "big",
      Array.from({ length: 16 }, (_, at) => ({ ...notice, seq: seq + at })),
    );
  }
  await store.append("big", [{ ...done, seq: count }]);
  return count + 1;
}

function readBig(port: number, visit: () => void = () => undefined): Promise<"done" | "broken"> {
  return new Promise((resolve, reject) => {
    const request = get({ port, host: "127.0.0.1", path: "/api/runs/big/events", agent: false }, (response) => {
      followSse(response, visit).then(resolve, reject);
    });
    request.on("error", reject);
  });
}

describe("R14: readers that stop reading", () => {
  it("cost next to no memory and nobody else's time, are cut off, and can come back", async () => {
    const folder = temporaryFolder("stall");
    const store = await openSqliteStore({
      folder: join(folder, "data"),
      clock: systemClock,
      files: createSystemFiles(),
    });
    const megabytes = byEffort({ quick: 25, full: 100, nightly: 500 });
    const events = await writeBigLog(store, megabytes);
    const { server, port } = await listen({ stallMs: 3000 }, store);
    // As much as at full effort: until then the process takes memory that it keeps and uses again.
    for (let read = 0; read < 100; read += megabytes) await readBig(port);

    const before = process.memoryUsage.rss();
    const stalled = Array.from({ length: 20 }, () => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write("GET /api/runs/big/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
      socket.pause();
      return socket;
    });
    await Promise.all(stalled.map(opened));
    let highest = before;
    let read = 0;
    const end = await readBig(port, () => {
      read += 1;
      if (read % 64 === 0) highest = Math.max(highest, process.memoryUsage.rss());
    });
    expect(end).toBe("done");
    expect(read).toBe(events);
    // 20 stalled readers and one that reads all of it, in one process.
    expect((highest - before) / 1_048_576).toBeLessThan(64 + 20);

    const readMetrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await expect.poll(readMetrics, { timeout: 60_000 }).toMatch(/millrace_failures_total\{kind="stream-stalled"\} 20/);
    const cut = Promise.all(stalled.map(closed));
    for (const socket of stalled) socket.resume();
    await cut;
    const metrics = await readMetrics();
    expect(metrics).toMatch(/millrace_streams_open 0/);
    expect(await readBig(port)).toBe("done");
    await server.close();
    await store.close();
  }, 120_000);
});

describe("SEC17: hostile connections", () => {
  /** 500 connections whose headers never end. */
  async function openSlow(port: number): Promise<Socket[]> {
    const sockets = Array.from({ length: 500 }, () => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: ");
      return socket;
    });
    await Promise.all(sockets.map(opened));
    return sockets;
  }

  it("500 sockets that never finish their headers do not keep others out", async () => {
    // None is cut off while the test runs: an answer did not have to wait for that.
    const { server, port, url } = await listen({ headersMs: 600_000, requestMs: 600_000 });
    const sockets = await openSlow(port);
    for (let tries = 0; tries < 20; tries += 1) expect((await fetch(`${url}/healthz`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await server.close();
  }, 60_000);

  it("500 sockets that never finish their headers are cut off", async () => {
    const { server, port } = await listen({ headersMs: 1000, requestMs: 1500 });
    const sockets = await openSlow(port);
    for (const socket of sockets) socket.resume();
    await Promise.all(sockets.map(closed));
    await server.close();
  }, 60_000);

  it("a body that never comes is given up", async () => {
    const { server, port } = await listen({ headersMs: 500, requestMs: 1000 });
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(
      "POST /api/threads HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    );
    socket.resume();
    await closed(socket);
    await server.close();
  }, 60_000);

  it.each([
    [
      "10 000 headers",
      `GET /healthz HTTP/1.1\r\nhost: localhost\r\n${"a: b\r\n".repeat(10_000)}\r\n`,
      /^HTTP\/1.1 (400|431)/,
    ],
    [
      "one endless header",
      `GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ${"a".repeat(100_000)}\r\n\r\n`,
      /^HTTP\/1.1 431/,
    ],
    [
      "a path of 100 000 letters",
      `GET /${"a".repeat(100_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
      /^HTTP\/1.1 4(14|31)/,
    ],
    ["no host", "GET /healthz HTTP/1.1\r\n\r\n", /^HTTP\/1.1 400/],
    ["two hosts", "GET /healthz HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n", /^HTTP\/1.1 (400|403)/],
    [
      "two lengths",
      "POST /api/threads HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
      /^HTTP\/1.1 400/,
    ],
    [
      "length and chunks",
      "POST /api/threads HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      /^HTTP\/1.1 400/,
    ],
    ["an absolute address", "GET http://evil.example/healthz HTTP/1.1\r\nhost: evil.example\r\n\r\n", /^HTTP\/1.1 4/],
    [
      "F-A7: an absolute address of a foreign host, under a Host of ours",
      "GET http://evil.example/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n",
      /^HTTP\/1.1 403/,
    ],
    [
      "F-A7: a foreign host behind a name to log in with",
      "GET http://localhost@evil.example/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n",
      /^HTTP\/1.1 40/,
    ],
    ["F-A7: another scheme", "GET ws://evil.example/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n", /^HTTP\/1.1 40/],
    ["nonsense", "\x16\x03\x01\x02\0\x01\0\x01\xfc\r\n\r\n", /^HTTP\/1.1 400/],
  ])("%s is refused, and the server continues", async (_, bytes, expected) => {
    const { server, port, url } = await listen({});
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    let answer = "";
    socket.on("data", (part) => {
      answer += part.toString("latin1");
      if (answer.includes("\r\n\r\n")) socket.end();
    });
    socket.write(bytes, "latin1");
    await closed(socket);
    expect(answer).toMatch(expected);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await server.close();
  });

  it("a body of 100 MB is refused before it is read", async () => {
    const { server, port } = await listen({});
    const before = process.memoryUsage.rss();
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    let answer = "";
    socket.on("data", (part) => {
      answer += part.toString();
    });
    socket.write(
      "POST /api/threads HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    const piece = `10000\r\n${" ".repeat(65_536)}\r\n`;
    for (let sent = 0; sent < 1600 && !socket.destroyed && answer === ""; sent += 1) {
      if (!socket.write(piece))
        await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed(socket)]);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1.1 413/);
    expect((process.memoryUsage.rss() - before) / 1_048_576).toBeLessThan(64);
    await server.close();
  });
});

describe("fan-out", () => {
  it("fifty readers of one run get the same bytes, in order, and all of them the end", async () => {
    const talk: ScriptedReply = async function* () {
      for (let at = 0; at < 200; at += 1) {
        yield [noticeItem("status", { at })];
        if (at % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      yield [
        messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "end" }], stopReason: "end-turn" }),
      ];
    };
    const { server, store, url, port } = await listen({}, createMemoryStore(), [talk]);
    const json = { "content-type": "application/json" };
    const { id } = (await (
      await fetch(`${url}/api/threads`, { method: "POST", body: "{}", headers: json })
    ).json()) as { id: string };
    const chat = await fetch(`${url}/api/threads/${id}/chat`, { method: "POST", body: '{"input":"x"}', headers: json });
    const runId = chat.headers.get("x-run-id") ?? "";
    const read = (): Promise<number[]> =>
      new Promise((resolve, reject) => {
        const seqs: number[] = [];
        get({ port, host: "127.0.0.1", path: `/api/runs/${runId}/events`, agent: false }, (response) => {
          followSse(response, ({ seq }) => seqs.push(seq)).then(() => resolve(seqs), reject);
        }).on("error", reject);
      });
    const readers = await Promise.all(Array.from({ length: 50 }, read));
    await chat.body?.cancel();
    const expected = (await store.read(runId)).map(({ seq }) => seq);
    for (const seqs of readers) expect(seqs).toEqual(expected);
    await server.close();
  });
});
