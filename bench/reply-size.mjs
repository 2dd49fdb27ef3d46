// The cost of one large answer in a server: how long it blocks the others, and how much memory it takes.
//
//   node bench/reply-size.mjs [kind|all] 1 16 64      megabytes; needs dist
//
// A block is the CPU time of the serving thread between two turns of its event loop (on Linux; elsewhere the wall time,
// which depends more on the load of the machine than on us). Memory is the peak of the process compared with the value
// after a small earlier run. The asking program and the host of a model are other processes. With HELD=1, "held" is the
// most memory that stays reachable in the serving thread; the garbage collections for it disturb everything else.

import { fork } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer as createHost } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { watch } from "./reply-watch.mjs";

const PIECE = 'A sentence of a model that does not stop, with a quote " and a line.\n'.repeat(15).slice(0, 1024);
const item = (fields) => ({ seq: -1, ts: 0, runId: "", ...fields });
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A streamed text, as deltas of one type. */
const streamText = (pieces, type, block) =>
  async function* () {
    const parts = [];
    for (let at = 0; at < pieces; at += 64) {
      const batch = Array.from({ length: 64 }, (_, index) => `${at + index} ${PIECE}`);
      parts.push(...batch);
      yield batch.map((text) => item({ type, messageId: "m", index: 0, text }));
      await nextTurn();
    }
    yield [item({ type: "message", id: "m", role: "assistant", blocks: [{ type: block, text: parts.join("") }] })];
  };

/** A call with streamed arguments. Prepared beforehand, because that is the model's work and not the server's. */
function streamCall(input) {
  const json = JSON.stringify(input);
  const call = { callId: "c", name: "keep" };
  return async function* () {
    for (let from = 0; from < json.length; from += 65_536) {
      const piece = json.slice(from, from + 65_536);
      yield [item({ type: "tool-input-delta", messageId: "m", index: 0, ...call, json: piece })];
      await nextTurn();
    }
    yield [
      item({
        type: "message",
        id: "m",
        role: "assistant",
        blocks: [{ type: "tool-call", ...call, input }],
        stopReason: "tool-use",
      }),
      item({ type: "tool-call", ...call, input, executedBy: "millrace" }),
    ];
  };
}

const rowsOf = (pieces) => Array.from({ length: pieces * 20 }, (_, at) => ({ at, name: `row ${at}`, on: true }));
const text = (pieces) => [streamText(pieces, "text-delta", "text")];

const KINDS = {
  /** A streamed text. */
  text: { replies: text },
  thinking: { replies: (pieces) => [streamText(pieces, "thinking-delta", "thinking")] },
  /** The arguments of a tool call: one long text. */
  input: { replies: (pieces) => [streamCall({ text: PIECE.repeat(pieces) }), { text: "Kept." }] },
  /** Arguments with very many members. */
  members: { replies: (pieces) => [streamCall({ rows: rowsOf(pieces) }), { text: "Kept." }] },
  /** The result of a tool: a text, or very many members. */
  result: { replies: () => [streamCall({}), { text: "Kept." }], give: (pieces) => PIECE.repeat(pieces) },
  rows: { replies: () => [streamCall({}), { text: "Kept." }], give: rowsOf },
  /** The same text, requested in other ways. */
  runner: { replies: text, query: "?events=runner" },
  chat: { replies: text, query: "?events=chat" },
  markdown: { replies: text, paths: ["/export?format=markdown"] },
  thinkingMarkdown: {
    replies: (pieces) => [streamText(pieces, "thinking-delta", "thinking")],
    paths: ["/export?format=markdown"],
  },
  membersMarkdown: {
    replies: (pieces) => [streamCall({ rows: rowsOf(pieces) }), { text: "Kept." }],
    paths: ["/export?format=markdown"],
  },
  export: { replies: text, paths: ["/export"] },
  /** A text from a model's host, and then a second message: the whole conversation is sent to the host again. */
  host: { target: "openai/bench" },
  history: { target: "openai/bench", paths: ["", "again"] },
};

if (process.argv[2] === "--ask") await ask(...process.argv.slice(3));
else if (process.argv[2] === "--host") await answerAsHost(Number(process.argv[3]));
else if (process.argv[2] === "--serve") await serve(process.argv[3], Number(process.argv[4]));
else await measureAll();

/** Each measurement in a separate process, so that they do not affect each other. */
async function measureAll() {
  const [first = "text", ...rest] = process.argv.slice(2);
  const kinds = Object.hasOwn(KINDS, first) ? [first] : first === "all" ? Object.keys(KINDS) : ["text"];
  const sizes = kinds.length === 1 && !Object.hasOwn(KINDS, first) ? [first, ...rest] : rest;
  for (const kind of kinds) {
    for (const size of sizes.length === 0 ? ["16"] : sizes) {
      const execArgv = process.env.HELD === "1" ? ["--expose-gc"] : [];
      const child = fork(fileURLToPath(import.meta.url), ["--serve", kind, size], { execArgv });
      await new Promise((resolve) => child.once("exit", resolve));
    }
  }
}

