import { afterAll, describe, expect, it } from "vitest";
import { compare, compareIn, documentScorers, errorScenarios, sectionCompleteness } from "#compare";
import { describeThrown } from "#domain";
import { createEmulator } from "#emulator";
import {
  createDeclarativeFormat,
  createDecoder,
  createFormatRegistry,
  isVisible,
  ndjson,
  parseFormatConfig,
} from "#dialects";
import {
  agent,
  agentTool,
  command,
  createToolRegistry,
  decodeStream,
  defineConfig,
  explain,
  openSession,
  replay,
  run,
  swarm,
} from "#runtime";
import { createServer, resultLink } from "#server";
import {
  createFormattedSink,
  createLogSink,
  createMarkdownWriter,
  createProgressSink,
  createTelemetry,
  createTerminalAsk,
  createTerminalSink,
  loadTelemetry,
  selectSinks,
} from "#sinks";
import { checkFormat, checkStore, createScriptedBackend, createScriptedFetch, createScriptedSpawn } from "#testing";
import { tool } from "#tools";
import {
  collect,
  createChatEvents,
  createItems,
  createRunnerEvents,
  createRunnerSse,
  createSseFrames,
  createStreamingEvents,
  createStreamingResult,
  toChatEvents,
  toItems,
  toRunnerEvents,
  toRunnerSse,
  toStreamingEvents,
  toStreamingResult,
} from "#views";
import { anthropic } from "../../src/runtime/anthropic.ts";
import { buildArgv, claudeCode, query, withQuery } from "../../src/runtime/claude-code.ts";
import { resumeRun, runStored } from "../../src/runtime/durable.ts";
import { google } from "../../src/runtime/google.ts";
import { openai } from "../../src/runtime/openai.ts";
import { openQueue as openBullMq } from "../../src/runtime/queues/bullmq.ts";
import { openQueue as openPgBoss } from "../../src/runtime/queues/pg-boss.ts";
import { createMemoryStore } from "../../src/runtime/stores/memory.ts";
import { openStore as openPostgres } from "../../src/runtime/stores/postgres.ts";
import { createTestWorld } from "./model-backends.ts";
import { type OptionPlace, walkOptions } from "./option-walk.ts";

// F-C7: whatever takes named options refuses a name that is none, and says which one was probably meant. The places are
// found in the types of all exports; a new one without a call here fails the first test.

const clerk = agent({ name: "clerk", backend: "offline" });
const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);
const emulator = createEmulator();
const server = createServer({ store: createMemoryStore(), target: "offline" });
const store = createMemoryStore();
const never = (): never => {
  throw new Error("nothing is to be called");
};
const two = { prompts: ["hi"], targets: ["a", "b"].map((name) => ({ name, target: clerk })), judge: { target: clerk } };
const format = {
  name: "mine",
  framing: "ndjson",
  events: [{ kind: "message", match: { path: "text" }, extract: { text: "text" } }],
  defaultSchema: { kind: "unknown" },
};

interface Call {
  readonly call: (given: never) => unknown;
  /** What is there beside the name that is none. */
  readonly base?: unknown;
}

const of = (call: Call["call"], base?: unknown): Call => ({ call, base });

