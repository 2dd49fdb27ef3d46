import { Session } from "node:inspector/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentEvent, Fetch, HttpRequest, Message, ProcessHandle, Spawn } from "#domain";
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
  readonly options?: RunOptions;
  /** What was said before. */
  readonly past?: readonly Message[];
  /** What the tool of the shape returns. */
  readonly output?: unknown;
  /** What has to be in the result. */
  kept(done: Extract<AgentEvent, { type: "done" }>): unknown;
  readonly expected: unknown;
}

function cut(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / 1000) }, (_, at) => text.slice(at * 1000, at * 1000 + 1000));
}

const pieces = cut(TEXT);
/** Shorter: the emulator writes a thought in very small pieces. */
const THOUGHT = TEXT.slice(0, 600_000);
const input = { text: TEXT, rows };
const row = {
  type: "object",
  properties: { at: { type: "integer" }, name: { type: "string" }, on: { type: "boolean" } },
  required: ["at", "name", "on"],
  additionalProperties: false,
};
const SCHEMA = {
  type: "object",
  properties: { text: { type: "string" }, rows: { type: "array", items: row } },
  required: ["text", "rows"],
  additionalProperties: false,
};
const ROW = { at: z.number(), name: z.string(), on: z.boolean() };
const SHAPES: Readonly<Record<string, Shape>> = {
  text: { reply: { chunks: pieces }, kept: ({ result: { text } }) => text, expected: TEXT },
  thinking: {
    reply: { thinking: THOUGHT, text: "Kept." },
    options: { thinkingTokens: 2000 },
    kept: ({ result: { thinking } }) => thinking,
    expected: THOUGHT,
  },
  "tool input": {
    reply: { toolCalls: [{ name: "keep", input }] },
    kept: ({ result: { toolCalls } }) => toolCalls[0]?.input,
    expected: input,
  },
  "tool input under a policy": {
    reply: { toolCalls: [{ name: "keep", input }] },
    options: {
      permissions: { deny: ["keep(*forbidden*)"], ask: ["keep"] },
      permission: ({ input: given }) => ({ allow: true, input: given }),
      hooks: { "before-tool": [({ input: given }) => ({ input: given })], "after-tool": [() => undefined] },
    },
    kept: ({ result: { toolCalls } }) => toolCalls[0]?.input,
    expected: input,
  },
  "tool result": {
    reply: { toolCalls: [{ name: "keep", input: {} }] },
    output: rows,
    kept: ({ result: { toolCalls } }) => String(toolCalls[0]?.output).slice(0, 200_000),
    expected: JSON.stringify(rows).slice(0, 200_000),
  },
  "structured output": {
    reply: { chunks: cut(JSON.stringify(input)) },
    options: { output: SCHEMA },
    kept: ({ result: { structured } }) => structured,
    expected: input,
  },
  "output of a zod schema": {
    reply: { chunks: cut(JSON.stringify(input)) },
    options: { output: z.object({ text: z.string(), rows: z.array(z.object(ROW)) }) },
    kept: ({ result: { structured } }) => structured,
    expected: input,
  },
  history: {
    reply: { text: "Kept." },
    past: pieces.map((text, at) => ({
      id: `past-${at}`,
      role: at % 2 === 0 ? "user" : "assistant",
      blocks: [{ type: "text", text }],
    })),
    kept: ({ result: { text } }) => text,
    expected: "Kept.",
  },
};

