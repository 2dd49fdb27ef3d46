import { Session } from "node:inspector/promises";
import { describe, expect, it } from "vitest";
import type { AgentEvent, Fetch, HttpRequest, ProcessHandle, Spawn } from "#domain";
import type { EmulatorScript } from "#emulator";
import { type RunOptions, startRun, type World } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import { commandIn } from "../../src/runtime/command.ts";
import { INIT, line, openScripted, result } from "../claude-code/scripted.ts";
import { createTestWorld } from "./model-backends.ts";

// Every shape of a large reply on every kind of backend. What holds up the event loop is not measured with a clock but as
// the longest JSON text that is read or written at once: everything else that is done with a reply is cheaper than that.

const MEGABYTE = 1_048_576;
const TEXT = 'A sentence with a "quote" and an é.\n'.repeat(30_000);
const rows = Array.from({ length: 30_000 }, (_, at) => ({ at, name: `row "${at}"`, on: true }));
/** No text of more characters is read or written at once. */
const AT_ONCE = 400_000;

interface Shape {
  readonly reply: NonNullable<EmulatorScript["rules"][number]["reply"]>;
  /** What the tool of the shape returns. */
  readonly output?: unknown;
  /** What has to be in the result. */
  kept(done: Extract<AgentEvent, { type: "done" }>): unknown;
  readonly expected: unknown;
}

const pieces = Array.from({ length: Math.ceil(TEXT.length / 1000) }, (_, at) =>
  TEXT.slice(at * 1000, at * 1000 + 1000),
);
const input = { text: TEXT, rows };
const SHAPES: Readonly<Record<string, Shape>> = {
  text: { reply: { chunks: pieces }, kept: ({ result: { text } }) => text, expected: TEXT },
  "tool input": {
    reply: { toolCalls: [{ name: "keep", input }] },
    kept: ({ result: { toolCalls } }) => toolCalls[0]?.input,
    expected: input,
  },
  "tool result": {
    reply: { toolCalls: [{ name: "keep", input: {} }] },
    output: rows,
    kept: ({ result: { toolCalls } }) => String(toolCalls[0]?.output).slice(0, 200_000),
    expected: JSON.stringify(rows).slice(0, 200_000),
  },
};

const keep = (output: unknown) => tool("keep", "Keeps it.", { type: "object" } as never, () => output ?? "kept");

async function* inReads(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += 65_536) yield bytes.slice(from, from + 65_536);
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  for await (const bytes of body) read.push(bytes);
  return Buffer.concat(read);
}

type Run = ReturnType<typeof startRun>;
interface Place {
  start(options: RunOptions): Run;
  readonly clock: ReturnType<typeof createTestWorld>["clock"];
}

/** A model whose answers were recorded from the offline one: its own work is not to be measured. */
async function openModel(target: string, { reply, output }: Shape): Promise<Place> {
  const script: EmulatorScript = { rules: [{ match: { turn: 0 }, reply }, { reply: { text: "Kept." } }] };
  const { world, clock } = createTestWorld(script);
  const answers: Uint8Array[] = [];
  const record: Fetch = async (request: HttpRequest) => {
    const response = await world.fetch(request);
    const bytes = await readAll(response.body);
    answers.push(bytes);
    return { ...response, body: inReads(bytes) };
  };
  const tools = [keep(output)];
  await toEnd(startRun(target, "Go on", { tools }, { ...world, fetch: record }), clock);
  const start = (options: RunOptions): Run => {
    let asked = 0;
    const fetch: Fetch = async () => {
      const bytes = answers[Math.min(asked, answers.length - 1)] as Uint8Array;
      asked += 1;
      return { status: 200, headers: { "content-type": "text/event-stream" }, body: inReads(bytes) };
    };
    return startRun(target, "Go on", { ...options, tools }, { ...world, fetch });
  };
  return { start, clock };
}

/** What Claude Code or a command prints, in reads of a pipe. */
function spawnPrinting(bytes: Uint8Array): Spawn {
  async function* nothing(): AsyncGenerator<Uint8Array> {}
  return async () => {
    const handle: ProcessHandle = {
      pid: 1,
      stdout: inReads(bytes),
      stderr: nothing(),
      write: async () => undefined,
      endInput: () => undefined,
      kill: () => undefined,
      exit: Promise.resolve({ code: 0, signal: null }),
    };
    return handle;
  };
}

async function openClaude(shape: Shape): Promise<Place> {
  const call = shape.reply.toolCalls?.[0];
  const content =
    call === undefined
      ? [{ type: "text", text: TEXT }]
      : [{ type: "tool_use", id: "c", name: "keep", input: call.input }];
  const message = { id: "m1", role: "assistant", model: "m", content, usage: {} };
  const opening =
    call === undefined ? { type: "text", text: "" } : { type: "tool_use", id: "c", name: "keep", input: {} };
  const json = call === undefined ? "" : JSON.stringify(call.input);
  const written =
    call === undefined
      ? pieces
      : Array.from({ length: Math.ceil(json.length / 1000) }, (_, at) => json.slice(at * 1000, at * 1000 + 1000));
  const event = (value: object) =>
    line({ type: "stream_event", event: value, session_id: "session-1", parent_tool_use_id: null });
  const delta = (piece: string) =>
    call === undefined ? { type: "text_delta", text: piece } : { type: "input_json_delta", partial_json: piece };
  const lines = [
    line(INIT),
    event({ type: "message_start", message: { ...message, content: [] } }),
    event({ type: "content_block_start", index: 0, content_block: opening }),
    ...written.map((piece) => event({ type: "content_block_delta", index: 0, delta: delta(piece) })),
    line({ type: "assistant", message, parent_tool_use_id: null, session_id: "session-1" }),
    event({ type: "content_block_stop", index: 0 }),
    event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} }),
    event({ type: "message_stop" }),
    line(result(call === undefined ? TEXT : "Kept.")),
  ];
  const spawn = spawnPrinting(new TextEncoder().encode(lines.join("")));
  const place = openScripted([]);
  const { world } = createTestWorld();
  return {
    clock: place.clock,
    start: (options) => {
      const backend = createClaudeCodeBackend({ skipVersionCheck: true, mode: "plain" }, { ...place.world, spawn });
      return startRun(backend, "Go on", options, { ...world, clock: place.clock, spawn } as World);
    },
  };
}

