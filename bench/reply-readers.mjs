// What one large answer costs the others on the built server (`millrace serve`, SQLite, loopback), by who reads it.
//
//   node bench/reply-readers.mjs [shape,…|all] [readers,…|all] [megabytes,…]      needs dist
//
// The host of the model and the readers are other processes. "block" is the CPU time of the serving thread between two
// turns of its event loop, "wall" the same by the clock, "healthz" the longest of requests to /healthz, one every 20 ms.

import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHost, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const SELF = fileURLToPath(import.meta.url);
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SENTENCE = 'A sentence of a model that does not stop, with a quote " and a line.\n';
const rowsOf = (bytes) =>
  Array.from({ length: Math.floor(bytes / 52) }, (_, at) => ({ at, name: `row ${at}`, on: true }));

/** How a model writes the bytes of an answer: [text, characters per delta]. */
const SHAPES = {
  small: (bytes) => [SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, bytes), 24],
  large: (bytes) => [SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, bytes), 262_144],
  structured: (bytes) => [
    JSON.stringify({ rows: rowsOf(bytes) })
      .slice(0, -2)
      .concat("]}"),
    1024,
  ],
  result: () => ["Kept.", 24],
  rows: () => ["Kept.", 24],
};
const CALLS = { result: "keepText", rows: "keepRows" };

/** Live readers from the start, readers that take nothing, and readers that come when the run is over. */
const READERS = {
  one: { live: 1 },
  live: { live: 4 },
  stalled: { live: 1, stalled: 4 },
  late: { live: 1, late: 4 },
  lateOthers: { live: 1, late: 16 },
};

const [, , mode, ...rest] = process.argv;
if (mode === "--host") startHost(rest[0], Number(rest[1]));
else if (mode === "--read") await read(JSON.parse(rest[0]));
else if (mode === "--health") await watchHealth(rest[0]);
else await measureAll();

function startHost(shape, bytes) {
  const frame = (delta, finish = null) =>
    `data: ${JSON.stringify({ id: "c", model: "bench", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const [text, step] = SHAPES[shape](bytes);
  createHost(async (request, response) => {
    let body = "";
    for await (const piece of request) body = (body + piece).slice(0, 400_000);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const isWarm = body.includes("Warm up");
    const call = CALLS[shape];
    const isCalled = call !== undefined && !isWarm && !body.includes('"role":"tool"');
    if (isCalled) {
      const named = { index: 0, id: "c1", type: "function", function: { name: call, arguments: "{}" } };
      return response.end(`${frame({ tool_calls: [named] })}${frame({}, "tool_calls")}data: [DONE]\n\n`);
    }
    const written = isWarm ? (shape === "structured" ? '{"rows":[]}' : "Warm.") : text;
    let waiting = "";
    for (let from = 0; from < written.length; from += step) {
      waiting += frame({ content: written.slice(from, from + step) });
      if (waiting.length < 65_536) continue;
      if (!response.write(waiting)) await new Promise((resolve) => response.once("drain", resolve));
      waiting = "";
    }
    response.end(`${waiting}${frame({}, "stop")}data: [DONE]\n\n`);
  }).listen(0, "127.0.0.1", function () {
    process.send(`http://127.0.0.1:${this.address().port}`);
  });
}

/** Reads one stream and tells its bytes and its last event; a stalled one takes nothing. */
async function read({ url, isStalled }) {
  if (isStalled) {
    get(url, (response) => response.pause());
    process.send("stalled");
    return;
  }
  const response = await fetch(url);
  let bytes = 0;
  let end = "";
  for await (const piece of response.body) {
    bytes += piece.length;
    end = (end + Buffer.from(piece.subarray(-64)).toString("latin1")).slice(-64);
  }
  process.send({ bytes, isWhole: end.endsWith("\n\n") });
  process.exit();
}