/** The prompt of a shape: its past, which ends with an answer, and a question. */
function promptOf({ past = [] }: Shape): string | Message[] {
  const question: Message = { id: "question", role: "user", blocks: [{ type: "text", text: "Go on" }] };
  return past.length === 0 ? "Go on" : [...past.slice(past.length % 2), question];
}

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
async function openModel(target: string, shape: Shape): Promise<Place> {
  const { reply, output, options: given } = shape;
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
  const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
  await toEnd(startRun(target, promptOf(shape), { ...given, tools }, { ...world, fetch: record }), clock);
  const start = (options: RunOptions): Run => {
    let asked = 0;
    const fetch: Fetch = async () => {
      const bytes = answers[Math.min(asked, answers.length - 1)] as Uint8Array;
      asked += 1;
      return { status: 200, headers: { "content-type": "text/event-stream" }, body: inReads(bytes) };
    };
    return startRun(target, promptOf(shape), { ...given, ...options, tools }, { ...world, fetch, nextTurn });
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

/** A process that answers what it is asked on the control channel, and prints its lines when it is sent a message. */
function spawnTalking(bytes: Uint8Array): Spawn {
  return async () => {
    const waiting: Uint8Array[] = [];
    let wake = (): void => undefined;
    let isOver = false;
    async function* stdout(): AsyncGenerator<Uint8Array> {
      for (;;) {
        for (const read of waiting.splice(0)) yield* inReads(read);
        if (isOver) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
    async function* nothing(): AsyncGenerator<Uint8Array> {}
    let leave: (exit: { code: number; signal: null }) => void = () => undefined;
    const exit = new Promise<{ code: number; signal: null }>((resolve) => (leave = resolve));
    const end = (): void => {
      isOver = true;
      wake();
      leave({ code: 0, signal: null });
    };
    const handle: ProcessHandle = {
      pid: 1,
      stdout: stdout(),
      stderr: nothing(),
      write: async (written) => {
        const text = new TextDecoder().decode(written);
        const id = /"type":"control_request","request_id":"([^"]+)"/.exec(text)?.[1];
        const response = { subtype: "success", request_id: id, response: {} };
        if (id !== undefined) waiting.push(new TextEncoder().encode(line({ type: "control_response", response })));
        if (text.includes('"type":"user"')) waiting.push(bytes);
        wake();
      },
      endInput: end,
      kill: end,
      exit,
    };
    return handle;
  };
}

/** One block of a reply as the Messages API and our own format write it. */
function blockOf({ reply: { toolCalls, thinking, chunks, text } }: Shape) {
  const call = toolCalls?.[0];
  if (call !== undefined) {
    const opening = { type: "tool_use", id: "c", name: "keep", input: {} };
    const deltas = cut(JSON.stringify(call.input)).map((json) => ({ type: "input_json_delta", partial_json: json }));
    const lines = [{ type: "tool_call", id: "c", name: "keep", input: call.input }];
    return { opening, whole: { ...opening, input: call.input }, deltas, lines };
  }
  if (thinking !== undefined) {
    const opening = { type: "thinking", thinking: "", signature: "" };
    const deltas = cut(thinking).map((piece) => ({ type: "thinking_delta", thinking: piece }));
    const lines = cut(thinking).map((piece) => ({ type: "thinking", text: piece }));
    return { opening, whole: { ...opening, thinking }, deltas, lines };
  }
  const written = chunks ?? [text ?? ""];
  return {
    opening: { type: "text", text: "" },
    whole: { type: "text", text: written.join("") },
    deltas: written.map((piece) => ({ type: "text_delta", text: piece })),
    lines: written.map((piece) => ({ type: "text", text: piece })),
  };
}

async function openClaude(shape: Shape, mode: "plain" | "control"): Promise<Place> {
  const { opening, whole, deltas } = blockOf(shape);
  const message = { id: "m1", role: "assistant", model: "m", content: [whole], usage: {} };
  const event = (value: object) =>
    line({ type: "stream_event", event: value, session_id: "session-1", parent_tool_use_id: null });
  const text = whole.type === "text" ? (whole as { readonly text: string }).text : "Kept.";
  // Its answer in a form comes as a value in control mode, and as text in plain mode.
  const isValue = mode === "control" && shape.options?.output !== undefined;
  const lines = [
    line(INIT),
    event({ type: "message_start", message: { ...message, content: [] } }),
    event({ type: "content_block_start", index: 0, content_block: opening }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index: 0, delta })),
    line({ type: "assistant", message, parent_tool_use_id: null, session_id: "session-1" }),
    event({ type: "content_block_stop", index: 0 }),
    event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} }),
    event({ type: "message_stop" }),
    line(result(text, isValue ? { structured_output: shape.expected } : {})),
  ];
  const bytes = new TextEncoder().encode(lines.join(""));
  const spawn = mode === "plain" ? spawnPrinting(bytes) : spawnTalking(bytes);
  const place = openScripted([]);
  const { world } = createTestWorld();
  return {
    clock: place.clock,
    start: (options) => {
      const backend = createClaudeCodeBackend({ skipVersionCheck: true, mode }, { ...place.world, spawn });
      const seams = { ...world, clock: place.clock, spawn } as World;
      return startRun(backend, promptOf(shape), { ...shape.options, ...options }, seams);
    },
  };
}

async function openCommand(shape: Shape): Promise<Place> {
  const lines = blockOf(shape).lines.map(line);
  const { world, clock } = createTestWorld();
  const spawn = spawnPrinting(new TextEncoder().encode(lines.join("")));
  const seams = { ...world, spawn };
  return {
    clock,
    start: (options) =>
      startRun(commandIn(["agent"], {}, seams), promptOf(shape), { ...shape.options, ...options }, seams),
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
  "claude-code, plain": (shape) => openClaude(shape, "plain"),
  "claude-code, control": (shape) => openClaude(shape, "control"),
  command: openCommand,
};
/** Tools of ours run on model backends only, in these tests. */
const CASES = Object.keys(BACKENDS).flatMap((backend) =>
  Object.keys(SHAPES)
    .filter(
      (shape) =>
        !["tool result", "tool input under a policy"].includes(shape) ||
        ["anthropic", "openai", "google"].includes(backend),
    )
    .map((shape) => [backend, shape] as const),
);

describe.each(CASES)("F-B1: %s, a large %s", (backend, name) => {
  const shape = SHAPES[name] as Shape;
  const open = BACKENDS[backend] as (shape: Shape) => Promise<Place>;

  it("ends with one done, is kept complete, is never read or written at once, and is held a bounded number of times", async () => {
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
    // Claude Code takes one text, which is written at once: that is many times as fast as writing members.
    const isOneText = backend.startsWith("claude-code") && name === "history";
    if (!isOneText) expect(longest).toBeLessThan(AT_ONCE);
    log.length = 0;
    const size = JSON.stringify(shape.reply).length;
    expect(((await heldBytes()) - before) / Math.max(size, MEGABYTE)).toBeLessThan(6);
    expect(run?.isComplete()).toBe(true);
    assertRunLog(await toEnd(run as Run, clock));
  });

  // What a tool returns, and what was said before, is no part of a reply.
  if (name === "tool result" || name === "history") return;
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