/** How each function is called, with what it needs beside the object in question. */
const CALLS: Readonly<Record<string, Call>> = {
  "agent(definition)": of(agent, clerk),
  "agentTool(one)": of((one) => agentTool(one), clerk),
  "agentTool(options)": of((options) => agentTool(clerk, options)),
  "command(options)": of((options) => command(["true"], options)),
  "defineConfig(config)": of(defineConfig, { agents: [clerk] }),
  "explain(target)": of((target) => explain(target), clerk),
  "explain(options)": of((options) => explain("offline", options)),
  "openSession(target)": of((target) => openSession(target), clerk),
  "openSession(options)": of((options) => openSession("offline", options)),
  "replay(options)": of((options) => replay(new Uint8Array(), options)),
  "resumeRun(options)": of((options) => resumeRun(store, "none", options), { target: clerk }),
  "runStored(target)": of((target) => runStored(store, target, "hi"), clerk),
  "runStored(options)": of((options) => runStored(store, "offline", "hi", options)),
  "run(target)": of((target) => run(target, "hi"), clerk),
  "run(options)": of((options) => run("offline", "hi", options)),
  "swarm(agents)": of((agents) => swarm(agents), [clerk]),
  "swarm(options)": of((options) => swarm([clerk], options)),
  "tool(options)": of((options) => tool("t", "d", {}, () => 1, options)),
  "tool(definition)": of((definition) => tool(definition), { name: "t", description: "d", input: {}, run: () => 1 }),
  "Run.toResponse(options)": of((options) => run("offline", "hi").toResponse(options)),
  "Run.toTextResponse(options)": of((options) => run("offline", "hi").toTextResponse(options)),
  "Session.send(options)": of((options) => openSession("offline").send("hi", options)),
  "Session.retry(options)": of((options) => openSession("offline").retry(options)),
  "ToolRegistry.execute(options)": of((options) => createToolRegistry([add]).execute("add", { a: 1, b: 2 }, options)),
  "anthropic(options)": of(anthropic, { model: "m", apiKey: "k" }),
  "openai(options)": of(openai, { model: "m", apiKey: "k" }),
  "Openai.compatible(options)": of(openai.compatible, { model: "m", baseUrl: "http://127.0.0.1:1/v1" }),
  "google(options)": of(google, { model: "m", apiKey: "k" }),
  "buildArgv(options)": of((options) => buildArgv(options, { mode: "plain" })),
  "buildArgv(plan)": of((plan) => buildArgv({}, plan), { mode: "plain" }),
  "claudeCode(options)": of(claudeCode),
  "query(options)": of((options) => query("hi", options)),
  "withQuery(options)": of((options) => withQuery("hi", options, never)),
  "createDeclarativeFormat(config)": of(createDeclarativeFormat, format),
  "createDecoder(options)": of((options) => createDecoder(ndjson, options)),
  "createFormatRegistry(formats)": of((formats) => createFormatRegistry(formats), [{ format: ndjson }]),
  "FormatRegistry.register(options)": of((options) => createFormatRegistry([]).register(ndjson, options)),
  "FormatRegistry.registerConfig(options)": of((options) => createFormatRegistry([]).registerConfig(format, options)),
  "isVisible(show)": of((show) => isVisible({ kind: "message", visibility: "always" }, show)),
  "createChatEvents(options)": of(createChatEvents),
  "toChatEvents(options)": of((options) => toChatEvents([], options)),
  "collect(options)": of((options) => collect([], options)),
  "createItems(options)": of(createItems),
  "toItems(options)": of((options) => toItems([], options)),
  "createRunnerEvents(options)": of(createRunnerEvents),
  "toRunnerEvents(options)": of((options) => toRunnerEvents([], options)),
  "createSseFrames(options)": of((options) => createSseFrames("millrace", options)),
  "createRunnerSse(options)": of(createRunnerSse),
  "toRunnerSse(options)": of((options) => toRunnerSse([], options)),
  "createStreamingEvents(options)": of(createStreamingEvents),
  "toStreamingEvents(options)": of((options) => toStreamingEvents([], options)),
  "createStreamingResult(options)": of(createStreamingResult),
  "toStreamingResult(options)": of((options) => toStreamingResult([], options)),
  "checkFormat(sample)": of((sample) => checkFormat(ndjson, sample), { bytes: new Uint8Array(), spoilt: 1 }),
  "checkStore(options)": of((options) => checkStore(never, options)),
  "createScriptedFetch(script)": of((script) => createScriptedFetch(script), [{ status: 200 }]),
  "createScriptedSpawn(script)": of((script) => createScriptedSpawn(script)),
  "createScriptedSpawn(options)": of((options) => createScriptedSpawn([], options)),
  "createScriptedBackend(replies)": of((replies) => createScriptedBackend(replies), [{ text: "hi" }]),
  "createTerminalAsk(options)": of(createTerminalAsk, { ask: never, color: false, width: 80 }),
  "createFormattedSink(options)": of(createFormattedSink, { out: never, aside: never, style: "text", width: 80 }),
  "createLogSink(options)": of(createLogSink, { path: "/x", files: { append: never } }),
  "createMarkdownWriter(options)": of(createMarkdownWriter, { color: false, width: 80 }),
  "createTelemetry(options)": of((options) => createTelemetry({} as never, options)),
  "loadTelemetry(options)": of((options) => loadTelemetry(options)),
  "createProgressSink(options)": of(createProgressSink, { write: never, isTerminal: false, color: false, width: 80 }),
  "selectSinks(choice)": of(selectSinks, { terminal: { accept: never }, progress: { accept: never } }),
  "createTerminalSink(options)": of(createTerminalSink, { out: never, aside: never, color: false, width: 80 }),
  "createEmulator(options)": of(createEmulator, { script: { rules: [{}] } }),
  "Emulator.listen(options)": of((options) => emulator.listen(options)),
  "openStore(options)": of((options) => openPostgres("postgres://127.0.0.1:1/none", options)),
  "openQueue(options)": of(async (options) => {
    const both = [openPgBoss("postgres://127.0.0.1:1/none", options), openBullMq("redis://127.0.0.1:1", options)];
    const said = await Promise.all(both.map((opened) => opened.then(() => "", describeThrown)));
    throw new Error(said.join(" "));
  }),
  "resultLink(options)": of(resultLink, {
    url: "https://agents.example",
    key: "k".repeat(32),
    runId: "r",
    callId: "c",
    expiresAt: 1,
  }),
  "createServer(options)": of(createServer, { store: createMemoryStore(), agents: [clerk] }),
  "Server.listen(options)": of((options) => server.listen(options)),
  "Store.read(options)": of((options) => store.read("r", options)),
  "RunStore.read(options)": of((options) => store.read("r", options)),
  "Store.listRuns(wanted)": of((wanted) => store.listRuns(wanted)),
  "RunStore.listRuns(wanted)": of((wanted) => store.listRuns(wanted)),
  "compare(options)": of(compare, two),
  "compareIn(options)": of((options) => compareIn(options, createTestWorld().world), two),
  "documentScorers(options)": of(documentScorers),
  "errorScenarios(options)": of(errorScenarios),
  "sectionCompleteness(options)": of(sectionCompleteness),
};

