// The cost of one large reply in the library, for each kind of backend and each shape of a reply.
//
//   node bench/reply-backends.mjs [backend|all] [shape|all] [megabytes]      needs dist
//
// The block is measured as in reply-size.mjs. With HELD=1 the figure "held" is the most memory that stays reachable;
// the garbage collections for it disturb everything else. The host of a model and the programs are other processes.

import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { watch } from "./reply-watch.mjs";

const PIECE = 'A sentence of a model that does not stop, with a quote " and a line.\n'.repeat(15).slice(0, 1024);
const BACKENDS = ["anthropic", "openai", "google", "claude-plain", "claude-control", "command"];
const rowsOf = (pieces) => Array.from({ length: pieces * 20 }, (_, at) => ({ at, name: `row ${at}`, on: true }));
const chunksOf = (pieces) => Array.from({ length: pieces }, (_, at) => `${at} ${PIECE}`);

/** The model's first reply; to everything else it replies "Kept.". */
const SHAPES = {
  text: (pieces) => ({ chunks: chunksOf(pieces) }),
  thinking: (pieces) => ({ thinking: chunksOf(pieces).join("") }),
  input: (pieces) => ({ toolCalls: [{ name: "keep", input: { text: PIECE.repeat(pieces) } }] }),
  members: (pieces) => ({ toolCalls: [{ name: "keep", input: { rows: rowsOf(pieces) } }] }),
  structured: (pieces) => ({ chunks: cut(JSON.stringify({ rows: rowsOf(pieces) })) }),
  result: () => ({ toolCalls: [{ name: "keep", input: {} }] }),
  rows: () => ({ toolCalls: [{ name: "keep", input: {} }] }),
  history: () => ({ text: "Kept." }),
};

const PROGRAM = (lines) => `#!${process.execPath}
const { createReadStream } = require("node:fs");
const say = () => createReadStream(${JSON.stringify(lines)}).pipe(process.stdout, { end: false });
if (process.argv.includes("--version")) console.log("2.1.325 (Claude Code)");
else if (!process.argv.includes("--input-format")) say();
else require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { type, request_id } = JSON.parse(line);
  if (type === "user") say();
  if (type === "control_request") console.log(JSON.stringify({ type: "control_response", response: { subtype: "success", request_id, response: { commands: [], models: [] } } }));
});
`;

function cut(text) {
  const pieces = [];
  for (let from = 0; from < text.length; from += 1024) pieces.push(text.slice(from, from + 1024));
  return pieces;
}

if (process.argv[2] === "--host") await answerAsHost(process.argv[3], Number(process.argv[4]));
else if (process.argv[2] === "--run") await measure(process.argv[3], process.argv[4], Number(process.argv[5]));
else await measureAll();

async function measureAll() {
  const [backend = "all", shape = "all", megabytes = "16"] = process.argv.slice(2);
  const execArgv = process.env.HELD === "1" ? ["--expose-gc"] : [];
  for (const one of backend === "all" ? BACKENDS : backend.split(",")) {
    for (const other of shape === "all" ? Object.keys(SHAPES) : shape.split(",")) {
      const child = fork(fileURLToPath(import.meta.url), ["--run", one, other, megabytes], {
        execArgv: [
          ...execArgv,
          ...(process.env.PROF === undefined
            ? []
            : [
                "--cpu-prof",
                `--cpu-prof-name=${process.env.PROF}-${one}-${other}.cpuprofile`,
                "--cpu-prof-dir=/tmp/b1-prof",
              ]),
        ],
      });
      await new Promise((resolve) => child.once("exit", resolve));
    }
  }
}

async function answerAsHost(shape, megabytes) {
  const { createEmulator } = await import("../dist/emulator/index.js");
  const reply = SHAPES[shape](megabytes * 1024);
  const rules = [{ match: { user: "Go on", turn: 0 }, reply }, { reply: { text: "Kept." } }];
  const { url } = await createEmulator({ script: { rules } }).listen();
  process.send(url);
}

