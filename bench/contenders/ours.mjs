// Millrace through its public handle: typed events from `for await (const event of run)`, with all guarantees.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { explain, openSession, run, tool } from "millrace";

async function consume(seen, handle) {
  for await (const event of handle) {
    if (event.type === "text-delta") seen.text(event.text);
    else if (event.type === "tool-input-delta") seen.fragment(event.json);
    else if (event.type === "tool-call") seen.call(event.input);
    else if (event.type === "done" && event.result.status !== "success" && event.result.subtype !== "error_max_turns") {
      throw new Error(`${event.result.subtype}: ${event.result.error?.message}`);
    }
  }
}

/** As long and as mixed as a real key: shorter texts and plain words are not searched for in the stream. */
const API_KEY = "sk-proj-T3BlbkFJb8h2Qx7VwZr5Yt1Lm9Nc4Ka6Pd0Se3Uf8Gi2Hj7Wo5X";

const HOSTS = {
  openai: (url) => ["openai/bench", { openai: { apiKey: API_KEY, baseUrl: url } }],
  anthropic: (url) => ["anthropic/bench", { anthropic: { apiKey: API_KEY, baseUrl: url } }],
  gemini: (url) => ["google/bench", { google: { apiKey: API_KEY, baseUrl: url } }],
};

/** One reply is the workload; the limit prevents a second request after the tool calls. */
const once = (api) => (seen, url) => {
  const [backend, options] = HOSTS[api](url);
  return consume(seen, run(backend, "go", { ...options, limits: { turns: 1 } }));
};

const loop = (api) => (seen, url) => {
  const [backend, options] = HOSTS[api](url);
  const add = tool("add", "Add two numbers", { a: "number", b: "number" }, (input) => seen.add(input));
  return consume(seen, run(backend, "go", { ...options, tools: [add], limits: { turns: 1000 } }));
};

/** A `claude` that prints a file. */
const executable = fileURLToPath(new URL("../claude-from-file.sh", import.meta.url));
const cli = (seen, file) => {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, BENCH_FILE: file };
  return consume(seen, run("claude-code", "go", { cwd: dirname(file), claudeCode: { executable, env } }));
};

/** The same as on the command line. */
const MAX_WAITING = 4_194_304;

/** Takes this many characters per millisecond, and reports when too many are pending. */
function createSlowWriter(perMs) {
  let pieces = [];
  let next = 0;
  let waiting = 0;
  let timer;
  let wake;
  const take = () => {
    for (let taken = 0; taken < perMs && next < pieces.length; next += 1) taken += takePiece(pieces[next].length);
    if (next === pieces.length) {
      pieces = [];
      next = 0;
    }
    timer = waiting === 0 ? undefined : setTimeout(take, 1);
    if (waiting <= MAX_WAITING) wake?.();
  };
  const takePiece = (length) => {
    waiting -= length;
    return length;
  };
  return {
    write(text) {
      pieces.push(text);
      waiting += text.length;
      timer ??= setTimeout(take, 1);
    },
    /** Whether the pending text is bounded: by the limit plus the one event that exceeded it. */
    isBounded: () => waiting <= MAX_WAITING + 4096,
    room() {
      return waiting <= MAX_WAITING ? undefined : new Promise((resolve) => (wake = resolve));
    },
  };
}

/** W1 as it is shown to a person or a program, at the reader's pace. */
const shown = (perMs, makeSink) => async (seen, url) => {
  const [backend, options] = HOSTS.openai(url);
  const writer = createSlowWriter(perMs);
  const sink = makeSink(await import("millrace/sinks"), writer.write);
  for await (const event of run(backend, "go", { ...options, limits: { turns: 1 } })) {
    sink.accept(event);
    if (event.type === "text-delta") {
      seen.text(event.text);
      if (!writer.isBounded()) throw new Error("Too much waits for the writer.");
    }
    const room = writer.room();
    if (room !== undefined) await room;
  }
};
const terminal = (markdown) =>
  shown(1024, ({ createTerminalSink }, write) =>
    createTerminalSink({ out: write, aside: () => {}, color: markdown, width: 100, showThinking: false, markdown }),
  );

/** By name: found and asked for its version in every run. */
const claudeRuns = (mode) => (program) => ({
  call: (seen) => consume(seen, run("claude-code", "go", { claudeCode: { executable: program, mode } })),
  close() {},
});

export const claude = {
  plain: claudeRuns("plain"),
  control: claudeRuns("control"),
  /** Found and asked for its version once. */
  async kept(program) {
    const { claudeCode } = await import("millrace/claude-code");
    const backend = claudeCode({ executable: program, mode: "plain" });
    return { call: (seen) => consume(seen, run(backend, "go")), close() {} };
  },
  turn(program) {
    const session = openSession("claude-code", { claudeCode: { executable: program, mode: "control" } });
    return { call: (seen) => consume(seen, session.send("go")), close: () => session.close() };
  },
};

export const explainRoute = () =>
  explain("claude-code", { tools: [ADD], hooks: { "before-tool": [() => undefined] }, claudeCode: { mode: "auto" } });
const ADD = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

export const tasks = {
  "openai-text": once("openai"),
  "openai-text-terminal": terminal(false),
  "openai-text-markdown": terminal(true),
  "openai-text-ndjson": shown(32_768, ({ createNdjsonSink }, write) => createNdjsonSink(write)),
  "openai-calls": once("openai"),
  "openai-loop": loop("openai"),
  "anthropic-text": once("anthropic"),
  "anthropic-calls": once("anthropic"),
  "anthropic-loop": loop("anthropic"),
  "gemini-text": once("gemini"),
  "cli-text": cli,
  "cli-huge": cli,
};