/** What takes an object that is no set of options, and why. */
const NOT_OPTIONS: Readonly<Record<string, string>> = {
  "familyOf(event)": "an event",
  "isDelta(event)": "an event",
  "assertRunLog(events)": "events, whose faults it names itself",
  "findViolation(events)": "events, whose faults it names itself",
  "closeRunLog(chunks)": "chunks of a format",
  "runStored(input)": "messages, which may carry more than a backend reads",
  "run(input)": "messages, which may carry more than a backend reads",
  "isVisible(event)": "an event",
  "isMessageOf(message)": "a message of Claude Code's",
  "ToolContext.artifact(artifact)": "what a tool has made, in the words of its caller",
  "logLine(record)": "a record of the server",
  "StoreError(details)": "what a store knows of its failure",
  "QueueError(details)": "what a queue knows of its failure",
  "RunQueue.take(wanted)": "a contract: servers call it",
  "InProcessQueue.take(wanted)": "the same",
  "errorToString(error)": "an error",
  "isTerminal(error)": "an error",
  "writeHtmlReport(report)": "a report",
  "describeReport(report)": "a report",
  "versionMeetsMinimum(version)": "a version",
  "versionMeetsMinimum(minimum)": "a version",
  "diagnoseExit(seen)": "what was seen of a process",
  "askInTerminal(question)": "a question, as runs ask it",
  "detectFeatures(settings)": "the settings of a conversation, of which it reads a part",
  "detectFeatures(options)": "the options of a backend, of which it reads a part",
  "RunError(details)": "an error that fails to be made would hide what went wrong",
  "StartError(details)": "an error that fails to be made would hide what went wrong",
  "ToolFailure(options)": "JavaScript's own ErrorOptions",
  "RunLogViolation(violation)": "an error that fails to be made would hide what went wrong",
  "AgentLink.cleanUp(options)": "called by backends, on what runs hand them",
  "Format.createAdapter(options)": "a contract: decoders call it, and createDecoder checks what they pass on",
  "DeclarativeFormat.createAdapter(options)": "the same",
  "TelemetryMeter.createCounter(options)": "a contract of OpenTelemetry's",
  "TelemetryMeter.createHistogram(options)": "a contract of OpenTelemetry's",
  "TelemetryTracer.startSpan(options)": "a contract of OpenTelemetry's",
  "errorItem(error)": "the fields of a chunk, which a run turns into an event: data, not options",
  "errorItem(more)": "the same",
  "messageItem(given)": "the same",
  "noticeItem(more)": "the same",
  "permissionItem(given)": "the same",
  "resultItem(given)": "the same",
  "retractNotice(retraction)": "the same",
  "startItem(given)": "the same",
  "toolCallItem(given)": "the same",
  "toolInputDelta(call)": "the same",
  "toolResultItem(given)": "the same",
  "warningItem(warning)": "the same",
};

/** Objects within options that are data, by the end of their path. */
const NOT_NAMES = [/^messages\.\[\]/, /^files$/, /^replay$/, /^queue$/];

const places = walkOptions();
const calls = [...new Set(places.map(({ call }) => call))];

afterAll(() => Promise.all([emulator.close(), server.close(), store.close()]));