/** The equivalent lines of Claude Code, or of our own format. Written to a file, which the program only copies. */
function linesOf(shape, megabytes, isClaude) {
  const { chunks, thinking, toolCalls, text } = SHAPES[shape](megabytes * 1024);
  const write = (value) => `${JSON.stringify(value)}\n`;
  const call = toolCalls?.[0];
  const pieces = chunks ?? (thinking === undefined ? [text ?? "Kept."] : cut(thinking));
  if (!isClaude) {
    const lines = pieces.map((piece) => write({ type: thinking === undefined ? "text" : "thinking", text: piece }));
    if (call !== undefined) lines.push(write({ type: "tool_call", id: "c", name: "keep", input: call.input }));
    return lines;
  }
  const session_id = "c7d2f448-e902-4876-81cb-c894f8e73260";
  const event = (value) => write({ type: "stream_event", event: value, session_id, parent_tool_use_id: null });
  const kind = thinking === undefined ? "text" : "thinking";
  const opening =
    call === undefined ? { type: kind, [kind]: "" } : { type: "tool_use", id: "c", name: "Keep", input: {} };
  const delta = (piece) =>
    call === undefined ? { type: `${kind}_delta`, [kind]: piece } : { type: "input_json_delta", partial_json: piece };
  const written = call === undefined ? pieces : cut(JSON.stringify(call.input));
  const usage = { input_tokens: 5, output_tokens: 7 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "bench", stop_reason: null, usage };
  const whole = call === undefined ? { type: kind, [kind]: pieces.join("") } : { ...opening, input: call.input };
  return [
    write({ type: "system", subtype: "init", cwd: "/", session_id, tools: [], mcp_servers: [], model: "bench" }),
    event({ type: "message_start", message: { ...message, content: [] } }),
    event({ type: "content_block_start", index: 0, content_block: opening }),
    ...written.map((piece) => event({ type: "content_block_delta", index: 0, delta: delta(piece) })),
    event({ type: "content_block_stop", index: 0 }),
    write({ type: "assistant", message: { ...message, content: [whole] }, session_id, parent_tool_use_id: null }),
    event({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage }),
    event({ type: "message_stop" }),
    write({
      type: "result",
      subtype: "success",
      is_error: false,
      result: "Kept.",
      session_id,
      num_turns: 1,
      usage,
      total_cost_usd: 0,
    }),
  ];
}

async function measure(backend, shape, megabytes) {
  const { command, run, tool } = await import("../dist/index.js");
  const folder = mkdtempSync(join(tmpdir(), "millrace-reply-backends-"));
  const limits = { replyBytes: 1024 * 1_048_576 };
  const give =
    { result: () => PIECE.repeat(megabytes * 1024), rows: () => rowsOf(megabytes * 1024) }[shape] ?? (() => "kept");
  const keep = tool({ name: "keep", description: "Keeps it.", input: { type: "object" }, run: give });
  const output =
    shape === "structured"
      ? { type: "object", properties: { rows: { type: "array" } }, required: ["rows"] }
      : undefined;
  const isModel = ["anthropic", "openai", "google"].includes(backend);
  let host;
  let ask;
  if (isModel) {
    host = fork(fileURLToPath(import.meta.url), ["--host", shape, String(megabytes)], { execArgv: [] });
    const url = await new Promise((resolve) => host.once("message", resolve));
    const place = { apiKey: "sk-bench", baseUrl: backend === "openai" ? `${url}/v1` : url };
    const options = { limits, [backend]: place, tools: [keep], ...(output && { output }) };
    const past = (text) => [
      { id: "a", role: "user", blocks: [{ type: "text", text }] },
      { id: "b", role: "assistant", blocks: [{ type: "text", text: "Yes." }] },
      { id: "c", role: "user", blocks: [{ type: "text", text: "Go on" }] },
    ];
    const input = (isWarm) =>
      shape === "history" ? past(isWarm ? "Hi" : PIECE.repeat(megabytes * 1024)) : isWarm ? "Hi" : "Go on";
    ask = (isWarm) => run(`${backend}/bench`, input(isWarm), isWarm ? { ...options, output: undefined } : options);
  } else {
    const isClaude = backend !== "command";
    const write = (name, lines) => {
      writeFileSync(join(folder, `${name}.ndjson`), lines.join(""));
      writeFileSync(join(folder, name), PROGRAM(join(folder, `${name}.ndjson`)), { mode: 0o755 });
      return join(folder, name);
    };
    const small = write("small", linesOf("history", 0, isClaude));
    const large = write("large", linesOf(shape, megabytes, isClaude));
    const mode = backend === "claude-control" ? "control" : "plain";
    ask = (isWarm) => {
      const program = isWarm ? small : large;
      return isClaude
        ? run("claude-code", "Go on", { limits, cwd: folder, claudeCode: { executable: program, mode } })
        : run(command([program]), "Go on", { limits });
    };
  }
  const read = async (isWarm) => {
    const handle = ask(isWarm);
    let last;
    let characters = 0;
    for await (const event of handle) {
      last = event;
      if (event.type === "text-delta" || event.type === "thinking-delta") characters += event.text.length;
    }
    return { result: last.result, characters, handle };
  };
  await read(true);
  const stop = watch({ lookMs: process.env.HELD === "1" ? 100 : 0 });
  const { result, characters, handle } = await read(false);
  const { longestMs, moreBytes, heldBytes } = stop();
  const mb = (bytes) => Number((bytes / 1_048_576 / megabytes).toFixed(1));
  console.log(
    `${backend} ${shape}, ${megabytes} MB:`,
    JSON.stringify({
      status: result.status,
      ...(result.error !== undefined && { error: `${result.error.code}: ${result.error.message.slice(0, 90)}` }),
      "longest block ms": Math.round(longestMs),
      "MB of deltas": Math.round(characters / 1e6),
      "grown per MB": mb(moreBytes),
      ...(heldBytes > 0 && { "held per MB": mb(heldBytes) }),
      id: handle.id.slice(0, 4),
    }),
  );
  host?.kill();
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}
