// How long one long answer holds up a server: node bench/reply-size.mjs [text|input|members|result|all] 1 16 64   (megabytes; needs dist)

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { agent, tool } from "../dist/index.js";
import { createServer } from "../dist/server/index.js";
import { openStore } from "../dist/runtime/stores/sqlite.js";
import { createScriptedBackend } from "../dist/testing/index.js";

const PIECE = 'A sentence of a model that does not stop, with a quote " and a line.\n'.repeat(15).slice(0, 1024);
const item = (fields) => ({ seq: -1, ts: 0, runId: "", ...fields });

/** Reads the answer in another thread, so that only the server's own work is measured here. */
const READER = `
const { parentPort, workerData: { url, id } } = require("node:worker_threads");
(async () => {
  const response = await fetch(url + "/api/threads/" + id + "/chat", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ input: "Go on" }),
  });
  let bytes = 0;
  for await (const piece of response.body) bytes += piece.length;
  const thread = await (await fetch(url + "/api/threads/" + id)).text();
  const run = await (await fetch(url + "/api/runs/" + response.headers.get("x-run-id"))).text();
  parentPort.postMessage({ bytes, thread: thread.length, status: JSON.parse(run).status });
})();
`;

const KINDS = {
  /** A text that streams. */
  text: (pieces) =>
    async function* () {
      const parts = [];
      for (let at = 0; at < pieces; at += 64) {
        const batch = Array.from({ length: 64 }, (_, index) => `${at + index} ${PIECE}`);
        parts.push(...batch);
        yield batch.map((text) => item({ type: "text-delta", messageId: "m", index: 0, text }));
        await new Promise((resolve) => setImmediate(resolve));
      }
      const text = parts.join("");
      yield [item({ type: "message", id: "m", role: "assistant", blocks: [{ type: "text", text }] })];
    },
  /** The arguments of a tool call: one long text. */
  input: (pieces) => [streamCall({ text: PIECE.repeat(pieces) }), { text: "Kept." }],
  /** Arguments with very many members. */
  members: (pieces) => {
    const rows = Array.from({ length: pieces * 20 }, (_, at) => ({ at, name: `row ${at}`, on: true }));
    return [streamCall({ rows }), { text: "Kept." }];
  },
  /** What a tool gives back. */
  result: (pieces) => [streamCall({ pieces }), { text: "Kept." }],
};

/** A call whose arguments stream. Written beforehand: that is the model's work and not the server's. */
function streamCall(input) {
  const json = JSON.stringify(input);
  const call = { callId: "c", name: "keep" };
  return async function* () {
    for (let from = 0; from < json.length; from += 65_536) {
      const piece = json.slice(from, from + 65_536);
      yield [item({ type: "tool-input-delta", messageId: "m", index: 0, ...call, json: piece })];
      await new Promise((resolve) => setImmediate(resolve));
    }
    const blocks = [{ type: "tool-call", ...call, input }];
    yield [item({ type: "message", id: "m", role: "assistant", blocks, stopReason: "tool-use" })];
  };
}

/** The most memory that was in use, looked at ten times a second. */
function watchMemory() {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 100);
  return () => {
    clearInterval(timer);
    return most - before;
  };
}

async function measure(kind, megabytes) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-reply-size-"));
  const store = await openStore(join(folder, "data"));
  const replies = KINDS[kind](megabytes * 1024);
  const backend = createScriptedBackend(Array.isArray(replies) ? replies : [replies]);
  const keep = tool({
    name: "keep",
    description: "Keeps something.",
    input: { type: "object" },
    run: ({ pieces }) => (pieces === undefined ? "kept" : PIECE.repeat(pieces)),
  });
  const clerk = agent({ name: "clerk", backend, tools: [keep] });
  const run = { limits: { replyBytes: 1024 * 1_048_576 } };
  const server = createServer({ store, agents: [clerk], target: "clerk", page: false, run });
  const { url } = await server.listen();
  const created = await fetch(`${url}/api/threads`, { method: "POST" });
  const { id } = await created.json();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const memory = watchMemory();
  const startedAt = performance.now();
  delay.enable();
  const reader = new Worker(READER, { eval: true, workerData: { url, id } });
  const { bytes, status } = await new Promise((resolve, reject) =>
    reader.once("message", resolve).once("error", reject),
  );
  delay.disable();
  const figures = {
    status,
    "longest block ms": Math.round(delay.max / 1e6),
    "p99 ms": Math.round(delay.percentile(99) / 1e6),
    "total ms": Math.round(performance.now() - startedAt),
    "MB sent": Math.round(bytes / 1e6),
    "MB more at most": Math.round(memory() / 1e6),
  };
  console.log(`${kind}, ${megabytes} MB:`, JSON.stringify(figures));
  await server.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}

const [first, ...rest] = process.argv.slice(2);
const kinds = first in KINDS ? [first] : first === "all" ? Object.keys(KINDS) : ["text"];
const sizes = kinds.length === 1 && !(first in KINDS) ? [first, ...rest] : rest;
for (const kind of kinds) for (const size of sizes) await measure(kind, Number(size));