/** The object of a path with one name more. */
function put(given: unknown, [first, ...rest]: readonly string[], name: string): unknown {
  const object = typeof given === "object" && given !== null ? (given as Readonly<Record<string, unknown>>) : {};
  if (first === undefined) return { ...object, [name]: 1 };
  if (first !== "[]") return { ...object, [first === "*" ? "mine" : first]: put(object[first], rest, name) };
  const [head, ...others] = Array.isArray(given) ? (given as readonly unknown[]) : [];
  return [put(head, rest, name), ...others];
}

/** What the call says to it. */
async function refusalOf({ call, base }: Call, path: readonly string[], name: string): Promise<string> {
  try {
    const made = await call(put(base, path, name) as never);
    return `nothing: it gave ${typeof made}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A name with its last letter twice: `model`, `modell`. */
const misspell = (name: string): string => name + name.at(-1);

describe("F-C7: a name that is no option is refused, with the one that was probably meant", () => {
  it("every function that takes named options is tried", () => {
    expect(places.length).toBeGreaterThan(400);
    expect(calls.filter((call) => CALLS[call] === undefined && NOT_OPTIONS[call] === undefined)).toEqual([]);
    expect(Object.keys({ ...CALLS, ...NOT_OPTIONS }).filter((call) => !calls.includes(call))).toEqual([]);
  });

  it.each(calls.filter((call) => CALLS[call] !== undefined))("%s", async (call) => {
    const faults: string[] = [];
    for (const { path, names } of places.filter((place) => place.call === call && isTried(place))) {
      const real = names.toSorted((left, right) => right.length - left.length)[0] as string;
      const wrong = misspell(real);
      const said = await refusalOf(CALLS[call] as Call, path, wrong);
      const isNamed = said.includes(wrong) && new RegExp(`Did you mean "?${real}"?\\?`).test(said);
      if (!isNamed) faults.push(`${[...path, wrong].join(".")}: ${said}`);
      // Of its own words the CLI may have more than our types: there only slips of the pen are refused.
      if (path.includes("*")) continue;
      const known = await refusalOf(CALLS[call] as Call, path, "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq");
      const missing = names.filter((name) => !known.includes(name));
      if (missing.length > 0) faults.push(`${path.join(".")} does not know ${missing.join(", ")}: ${known}`);
    }
    expect(faults).toEqual([]);
  });

  it.each([
    ["createServer({})", () => createServer({} as never), "store is undefined. Give a store"],
    [
      "createServer({ store: promise })",
      () => createServer({ store: Promise.resolve() } as never),
      "store is {}. Give a store",
    ],
    ["openSession()", () => openSession(undefined as never), "target"],
    ["openSession(5)", () => openSession(5 as never), "target"],
    ["tool()", () => tool(undefined as never), "tool"],
    ["createToolRegistry({})", () => createToolRegistry({} as never), "tools is {}. Give a list of tools."],
  ])("F-C7: %s names what is missing, instead of failing inside", (_, call, message) => {
    expect(call).toThrow(expect.objectContaining({ name: "StartError", message: expect.stringContaining(message) }));
  });

  it.each([
    { queue: 5 },
    { worker: "no" },
    { target: { name: "clerk" } },
    { agents: clerk },
    { targets: "offline" },
    { backends: [{}] },
    { run: 5 },
    { tokens: ["0123456789abcdef"] },
    { hosts: "chat.example.org" },
    { origins: [5] },
    { trustProxy: "yes" },
    { page: 5 },
    { limits: 5 },
    { reports: 5 },
    { log: "file" },
  ])("F-C7: createServer names the option, its value and the remedy: %j", (wrong) => {
    const [name] = Object.keys(wrong);
    const create = () => createServer({ store: createMemoryStore(), ...(wrong as object) });
    const message = expect.stringMatching(new RegExp(`^${name}(\\[0\\])? is .+\\. Give .+\\.$`));
    expect(create).toThrow(expect.objectContaining({ name: "StartError", code: "invalid-option", message }));
  });

  it("what no type tells: output, and the data of a format and a script", async () => {
    const calls: readonly [() => unknown, string][] = [
      [() => run("offline", "hi", { output: { schema: { a: "number" }, repair: 1 } as never }), "repairs"],
      [() => agent({ ...clerk, output: { schema: { a: "number" }, repair: 1 } as never }), "repairs"],
      [() => decodeStream(ndjson, (async function* () {})(), { keepraw: true } as never), "keepRaw"],
      [() => parseFormatConfig({ ...format, frming: "ndjson" }), "framing"],
    ];
    for (const [call, meant] of calls) expect(call).toThrow(new RegExp(`Did you mean "?${meant}"?\\?`));
  });
});

const isTried = ({ path }: OptionPlace): boolean => !NOT_NAMES.some((pattern) => pattern.test(path.join(".")));