async function watchHealth(url) {
  const times = [];
  process.on("message", () => {
    times.sort((a, b) => a - b);
    process.send({ most: times.at(-1), p99: times[Math.floor(times.length * 0.99)], count: times.length });
    process.exit();
  });
  for (;;) {
    const begun = performance.now();
    await (await fetch(`${url}/healthz`)).text();
    times.push(performance.now() - begun);
    if (times.length === 20) {
      times.length = 0;
      times[0] = 0;
      process.send("ready");
      times.length = 21;
      times.fill(0);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function told(child) {
  return new Promise((resolve) => child.once("message", resolve));
}

async function measureAll() {
  const list = (text, all) => (text === undefined || text === "all" ? all : text.split(","));
  const [shapes, readers, sizes] = [
    list(mode, Object.keys(SHAPES)),
    list(rest[0], Object.keys(READERS)),
    list(rest[1], ["15"]),
  ];
  for (const shape of shapes)
    for (const size of sizes) for (const who of readers) await measure(shape, who, Number(size));
}

async function measure(shape, who, megabytes) {
  const bytes = Math.floor(megabytes * 1_048_576);
  const folder = mkdtempSync(join(tmpdir(), "millrace-reply-readers-"));
  const children = [];
  const start = (...args) => {
    const child = fork(SELF, args, { execArgv: [] });
    children.push(child);
    return child;
  };
  const hostUrl = await told(start("--host", shape, String(bytes)));
  writeFileSync(join(folder, "config.mjs"), configOf(shape, bytes, hostUrl));
  const serveArgs = ["serve", "--port", "0", "--data", join(folder, "data"), "--config", join(folder, "config.mjs")];
  const server = fork(join(ROOT, "bin/millrace.js"), serveArgs, {
    execArgv: [
      "--import",
      pathToFileURL(join(ROOT, "bench/serve-watch.mjs")).href,
      ...(process.env.PROF ? ["--cpu-prof", `--cpu-prof-dir=${process.env.PROF}`] : []),
    ],
    stdio: ["ignore", "pipe", process.env.LOG ? "inherit" : "ignore", "ipc"],
    env: { ...process.env, XDG_CONFIG_HOME: folder, OPENAI_API_KEY: "sk-bench" },
  });
  const url = await new Promise((resolve, reject) => {
    server.once("exit", () => reject(new Error("The server has ended.")));
    let said = "";
    server.stdout.on("data", (piece) => {
      said += piece;
      const found = /http:\/\/[\d.:]+/.exec(said);
      if (found !== null) resolve(found[0]);
    });
  });
  const post = async (path, body) =>
    await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const chat = async (input) => {
    const { id } = await (await post("/api/threads", {})).json();
    const response = await post(`/api/threads/${id}/chat`, { input });
    const runId = response.headers.get("x-run-id");
    await response.body?.cancel();
    if (runId === null) throw new Error(`chat failed: ${response.status}`);
    return runId;
  };
  const follow = (runId, isStalled = false) =>
    start("--read", JSON.stringify({ url: `${url}/api/runs/${runId}/events`, isStalled }));
  await told(follow(await chat("Warm up")));
  const health = start("--health", url);
  await told(health);
  server.send("begin");
  await told(server);
  const startedAt = performance.now();
  const { live = 0, stalled = 0, late = 0 } = READERS[who];
  const runId = await chat("Go on");
  const liveOnes = Array.from({ length: live }, () => follow(runId));
  for (let at = 0; at < stalled; at += 1) follow(runId, true);
  const answers = await Promise.all(liveOnes.map(told));
  const runMs = performance.now() - startedAt;
  if (late > 0 && process.env.LATE_ONLY) {
    server.send("end");
    await told(server);
    server.send("begin");
    await told(server);
  }
  answers.push(...(await Promise.all(Array.from({ length: late }, () => told(follow(runId))))));
  server.send("end");
  const { cpuMs, wallMs, moreBytes } = await told(server);
  health.send("end");
  const { most, p99 } = await told(health);
  const run = await (await fetch(`${url}/api/runs/${runId}`)).json();
  console.log(
    `${shape} ${who} ${megabytes} MB:`,
    JSON.stringify({
      status: run.status,
      error: run.result?.error?.code,
      block: Math.round(cpuMs),
      wall: Math.round(wallMs),
      healthz: Math.round(most),
      healthz99: Math.round(p99),
      "MB more": Math.round(moreBytes / 1_048_576),
      "MB read": answers.map(({ bytes: each }) => Math.round(each / 1_048_576)).join(" "),
      isWhole: answers.every(({ isWhole }) => isWhole),
      runMs: Math.round(runMs),
      allMs: Math.round(performance.now() - startedAt),
    }),
  );
  server.kill("SIGINT");
  await new Promise((resolve) => server.once("exit", resolve));
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}

function configOf(shape, bytes, hostUrl) {
  const index = pathToFileURL(join(ROOT, "dist/index.js")).href;
  return `import { tool } from ${JSON.stringify(index)};
const rows = ${shape === "rows"} ? Array.from({ length: ${Math.floor(bytes / 52)} }, (_, at) => ({ at, name: "row " + at, on: true })) : [];
const text = ${shape === "result"} ? ${JSON.stringify(SENTENCE)}.repeat(${Math.ceil(bytes / SENTENCE.length)}) : "";
const keep = (name, give) => tool({ name, description: "Keeps it.", input: { type: "object" }, run: give });
export const config = {
  backend: "openai/bench",
  agents: [{ name: "clerk", backend: "openai/bench", instructions: "Go on.",
    tools: [keep("keepText", () => text), keep("keepRows", () => rows)],
    ${shape === "structured" ? 'output: { type: "object", properties: { rows: { type: "array" } }, required: ["rows"] },' : ""}
  }],
  backends: { openai: { apiKey: "sk-bench", baseUrl: ${JSON.stringify(hostUrl)} } },
  permission: () => ({ allow: true }),
};
`;
}
