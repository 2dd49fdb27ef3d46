// Prints, as JSON, the source files with a function that runs for every delta of a model: {"delta":[…],"event":[…]}.
// node walk-files.mjs <dist>
// `delta`: a run with a secret, read with `for await`. `event`: a run of a server with a SQLite store, read over SSE.
// The functions are counted by V8 while the middle of the answer is streamed, and found in the sources by the source
// maps. Each delta is sent only when the previous one was read, so that none of them are joined.

import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { Session } from "node:inspector";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const DELTAS = 40;
/** The first and the last counted delta may be counted in part. */
const OFTEN = DELTAS - 2;
/** So many come before and after the counted ones. */
const OTHERS = 5;

const [dist = ""] = process.argv.slice(2);
const { run } = await import(`${dist}/index.js`);
const { createServer } = await import(`${dist}/server/index.js`);
const { openStore } = await import(`${dist}/runtime/stores/sqlite.js`);

/** What was read of the answer, and what is called when there is more. */
let answered = "";
let onRead = () => undefined;
/** @param {string} text */
const read = (text) => {
  answered += text;
  onRead();
};
/** @param {string} word */
const untilRead = (word) =>
  new Promise((resolve) => {
    onRead = () => void (answered.includes(word) && resolve(undefined));
    onRead();
  });

const profiler = new Session();
profiler.connect();
profiler.post("Profiler.enable");

/** @param {object} delta @param {string | null} [finish_reason] */
const packet = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: "reply", model: "gpt-5", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

let counted = new Set();
const model = createHttpServer((request, response) => void reply(request, response));
model.listen(0, "127.0.0.1");
await once(model, "listening");
const address = model.address();
process.env.OPENAI_BASE_URL = `http://127.0.0.1:${typeof address === "object" && address?.port}/v1`;
process.env.OPENAI_API_KEY = "sk-0123456789abcdefghijklmnop";

for await (const event of run("openai/gpt-5", "Hello")) if (event.type === "text-delta") read(event.text);
const delta = counted;
answered = "";

const folder = mkdtempSync(join(tmpdir(), "millrace-walk-"));
const store = await openStore(folder);
const server = createServer({ store, target: "openai/gpt-5", page: false });
const { url } = await server.listen({ port: 0 });
const headers = { "content-type": "application/json" };
const thread = await fetch(`${url}/api/threads`, { method: "POST", headers, body: "{}" });
const { id } = JSON.parse(await thread.text());
const answer = await fetch(`${url}/api/threads/${id}/chat`, { method: "POST", headers, body: '{"input":"Hello"}' });
const decoder = new TextDecoder();
for await (const bytes of answer.body ?? []) read(decoder.decode(bytes, { stream: true }));
await server.close();
await store.close();
rmSync(folder, { recursive: true, force: true });
model.close();

process.stdout.write(JSON.stringify({ delta: [...delta], event: [...counted] }));

/**
 * Sends the answer, and counts in its middle.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
async function reply(request, response) {
  request.resume();
  await once(request, "end");
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(packet({ role: "assistant", content: "" }));
  for (let number = 0; number < DELTAS + 2 * OTHERS; number += 1) {
    if (number === OTHERS) profiler.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    response.write(packet({ content: ` word-${number}.` }));
    await untilRead(`word-${number}.`);
    if (number === OTHERS + DELTAS - 1) counted = countedFiles();
  }
  response.write(packet({}, "stop"));
  response.end("data: [DONE]\n\n");
}

/** The files with a function that was called for every counted delta. */
function countedFiles() {
  /** @type {Set<string>} */
  const files = new Set();
  profiler.post("Profiler.takePreciseCoverage", (_, { result }) => {
    for (const { url, functions } of result) {
      if (!url.startsWith("file:") || !fileURLToPath(url).startsWith(dist)) continue;
      const often = functions.filter(
        ({ functionName, ranges }) => functionName !== "" && (ranges[0]?.count ?? 0) >= OFTEN,
      );
      const offsets = often.map(({ ranges }) => ranges[0]?.startOffset ?? 0);
      for (const file of sourcesOf(fileURLToPath(url), offsets)) files.add(file);
    }
  });
  profiler.post("Profiler.stopPreciseCoverage");
  return files;
}

/**
 * The source files of these positions in a built file.
 *
 * @param {string} path
 * @param {readonly number[]} offsets
 */
function sourcesOf(path, offsets) {
  if (offsets.length === 0 || !existsSync(`${path}.map`)) return [];
  const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
  const text = readFileSync(path, "utf8");
  return offsets.flatMap((offset) => {
    const before = text.slice(0, offset);
    const line = before.split("\n").length - 1;
    const entry = map.findEntry(line, offset - before.lastIndexOf("\n") - 1);
    return "originalSource" in entry ? [posix.normalize(entry.originalSource).replace(/^.*?(?=src\/)/, "")] : [];
  });
}
