// The configuration of the nodes that test/cluster starts: an agent whose input says what it does, as JSON.
// { "steps", "ms" }: so many calls of a tool that takes so long and leaves a line at its start and its end
// { "words", "pace" }: so many words at so many a second, each of them the moment at which it was said

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const { tool } = await import(new URL("../../dist/index.js", import.meta.url).href);

const EFFECTS = String(process.env["MILLRACE_TEST_EFFECTS"]);
const PLAIN = { seq: -1, ts: 0, runId: "" };
const USAGE = { inputTokens: 1, outputTokens: 1 };

/** @param {string} id @param {string} text */
const delta = (id, text) => ({ type: "text-delta", ...PLAIN, messageId: id, index: 0, text });

async function* work(/** @type {number} */ turn, /** @type {{ steps: number, ms: number }} */ { steps, ms }) {
  const id = `m${turn}`;
  const isLast = turn >= steps;
  let text = "";
  for (let at = 0; at < 6; at += 1) {
    text += `${turn}.${at} `;
    yield [delta(id, `${turn}.${at} `)];
    await sleep(25);
  }
  if (isLast) {
    text += `Done after ${turn}.`;
    yield [delta(id, `Done after ${turn}.`)];
  }
  const call = { callId: `c${turn}`, name: "step", input: { step: turn, ms } };
  const blocks = [{ type: "text", text }, ...(isLast ? [] : [{ type: "tool-call", ...call }])];
  const stopReason = isLast ? "end-turn" : "tool-use";
  yield [
    { type: "message", ...PLAIN, id, role: "assistant", blocks, stopReason, usage: USAGE },
    ...(isLast ? [] : [{ type: "tool-call", ...PLAIN, ...call, executedBy: "millrace" }]),
  ];
}

async function* say(/** @type {{ words: number, pace: number }} */ { words, pace }) {
  const begin = performance.now();
  let text = "";
  for (let at = 0; at < words; at += 1) {
    const word = `${Date.now()} `;
    text += word;
    yield [delta("m", word)];
    await sleep(Math.max(0, begin + ((at + 1) * 1000) / pace - performance.now()));
  }
  const blocks = [{ type: "text", text }];
  yield [{ type: "message", ...PLAIN, id: "m", role: "assistant", blocks, stopReason: "end-turn", usage: USAGE }];
}

const backend = {
  kind: "model",
  name: "worker",
  model: "worker-1",
  /** @param {{ messages: { role: string, blocks: { type: string, text: string }[] }[] }} request */
  stream({ messages }) {
    const asked = JSON.parse(messages.find(({ role }) => role === "user")?.blocks[0]?.text ?? "{}");
    // It depends on the conversation alone: a run that continues elsewhere is given the reply that it would have been given.
    const turn = messages.filter(({ role }) => role === "assistant").length;
    return asked.words === undefined ? work(turn, asked) : say(asked);
  },
};

const step = tool(
  "step",
  "Leaves a line at its start and its end",
  { step: "number", ms: "number" },
  async (
    /** @type {{ step: number, ms: number }} */ { step: at, ms },
    /** @type {{ runId: string, callId: string }} */ { runId, callId },
  ) => {
    appendFileSync(EFFECTS, `start ${runId} ${at} ${callId}\n`);
    await sleep(ms);
    appendFileSync(EFFECTS, `end ${runId} ${at} ${callId}\n`);
    return at;
  },
);

const limits = { requestsPerMinute: 1e9, runs: 2000, streams: 5000, parkMs: 600_000 };

export const config = { agents: [{ name: "worker", backend, tools: [step] }], server: { limits, page: false } };
