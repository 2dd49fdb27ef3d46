// Many readers of as many runs, in a process of their own: what they do costs the server nothing.
// node load-readers.mjs <url> <streams> <words of a stream> [leave]
// Says what came of it: {"words","faults","late":{"p50","p99","max"}} (milliseconds from mouth to ear).

import { Agent, get, request } from "node:http";

const [url, streams, perStream, leave] = process.argv.slice(2);
/** Opened at a time: as they come in life, not a thousand in one breath. */
const WAVE = 10;

const { hostname: host, port } = new URL(String(url));
const agent = new Agent({ keepAlive: true, maxSockets: WAVE });

const post = (/** @type {string} */ path, /** @type {string} */ body) =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    request({ host, port, path, agent, method: "POST", headers }, resolve).on("error", reject).end(body);
  });

const textOf = async (/** @type {AsyncIterable<Buffer>} */ response) => {
  let text = "";
  for await (const bytes of response) text += bytes.toString();
  return text;
};

/** @type {number[]} */
const delays = [];
/** @type {string[]} */
const faults = [];
let words = 0;

/** Takes a frame apart by hand. */
function read(/** @type {{ next: number, words: number }} */ reader, /** @type {string} */ frame, since = 0) {
  const data = /^data: (.*)$/m.exec(frame)?.[1];
  if (data === undefined) return false;
  const event = JSON.parse(data);
  const first = event.firstSeq ?? event.seq;
  if (first !== reader.next) faults.push(`expected ${reader.next}, saw ${first}`);
  reader.next = event.seq + 1;
  if (event.type === "text-delta") {
    const said = event.text.trim().split(" ").map(Number);
    reader.words += said.length;
    // What was said before somebody listened waited for him.
    for (const at of said) if (at >= since) delays.push(Date.now() - at);
  }
  return event.type === "done";
}

/** Opens a stream; what comes back is the reading of it. */
async function open() {
  const { id } = JSON.parse(await textOf(await post("/api/threads", "{}")));
  const chat = await post(`/api/threads/${id}/chat`, '{"input":"x"}');
  const runId = chat.headers["x-run-id"];
  chat.destroy();
  const response = await new Promise((resolve, reject) => {
    get({ host, port, path: `/api/runs/${runId}/events`, agent: false }, resolve).on("error", reject);
  });
  const since = Date.now();
  const reader = { next: 0, words: 0 };
  const reading = (async () => {
    let rest = "";
    let isDone = false;
    for await (const bytes of response) {
      const frames = (rest + bytes.toString("latin1")).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) isDone = read(reader, frame, since) || isDone;
    }
    if (!isDone) faults.push("no done");
    if (reader.words !== Number(perStream)) faults.push(`${reader.words} words`);
    words += reader.words;
  })();
  return { reading };
}

/** @type {Promise<void>[]} */
const readings = [];
while (readings.length < Number(streams)) {
  const wave = await Promise.all(Array.from({ length: Math.min(WAVE, Number(streams) - readings.length) }, open));
  readings.push(...wave.map(({ reading }) => reading));
}
if (leave === undefined) await Promise.all(readings);
agent.destroy();
delays.sort((left, right) => left - right);
const at = (/** @type {number} */ part) => delays[Math.min(delays.length - 1, Math.floor(delays.length * part))];
process.stdout.write(
  `${JSON.stringify({ words, faults: faults.slice(0, 10), late: { p50: at(0.5), p99: at(0.99), max: at(1) } })}\n`,
);
