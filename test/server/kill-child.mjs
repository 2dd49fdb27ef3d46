// A server that kills itself at the k-th passing of a fail-point, as the system or a power cut would: no clean-up runs.
// node kill-child.mjs <dist> <data folder> <fail-point> <k>, or `after-ms` and the milliseconds

import { appendFileSync } from "node:fs";
import { ServerResponse } from "node:http";
import { join } from "node:path";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";

const [dist, folder = "", point, count] = process.argv.slice(2);
const { createServer } = await import(`${dist}/server/index.js`);
const { openStore } = await import(`${dist}/runtime/stores/sqlite.js`);
const { agent, tool } = await import(`${dist}/index.js`);

const EVENTS = 95;

// About a hundred events: deltas, a tool call that is answered, an end.
const backend = {
  kind: "model",
  name: "counting",
  model: "counting-1",
  async *stream(/** @type {{ messages: { blocks: { type: string }[] }[] }} */ request) {
    const isSecond = request.messages.some(({ blocks }) => blocks.some(({ type }) => type === "tool-result"));
    const id = isSecond ? "m2" : "m1";
    const plain = { seq: -1, ts: 0, runId: "" };
    let text = "";
    for (let at = 0; at < (isSecond ? EVENTS - 20 : 10); at += 1) {
      text += `${at} `;
      yield [{ type: "text-delta", ...plain, messageId: id, index: 0, text: `${at} ` }];
      await turn();
      // Long enough for an append of its own: what comes while the store gathers (10 ms) would be stored as one.
      await sleep(12);
    }
    const call = { callId: "c1", name: "nothing", input: {} };
    yield [
      {
        type: "message",
        ...plain,
        id,
        role: "assistant",
        blocks: [{ type: "text", text }, ...(isSecond ? [] : [{ type: "tool-call", ...call }])],
        stopReason: isSecond ? "end-turn" : "tool-use",
        usage: { inputTokens: 1, outputTokens: 1 },
      },
      ...(isSecond ? [] : [{ type: "tool-call", ...plain, ...call, executedBy: "millrace" }]),
    ];
  },
};

let passed = 0;
/** @param {string} name */
const isDue = (name) => name === point && (passed += 1) === Number(count);
const die = () => process.kill(process.pid, "SIGKILL");

// The effect outside: a line at the start and a line at the end of every call.
const nothing = tool(
  "nothing",
  "Has an effect",
  {},
  async (/** @type {unknown} */ _, /** @type {{ runId: string }} */ { runId }) => {
    appendFileSync(join(folder, "effects.txt"), `start ${runId}\n`);
    if (isDue("in-tool")) die();
    await sleep(5);
    appendFileSync(join(folder, "effects.txt"), `end ${runId}\n`);
    return "done";
  },
);

const store = await openStore(folder);
const server = createServer({
  store: {
    ...store,
    async append(/** @type {[string, unknown[], unknown]} */ ...row) {
      if (isDue("before-append")) die();
      await store.append(...row);
      if (isDue("after-append")) die();
    },
  },
  agents: [agent({ name: "counter", backend, tools: [nothing] })],
  target: "counter",
  page: false,
  limits: { requestsPerMinute: 1e9 },
});

// Dies in the middle of a frame, or after one. What was written before is on its way by then: a reader has half a frame.
const write = ServerResponse.prototype.write;
let isDying = false;
ServerResponse.prototype.write = function (/** @type {Uint8Array} */ bytes) {
  if (isDying) return false;
  for (let start = 0; start < bytes.length; ) {
    const end = Buffer.from(bytes).indexOf("\n\n", start) + 2;
    const isEvent = Buffer.from(bytes.subarray(start, end)).includes("\ndata:");
    const cut =
      isEvent && isDue("inside-frame") ? (start + end) >> 1 : isEvent && isDue("after-emit") ? end : undefined;
    if (cut !== undefined) {
      isDying = true;
      write.call(this, bytes.subarray(0, cut), "utf8");
      setTimeout(die, 3);
      return false;
    }
    start = end < 2 ? bytes.length : end;
  }
  return write.call(this, bytes, "utf8");
};

const { url } = await server.listen();
if (point === "after-ms") setTimeout(die, Number(count));
process.stdout.write(`${url}\n`);
