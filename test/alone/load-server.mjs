// A server whose only agent speaks at a steady pace; each word is the moment it was said.
// node load-server.mjs <dist> <data folder> <words> <words a second>
// Says its address, and on each line of stdin what it costs by now: {"rss","peak","cpuMs","files"}.

import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [dist, folder, words, pace] = process.argv.slice(2);
const { createServer } = await import(`${dist}/server/index.js`);
const { openStore } = await import(`${dist}/runtime/stores/sqlite.js`);
const { agent } = await import(`${dist}/index.js`);

const plain = { seq: -1, ts: 0, runId: "" };
const backend = {
  kind: "model",
  name: "steady",
  model: "steady-1",
  async *stream() {
    const begin = performance.now();
    // Numbers, so that what is measured is what the server holds, and not what its model remembers.
    const said = new Float64Array(Number(words));
    for (let at = 0; at < said.length; at += 1) {
      said[at] = Date.now();
      yield [{ type: "text-delta", ...plain, messageId: "m", index: 0, text: `${said[at]} ` }];
      await sleep(Math.max(0, begin + ((at + 1) * 1000) / Number(pace) - performance.now()));
    }
    const blocks = [{ type: "text", text: `${said.join(" ")} ` }];
    yield [{ type: "message", ...plain, id: "m", role: "assistant", blocks, stopReason: "end-turn" }];
  },
};

const store = await openStore(folder);
const server = createServer({
  store,
  agents: [agent({ name: "clerk", backend })],
  target: "clerk",
  page: false,
  limits: { requestsPerMinute: 1e9, streams: 5000, runs: 5000 },
});
const { url } = await server.listen();
process.stdout.write(`${url}\n`);

const peak = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "close") break;
  const { user, system } = process.cpuUsage();
  const cost = {
    rss: process.memoryUsage.rss(),
    peak: peak(),
    cpuMs: (user + system) / 1000,
    files: readdirSync("/proc/self/fd").length,
  };
  process.stdout.write(`${JSON.stringify(cost)}\n`);
}
await server.close();
await store.close();
process.stdin.destroy();