async function openCommand(shape: Shape): Promise<Place> {
  const call = shape.reply.toolCalls?.[0];
  const lines =
    call === undefined
      ? pieces.map((text) => line({ type: "text", text }))
      : [line({ type: "tool_call", id: "c", name: "keep", input: call.input })];
  const { world, clock } = createTestWorld();
  const spawn = spawnPrinting(new TextEncoder().encode(lines.join("")));
  return {
    clock,
    start: (options) => startRun(commandIn(["agent"], {}, { ...world, spawn }), "Go on", options, { ...world, spawn }),
  };
}

async function toEnd(run: Run, clock: Place["clock"]): Promise<AgentEvent[]> {
  const log: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of run) log.push(event);
  })();
  while (!run.isComplete()) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!run.isComplete() && clock.pending() > 0) await clock.advance(500);
  }
  await reading;
  return log;
}

/** The longest JSON text that is read or written at once while this runs. No spies: they would keep all texts. */
async function longestJson<Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly longest: number }> {
  const { parse, stringify } = JSON;
  let longest = 0;
  JSON.parse = (text, reviver) => {
    longest = Math.max(longest, text.length);
    return parse(text, reviver);
  };
  JSON.stringify = (value: unknown, ...more: never[]) => {
    const text = stringify(value, ...more);
    longest = Math.max(longest, (text as string | undefined)?.length ?? 0);
    return text;
  };
  try {
    return { value: await work(), longest };
  } finally {
    Object.assign(JSON, { parse, stringify });
  }
}

async function heldBytes(): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
  return process.memoryUsage().heapUsed;
}

const BACKENDS: Readonly<Record<string, (shape: Shape) => Promise<Place>>> = {
  anthropic: (shape) => openModel("anthropic/test", shape),
  openai: (shape) => openModel("openai/test", shape),
  google: (shape) => openModel("google/test", shape),
  "claude-code": openClaude,
  command: openCommand,
};
/** Tools of ours run on model backends only, in these tests. */
const CASES = Object.keys(BACKENDS).flatMap((backend) =>
  Object.keys(SHAPES)
    .filter((shape) => shape !== "tool result" || ["anthropic", "openai", "google"].includes(backend))
    .map((shape) => [backend, shape] as const),
);

describe.each(CASES)("F-B1: %s, a large %s", (backend, name) => {
  const shape = SHAPES[name] as Shape;
  const open = BACKENDS[backend] as (shape: Shape) => Promise<Place>;

  it("ends with one done, is kept whole, is never read or written at once, and is held a bounded number of times", async () => {
    const { start, clock } = await open(shape);
    // Whatever is loaded with the first run is loaded now.
    await toEnd(start({}), clock);
    const before = await heldBytes();
    let run: Run | undefined;
    const { value: log, longest } = await longestJson(async () => {
      run = start({});
      return await toEnd(run, clock);
    });
    const done = log.at(-1);
    if (done?.type !== "done") throw new Error("no done");
    expect(log.filter(({ type }) => type === "done")).toHaveLength(1);
    expect({ status: done.result.status, error: done.result.error }).toEqual({ status: "success", error: undefined });
    // As text, and not member by member: that would take long, and print megabytes.
    expect(JSON.stringify(shape.kept(done)) === JSON.stringify(shape.expected)).toBe(true);
    const shown = log.flatMap((event) => (event.type === "text-delta" ? event.text : [])).join("");
    if (name === "text") expect(shown === TEXT).toBe(true);
    assertRunLog(log);
    // Gemini sends arguments as a value, and the delta that shows them is written from it at once.
    if (backend !== "google" || name !== "tool input") expect(longest).toBeLessThan(AT_ONCE);
    log.length = 0;
    const size = JSON.stringify(shape.reply).length;
    expect(((await heldBytes()) - before) / Math.max(size, MEGABYTE)).toBeLessThan(6);
    expect(run?.isComplete()).toBe(true);
    assertRunLog(await toEnd(run as Run, clock));
  });

  // What a tool returns is no part of a reply.
  if (name === "tool result") return;
  it("that is over limits.replyBytes ends with one done and its own code, and keeps what came", async () => {
    const { start, clock } = await open(shape);
    const log = await toEnd(start({ limits: { replyBytes: MEGABYTE / 2 } }), clock);
    assertRunLog(log);
    const done = log.at(-1);
    if (done?.type !== "done") throw new Error("no done");
    expect(done.result).toMatchObject({ status: "error", subtype: "reply-too-large" });
    const shown = log.flatMap((event) => (event.type === "text-delta" ? event.text : [])).join("");
    if (name === "text") expect(done.result.text.length).toBeGreaterThan(MEGABYTE / 4);
    expect(done.result.text === shown).toBe(true);
  });
});
