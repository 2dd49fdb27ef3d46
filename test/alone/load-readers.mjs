// Many readers of as many runs, in a process of their own: what they do costs the server nothing.
// node load-readers.mjs <url> <streams> <words of a stream> [leave]
// node load-readers.mjs <name=url,name=url …> <streams> <words of a stream> stay <input>: of several nodes, each stream is read
// at one that does not work on its run.
// Says what came of it: {"words","faults","late":{"p50","p99","max"}} (milliseconds from mouth to ear).

import { Agent, get, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const [urls = "", streams, perStream, leave = "stay", input = "x"] = process.argv.slice(2);
/** Opened at a time: as they come in life, not a thousand in one breath. */
const WAVE = 10;

/** @typedef {{ name: string | undefined, host: string, port: string }} Place */

const places = urls.split(",").map((text) => {
  const [url = "", name] = text.split("=").reverse();
  const { hostname: host, port } = new URL(url);
  return { name, host, port };
});
// Several nodes take long to begin; an idle connection may be closed at the moment it is used.
const agent = new Agent({ keepAlive: places.length === 1, maxSockets: WAVE });
/** For streams, each of which has a connection of its own. */
const ALONE = new Agent({ keepAlive: false });

const post = (/** @type {Place} */ { host, port }, /** @type {string} */ path, /** @type {string} */ body) =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    request({ host, port, path, agent, method: "POST", headers }, resolve).on("error", reject).end(body);
  });

/** @returns {Promise<import("node:http").IncomingMessage>} */
const read = (/** @type {Place} */ { host, port }, /** @type {string} */ path, pool = agent) =>
  new Promise((resolve, reject) => {
    get({ host, port, path, agent: pool }, resolve).on("error", reject);
  });

/** A place that does not work on the run, if there are several. */
async function placeOfReader(/** @type {Place} */ first, /** @type {string} */ runId) {
  for (let attempt = 0; places.length > 1 && attempt < 1000; attempt += 1) {
    const { node } = JSON.parse(await textOf(await read(first, `/api/runs/${runId}`)));
    const others = places.filter(({ name }) => name !== node);
    if (node !== undefined) return others[attempt % others.length] ?? first;
    await sleep(20);
  }
  return first;
}

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
function take(/** @type {{ next: number, words: number }} */ reader, /** @type {string} */ frame, since = 0) {
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
async function open(/** @type {number} */ number) {
  const place = /** @type {Place} */ (places[number % places.length]);
  const { id } = JSON.parse(await textOf(await post(place, "/api/threads", "{}")));
  const chat = await post(place, `/api/threads/${id}/chat`, JSON.stringify({ input }));
  const runId = chat.headers["x-run-id"];
  chat.destroy();
  const response = await read(await placeOfReader(place, runId), `/api/runs/${runId}/events`, ALONE);
  const since = Date.now();
  const reader = { next: 0, words: 0 };
  const reading = (async () => {
    let rest = "";
    let isDone = false;
    for await (const bytes of response) {
      const frames = (rest + bytes.toString("latin1")).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) isDone = take(reader, frame, since) || isDone;
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
  const count = Math.min(WAVE, Number(streams) - readings.length);
  const wave = await Promise.all(Array.from({ length: count }, (_, at) => open(readings.length + at)));
  readings.push(...wave.map(({ reading }) => reading));
}
if (leave === "stay") await Promise.all(readings);
agent.destroy();
delays.sort((left, right) => left - right);
const at = (/** @type {number} */ part) => delays[Math.min(delays.length - 1, Math.floor(delays.length * part))];
process.stdout.write(
  `${JSON.stringify({ words, faults: faults.slice(0, 10), late: { p50: at(0.5), p99: at(0.99), max: at(1) } })}\n`,
);