/** The other process: requests the answer, and then the given paths. */
async function ask(url, id, asked) {
  const { query, paths } = JSON.parse(asked);
  const read = async (path, init) => {
    const response = await fetch(url + path, init);
    let bytes = 0;
    for await (const piece of response.body) bytes += piece.length;
    return { bytes, runId: response.headers.get("x-run-id") };
  };
  const chat = () => {
    const headers = { "content-type": "application/json" };
    return read(`/api/threads/${id}/chat${query}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ input: "Go on" }),
    });
  };
  const { bytes, runId } = await chat();
  for (const path of paths) await (path === "again" ? chat() : read(`/api/threads/${id}${path}`));
  const run = await (await fetch(`${url}/api/runs/${runId}`)).json();
  process.send({ bytes, status: run.status, error: run.result?.error?.message });
}

/** A model's host: a long text first, and then short ones. */
async function answerAsHost(megabytes) {
  const frame = (delta, finish = null) =>
    `data: ${JSON.stringify({ id: "c", model: "bench", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  let asked = 0;
  const host = createHost(async (request, response) => {
    for await (const _ of request);
    asked += 1;
    const pieces = asked === 1 ? megabytes * 1024 : 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let at = 0; at < pieces; at += 1) {
      const isTaken = response.write(frame({ content: `${at} ${PIECE}` }));
      if (!isTaken) await new Promise((resolve) => response.once("drain", resolve));
    }
    response.end(`${frame({}, "stop")}data: [DONE]\n\n`);
  });
  host.listen(0, "127.0.0.1", () => process.send(`http://127.0.0.1:${host.address().port}`));
}

async function startHost(megabytes) {
  const child = fork(fileURLToPath(import.meta.url), ["--host", String(megabytes)], { execArgv: [] });
  return { url: await new Promise((resolve) => child.once("message", resolve)), close: () => child.kill() };
}

async function serve(kind, megabytes) {
  const { agent, tool } = await import("../dist/index.js");
  const { createServer } = await import("../dist/server/index.js");
  const { openStore } = await import("../dist/runtime/stores/sqlite.js");
  const { createScriptedBackend } = await import("../dist/testing/index.js");
  const { replies, give, query = "", paths = [""], target = "clerk" } = KINDS[kind];
  const folder = mkdtempSync(join(tmpdir(), "millrace-reply-size-"));
  const store = await openStore(join(folder, "data"));
  const limits = { replyBytes: 1024 * 1_048_576 };
  const host = target === "clerk" ? undefined : await startHost(megabytes);
  const keep = tool({
    name: "keep",
    description: "Keeps something.",
    input: { type: "object" },
    run: () => give?.(megabytes * 1024) ?? "kept",
  });
  const scripted = (name, script) => agent({ name, backend: createScriptedBackend(script), tools: [keep] });
  const agents = [
    scripted("warm", [streamCall({ text: "Hi" }), { text: "Ho" }]),
    ...(replies === undefined ? [] : [scripted("clerk", replies(megabytes * 1024))]),
  ];
  const run = { limits, ...(host !== undefined && { openai: { apiKey: "sk-bench", baseUrl: host.url } }) };
  const server = createServer({ store, agents, target, page: false, run });
  const { url } = await server.listen();
  const create = async (target) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/threads`, { method: "POST", headers, body: JSON.stringify({ target }) });
    return (await answer.json()).id;
  };
  const askFor = async (id, asked) => {
    const other = fork(fileURLToPath(import.meta.url), ["--ask", url, id, JSON.stringify(asked)], { execArgv: [] });
    const answer = await new Promise((resolve) => other.once("message", resolve));
    await new Promise((resolve) => other.once("exit", resolve));
    return answer;
  };
  await askFor(await create("warm"), { query: "", paths: [""] });
  const startedAt = performance.now();
  const stop = watch({ lookMs: process.env.HELD === "1" ? 100 : 0 });
  const answer = await askFor(await create(target), { query, paths });
  const { longestMs, moreBytes, heldBytes } = stop();
  const figures = {
    status: answer.status,
    "longest block ms": Math.round(longestMs),
    "total ms": Math.round(performance.now() - startedAt),
    "MB sent": Math.round(answer.bytes / 1e6),
    "MB more at most": Math.round(moreBytes / 1e6),
    "per MB": Number((moreBytes / 1_048_576 / megabytes).toFixed(1)),
    ...(heldBytes > 0 && { "held per MB": Number((heldBytes / 1_048_576 / megabytes).toFixed(1)) }),
    "MB on disk": Math.round(
      ["", "-wal"].reduce((sum, end) => sum + sizeOf(join(folder, `data/millrace.sqlite${end}`)), 0) / 1e6,
    ),
    ...(answer.error !== undefined && { error: answer.error }),
  };
  console.log(`${kind}, ${megabytes} MB:`, JSON.stringify(figures));
  await server.close();
  await store.close();
  host?.close();
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}

function sizeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
