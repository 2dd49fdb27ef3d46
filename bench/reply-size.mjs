// How long one long answer holds up a server: node bench/reply-size.mjs 1 16 32   (megabytes; needs dist)

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { agent } from "../dist/index.js";
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
  parentPort.postMessage({ bytes, thread: thread.length, run: run.length });
})();
`;

async function measure(megabytes) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-reply-size-"));
  const store = await openStore(join(folder, "data"));
  const pieces = megabytes * 1024;
  const backend = createScriptedBackend([
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
  ]);
  const clerk = agent({ name: "clerk", backend });
  const run = { limits: { replyBytes: 1024 * 1_048_576 } };
  const server = createServer({ store, agents: [clerk], target: "clerk", page: false, run });
  const { url } = await server.listen();
  const created = await fetch(`${url}/api/threads`, { method: "POST" });
  const { id } = await created.json();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const before = process.memoryUsage.rss();
  const startedAt = performance.now();
  delay.enable();
  const reader = new Worker(READER, { eval: true, workerData: { url, id } });
  const { bytes } = await new Promise((resolve, reject) => reader.once("message", resolve).once("error", reject));
  delay.disable();
  const figures = {
    "longest block ms": Math.round(delay.max / 1e6),
    "p99 ms": Math.round(delay.percentile(99) / 1e6),
    "total ms": Math.round(performance.now() - startedAt),
    "MB sent": Math.round(bytes / 1e6),
    "MB more": Math.round((process.memoryUsage.rss() - before) / 1e6),
  };
  console.log(`${megabytes} MB:`, JSON.stringify(figures));
  await server.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}

for (const size of process.argv.slice(2)) await measure(Number(size));
