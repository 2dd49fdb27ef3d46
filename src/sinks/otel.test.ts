import * as api from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Chunk,
  type DoneChunk,
  doneEvent,
  errorItem,
  handoffItem,
  messageItem,
  noticeItem,
  numberEvent,
  permissionItem,
  resultItem,
  type RunResult,
  startItem,
  textDelta,
  toolCallItem,
  toolResultItem,
  warningItem,
} from "#domain";
import { fuzzRuns } from "../../test/effort.ts";
import { createTelemetry, loadTelemetry, type TelemetryOptions } from "./otel.ts";
import { MAX_CONTENT } from "./telemetry-content.ts";

const T0 = Date.UTC(2026, 0, 1);

/** Telemetry with in-memory exporters, and everything they received. */
function setUp(options: TelemetryOptions = {}) {
  const spans = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const measurements = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: measurements, exportIntervalMillis: 1_000_000 });
  const meters = new MeterProvider({ readers: [reader] });
  const telemetry = createTelemetry(api, { tracer: tracers.getTracer("t"), meter: meters.getMeter("t"), ...options });
  return {
    telemetry,
    spans() {
      const all = spans.getFinishedSpans();
      const byId = new Map(all.map((span) => [span.spanContext().spanId, span]));
      return all.map((span) => ({
        name: span.name,
        kind: span.kind,
        parent: byId.get(span.parentSpanContext?.spanId ?? "")?.name,
        attributes: span.attributes,
        status: span.status,
        startMs: span.startTime[0] * 1000 + span.startTime[1] / 1e6 - T0,
        endMs: span.endTime[0] * 1000 + span.endTime[1] / 1e6 - T0,
        events: span.events.map((event) => [event.name, event.attributes]),
      }));
    },
    async points(name: string) {
      await reader.forceFlush();
      const metric = measurements
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics)
        .find((candidate) => candidate.descriptor.name === name);
      return (metric?.dataPoints ?? []).map((point) => ({
        attributes: point.attributes,
        value:
          typeof point.value === "number"
            ? point.value
            : { count: (point.value as { count: number }).count, sum: (point.value as { sum: number }).sum },
      }));
    },
    async shutDown() {
      await meters.shutdown();
    },
  };
}

type Timed = readonly [at: number, chunk: Chunk | DoneChunk, agent?: string];

/** Chunks as the events of one run. */
function eventsOf(steps: readonly Timed[]): AgentEvent[] {
  return steps.map(([at, chunk, agent], seq) => numberEvent(chunk, seq, { ts: T0 + at, runId: "run-1", agent }));
}

const over = (more: Partial<RunResult> = {}): DoneChunk =>
  doneEvent({
    status: "success",
    subtype: "success",
    text: "",
    toolCalls: [],
    messages: [],
    usage: {},
    turns: 1,
    ms: 0,
    errors: [],
    warnings: [],
    ...more,
  });

const start = (more: Partial<Parameters<typeof startItem>[0]> = {}) =>
  startItem({ backend: "openai", mode: "http", model: "gpt-5", ...more });
const question = messageItem({ id: "u1", role: "user", blocks: [{ type: "text", text: "the secret question" }] });
const text = (content: string) => [{ type: "text", text: content }] as const;

/** Two replies with a tool call between them, and the details of a handoff. */
const withTool = (): readonly Timed[] => [
  [0, start({ sessionId: "conv-1" })],
  [0, question],
  [120, textDelta("m1", 0, "Let me ")],
  [150, textDelta("m1", 0, "add.")],
  [
    200,
    messageItem({
      id: "m1",
      role: "assistant",
      blocks: [...text("Let me add."), { type: "tool-call", callId: "c1", name: "add", input: { a: "secret" } }],
      stopReason: "tool-use",
      usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 40, reasoningTokens: 5 },
      model: "gpt-5-2026",
    }),
  ],
  [210, toolCallItem({ callId: "c1", name: "add", input: { a: "secret" }, executedBy: "millrace" })],
  [220, permissionItem({ callId: "c1", name: "add", state: "allowed", by: "rule" })],
  [300, toolResultItem({ callId: "c1", name: "add", output: "secret 42", isError: false, ms: 60 })],
  [350, textDelta("m2", 0, "42.")],
  [
    400,
    messageItem({
      id: "m2",
      role: "assistant",
      blocks: text("42."),
      stopReason: "end-turn",
      usage: { inputTokens: 130, outputTokens: 3 },
      model: "gpt-5-2026",
    }),
  ],
  [410, resultItem({ subtype: "success", isError: false, usage: { inputTokens: 230, outputTokens: 23 } })],
  [420, over({ usage: { inputTokens: 230, outputTokens: 23 }, costUsd: 0.01, turns: 2, model: "gpt-5-2026" })],
];

describe("telemetry of a run", () => {
  it("S0-104: a span for the run, one for each reply, one for each tool call, with the events' own times", async () => {
    const { telemetry, spans, shutDown } = setUp();
    const sink = telemetry.createSink();
    for (const event of eventsOf(withTool())) sink.accept(event);
    expect(spans().map(({ name, parent, startMs, endMs }) => [name, parent, startMs, endMs])).toEqual([
      ["chat gpt-5", "invoke_agent", 0, 200],
      ["execute_tool add", "invoke_agent", 210, 300],
      ["chat gpt-5", "invoke_agent", 300, 400],
      ["invoke_agent", undefined, 0, 420],
    ]);
    const [chat, tool, , run] = spans();
    expect(chat?.kind).toBe(api.SpanKind.CLIENT);
    expect(chat?.attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.response.model": "gpt-5-2026",
      "gen_ai.response.id": "m1",
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.response.time_to_first_chunk": 0.12,
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 20,
      "gen_ai.usage.cache_read.input_tokens": 40,
      "gen_ai.usage.reasoning.output_tokens": 5,
      "millrace.mode": "http",
    });
    expect(tool?.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "add",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.type": "function",
      "millrace.permission.state": "allowed",
      "millrace.permission.by": "rule",
    });
    expect(run?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": "conv-1",
      "gen_ai.usage.input_tokens": 230,
      "millrace.run.id": "run-1",
      "millrace.run.status": "success",
      "millrace.run.turns": 2,
      "millrace.run.cost_usd": 0.01,
    });
    expect(run?.status.code).toBe(api.SpanStatusCode.UNSET);
    await shutDown();
  });

  it("S0-104: durations, time to the first chunk, latency and tokens are measured", async () => {
    const { telemetry, points, shutDown } = setUp();
    const sink = telemetry.createSink();
    for (const event of eventsOf(withTool())) sink.accept(event);
    const durations = await points("gen_ai.client.operation.duration");
    expect(
      Object.fromEntries(durations.map((point) => [point.attributes["gen_ai.operation.name"], point.value])),
    ).toEqual({
      chat: { count: 2, sum: 0.2 + 0.1 },
      execute_tool: { count: 1, sum: 0.06 },
      invoke_agent: { count: 1, sum: 0.42 },
    });
    expect(await points("gen_ai.client.operation.time_to_first_chunk")).toMatchObject([
      { value: { count: 2, sum: 0.12 + 0.05 } },
    ]);
    expect(await points("millrace.run.latency")).toMatchObject([{ value: { count: 1, sum: 0.12 } }]);
    const tokens = await points("gen_ai.client.token.usage");
    expect(tokens.map((point) => [point.attributes["gen_ai.token.type"], point.value])).toEqual([
      ["input", { count: 2, sum: 230 }],
      ["output", { count: 2, sum: 23 }],
    ]);
    expect(await points("millrace.run.errors")).toEqual([]);
    await shutDown();
  });

  it("S0-20: every choice of a route is counted, with the requested features", async () => {
    const { telemetry, points, shutDown } = setUp();
    const routes: readonly (readonly [readonly string[], "plain" | "control"])[] = [
      [["hooks", "tools"], "control"],
      [[], "plain"],
      [[], "plain"],
    ];
    for (const [features, mode] of routes) {
      const sink = telemetry.createSink(features);
      const steps: Timed[] = [
        [0, start({ backend: "claude-code", mode })],
        [1, over()],
      ];
      for (const event of eventsOf(steps)) sink.accept(event);
    }
    const counted = await points("millrace.router.decision");
    expect(counted.map((point) => [point.attributes, point.value])).toEqual([
      [
        {
          "millrace.router.choice": "control",
          "millrace.router.features": ["hooks", "tools"],
          "gen_ai.provider.name": "anthropic",
        },
        1,
      ],
      [
        {
          "millrace.router.choice": "plain",
          "millrace.router.features": [],
          "gen_ai.provider.name": "anthropic",
        },
        2,
      ],
    ]);
    await shutDown();
  });

  it("S0-104: the length of the queue is measured", async () => {
    const { telemetry, points, shutDown } = setUp();
    for (const waiting of [0, 1, 2, 0]) telemetry.recordQueueLength(waiting);
    expect(await points("millrace.queue.length")).toMatchObject([{ value: { count: 4, sum: 3 } }]);
    await shutDown();
  });

  it("S0-104: a run that fails is counted with its mode and code, and its reply fails with it", async () => {
    const { telemetry, spans, points, shutDown } = setUp();
    const sink = telemetry.createSink();
    const error = { code: "provider-overloaded", message: "secret busy", terminal: true } as const;
    const steps: Timed[] = [
      [0, start()],
      [0, question],
      [50, noticeItem("retry", { attempt: 2, code: "provider-overloaded", message: "secret" })],
      [90, errorItem(error)],
      [90, over({ status: "error", subtype: "provider-overloaded", error })],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    const [chat, run] = spans();
    expect([chat?.name, chat?.endMs, chat?.status]).toEqual([
      "chat gpt-5",
      90,
      { code: api.SpanStatusCode.ERROR, message: "provider-overloaded" },
    ]);
    expect(run?.status).toEqual({ code: api.SpanStatusCode.ERROR, message: "provider-overloaded" });
    expect(run?.events).toEqual([
      ["retry", { "error.type": "provider-overloaded" }],
      ["error", { "error.type": "provider-overloaded" }],
    ]);
    expect(await points("millrace.run.errors")).toMatchObject([
      { attributes: { "error.type": "provider-overloaded", "millrace.mode": "http" }, value: 1 },
    ]);
    await shutDown();
  });

  it("an error of the policy is not a failure of a model that was never called", async () => {
    const { telemetry, spans, shutDown } = setUp();
    const sink = telemetry.createSink();
    const error = { code: "guard-denied", message: "no", terminal: true } as const;
    const steps: Timed[] = [
      [0, start()],
      [5, errorItem(error)],
      [5, over({ status: "error", subtype: "guard-denied", error })],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    expect(spans().map((span) => span.name)).toEqual(["invoke_agent"]);
    await shutDown();
  });

  it("an abort is not an error: half a reply is reported, the run is aborted, open calls are ended", async () => {
    const { telemetry, spans, points, shutDown } = setUp();
    const sink = telemetry.createSink();
    const steps: Timed[] = [
      [0, start()],
      [10, textDelta("m", 0, "half")],
      [20, toolCallItem({ callId: "sub", name: "Task", input: {}, executedBy: "backend" })],
      [30, textDelta("m2", 0, "half", "sub")],
      [40, over({ status: "aborted", subtype: "aborted" })],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    expect(spans().map((span) => [span.name, span.parent, span.attributes["error.type"]])).toEqual([
      ["chat gpt-5", "execute_tool Task", "aborted"],
      ["execute_tool Task", "invoke_agent", undefined],
      ["invoke_agent", undefined, undefined],
    ]);
    expect(await points("millrace.run.errors")).toEqual([]);
    await shutDown();
  });

  it("F-C4: a message that is emitted before its end and again is one reply, and its tokens count once", async () => {
    const { telemetry, spans, points, shutDown } = setUp();
    const sink = telemetry.createSink();
    const call = { callId: "c1", name: "add", input: {} };
    const blocks = [{ type: "tool-call", ...call }] as const;
    const usage = { inputTokens: 10, outputTokens: 2 };
    const steps: readonly Timed[] = [
      [0, start()],
      [100, messageItem({ id: "m1", role: "assistant", blocks })],
      [100, toolCallItem({ ...call, executedBy: "backend" })],
      [150, textDelta("m1", 1, "more")],
      [200, messageItem({ id: "m1", role: "assistant", blocks: [...blocks, ...text("more")], usage })],
      [250, messageItem({ id: "m1", role: "assistant", blocks: [...blocks, ...text("more")], usage })],
      [300, toolResultItem({ callId: "c1", name: "add", output: 1, isError: false })],
      [400, messageItem({ id: "m2", role: "assistant", blocks: text("x"), usage })],
      [500, over()],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    expect(spans().filter(({ name }) => name.startsWith("chat"))).toHaveLength(2);
    const tokens = await points("gen_ai.client.token.usage");
    expect(tokens.map(({ value }) => value)).toEqual([
      { count: 2, sum: 20 },
      { count: 2, sum: 4 },
    ]);
    await shutDown();
  });

  it("S2-31: an agent after a handoff has its own span below the run's, and its replies below that", async () => {
    const { telemetry, spans, shutDown } = setUp();
    const sink = telemetry.createSink();
    const reply = (id: string) => messageItem({ id, role: "assistant", blocks: text("x"), stopReason: "end-turn" });
    const steps: Timed[] = [
      [0, warningItem({ code: "option-ignored", message: "secret" })],
      [0, start(), "triage"],
      [10, reply("m1"), "triage"],
      [20, handoffItem({ from: "triage", to: "billing", message: "the secret" }), "triage"],
      [21, start({ backend: "google", model: "gemini-2.5-pro" }), "billing"],
      [30, reply("m2"), "billing"],
      [40, over({ agent: "billing" }), "billing"],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    expect(spans().map((span) => [span.name, span.parent, span.attributes["gen_ai.agent.name"]])).toEqual([
      ["chat gpt-5", "invoke_agent triage", "triage"],
      ["chat gemini-2.5-pro", "invoke_agent billing", "billing"],
      ["invoke_agent billing", "invoke_agent triage", "billing"],
      ["invoke_agent triage", undefined, "triage"],
    ]);
    expect(spans()[1]?.attributes["gen_ai.provider.name"]).toBe("gcp.gemini");
    await shutDown();
  });

  it("a sub-agent's replies and calls are below the call that started it", async () => {
    const { telemetry, spans, shutDown } = setUp();
    const sink = telemetry.createSink();
    const inner = { id: "m1", role: "assistant", blocks: text("x"), parent: "c1" } as const;
    const steps: Timed[] = [
      [0, start({ backend: "claude-code", mode: "control", model: "sonnet" })],
      [10, toolCallItem({ callId: "c1", name: "Task", input: {}, executedBy: "backend" })],
      [20, messageItem(inner)],
      [25, toolCallItem({ callId: "c2", name: "Read", input: {}, executedBy: "backend", parent: "c1" })],
      [30, toolResultItem({ callId: "c2", name: "Read", output: "", isError: true, parent: "c1" })],
      [35, messageItem({ ...inner, id: "m2" })],
      [40, toolResultItem({ callId: "c1", name: "Task", output: "", isError: false, skipped: "denied" })],
      [50, over()],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    expect(spans().map((span) => [span.name, span.parent])).toEqual([
      ["chat sonnet", "execute_tool Task"],
      ["execute_tool Read", "execute_tool Task"],
      ["chat sonnet", "execute_tool Task"],
      ["execute_tool Task", "invoke_agent"],
      ["invoke_agent", undefined],
    ]);
    const read = spans()[1];
    expect([read?.status.code, read?.attributes["error.type"]]).toEqual([api.SpanStatusCode.ERROR, "tool-failed"]);
    expect(read?.attributes["gen_ai.tool.type"]).toBe("extension");
    await shutDown();
  });

  it("a message emitted in several pieces is one reply; tokens reported only at the end are counted there", async () => {
    const { telemetry, spans, points, shutDown } = setUp();
    const sink = telemetry.createSink();
    const piece = { id: "m1", role: "assistant" } as const;
    const steps: Timed[] = [
      [0, start({ backend: "claude-code", mode: "plain", model: "sonnet" })],
      [10, messageItem({ ...piece, blocks: text("a") })],
      [20, messageItem({ ...piece, blocks: [...text("a"), ...text("b")], stopReason: "end-turn" })],
      [30, over({ usage: { inputTokens: 10, cacheReadTokens: 90, outputTokens: 5 } })],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    expect(spans().map((span) => [span.name, span.endMs])).toEqual([
      ["chat sonnet", 20],
      ["invoke_agent", 30],
    ]);
    // Anthropic counts cached tokens separately, the conventions include them.
    const tokens = await points("gen_ai.client.token.usage");
    expect(tokens.map((point) => (point.value as { sum: number }).sum)).toEqual([100, 5]);
    await shutDown();
  });

  it("a result that comes while a reply is being written does not restart that reply", async () => {
    const { telemetry, spans, shutDown } = setUp();
    const sink = telemetry.createSink();
    const steps: Timed[] = [
      [0, start()],
      [10, toolCallItem({ callId: "c1", name: "slow", input: {}, executedBy: "backend" })],
      [20, textDelta("m1", 0, "Meanwhile")],
      [30, toolResultItem({ callId: "c1", name: "slow", output: "", isError: false })],
      [40, messageItem({ id: "m1", role: "assistant", blocks: text("Meanwhile"), stopReason: "end-turn" })],
      [50, over()],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    expect(spans().map((span) => [span.name, span.startMs, span.endMs])).toEqual([
      ["execute_tool slow", 10, 30],
      ["chat gpt-5", 20, 40],
      ["invoke_agent", 0, 50],
    ]);
    await shutDown();
  });

  it("the usage of a lost reply is counted, too", async () => {
    const { telemetry, points, shutDown } = setUp();
    const sink = telemetry.createSink();
    const steps: Timed[] = [
      [0, start()],
      [5, noticeItem("usage", { usage: { inputTokens: 7 } })],
      [6, noticeItem("status", null)],
      [9, over({ usage: { inputTokens: 7 } })],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    expect(await points("gen_ai.client.token.usage")).toMatchObject([{ value: { count: 1, sum: 7 } }]);
    await shutDown();
  });
});

describe("what telemetry records", () => {
  it("no content is recorded unless requested", async () => {
    const { telemetry, spans, points, shutDown } = setUp();
    const sink = telemetry.createSink();
    const secretError = { code: "source-failed", message: "secret", terminal: true } as const;
    const steps: Timed[] = [
      ...withTool().slice(0, -1),
      [415, handoffItem({ from: "a", to: "b", message: "secret" })],
      [416, noticeItem("stderr", "secret")],
      [417, errorItem(secretError)],
      [420, over({ status: "error", subtype: "x", text: "secret", error: secretError })],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    const names = ["gen_ai.client.operation.duration", "gen_ai.client.token.usage", "millrace.run.errors"];
    const measured = await Promise.all(names.map(points));
    const all = JSON.stringify([spans(), measured]);
    expect(all).toContain("execute_tool");
    expect(all).not.toContain("secret");
    expect(all).not.toContain("Let me");
    await shutDown();
  });

  it("with recordContent, each reply has its new input and its output, each call its arguments and result", async () => {
    const { telemetry, spans, shutDown } = setUp({ recordContent: true });
    const sink = telemetry.createSink();
    for (const event of eventsOf(withTool())) sink.accept(event);
    const [first, tool, second] = spans().map((span) => span.attributes);
    const read = (value: unknown): unknown => JSON.parse(String(value));
    expect(read(first?.["gen_ai.input.messages"])).toEqual([
      { role: "user", parts: [{ type: "text", content: "the secret question" }] },
    ]);
    expect(read(first?.["gen_ai.output.messages"])).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "text", content: "Let me add." },
          { type: "tool_call", id: "c1", name: "add", arguments: { a: "secret" } },
        ],
        finish_reason: "tool_call",
      },
    ]);
    expect(tool?.["gen_ai.tool.call.arguments"]).toBe('{"a":"secret"}');
    expect(tool?.["gen_ai.tool.call.result"]).toBe("secret 42");
    expect(read(second?.["gen_ai.input.messages"])).toEqual([
      { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "secret 42" }] },
    ]);
    await shutDown();
  });

  it("content is bounded, and stays JSON", async () => {
    const { telemetry, spans, shutDown } = setUp({ recordContent: true });
    const sink = telemetry.createSink();
    const huge = "🙂".repeat(MAX_CONTENT);
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const steps: Timed[] = [
      [0, start()],
      [0, messageItem({ id: "u", role: "user", blocks: [...text(`x${huge}`), { type: "image", data: huge }] })],
      [
        1,
        messageItem({
          id: "m",
          role: "assistant",
          blocks: [
            { type: "tool-call", callId: "c", name: "t", input: { huge } },
            { type: "thinking", text: huge },
            { type: "unknown", raw: circular },
          ],
        }),
      ],
      [2, toolCallItem({ callId: "c", name: "t", input: circular, executedBy: "millrace" })],
      [3, toolResultItem({ callId: "c", name: "t", output: undefined, isError: false })],
      [9, over()],
    ];
    for (const event of eventsOf(steps)) sink.accept(event);
    expect(spans()).toHaveLength(3);
    for (const { attributes } of spans()) {
      for (const [name, value] of Object.entries(attributes)) {
        expect(String(value).length).toBeLessThan(MAX_CONTENT + 1000);
        if (name.endsWith(".messages")) expect(() => JSON.parse(String(value))).not.toThrow();
        expect(Buffer.from(String(value), "utf8").toString("utf8")).toBe(String(value));
      }
    }
    await shutDown();
  });

  it("the caller's attributes are on every span and every measurement", async () => {
    const { telemetry, spans, points, shutDown } = setUp({ attributes: { tenant: "acme" } });
    const sink = telemetry.createSink();
    for (const event of eventsOf(withTool())) sink.accept(event);
    telemetry.recordQueueLength(1);
    expect(spans().every((span) => span.attributes["tenant"] === "acme")).toBe(true);
    for (const name of ["gen_ai.client.operation.duration", "millrace.queue.length", "millrace.router.decision"]) {
      const measured = await points(name);
      expect(measured.length).toBeGreaterThan(0);
      expect(measured.every((point) => point.attributes["tenant"] === "acme")).toBe(true);
    }
    await shutDown();
  });
});

describe("telemetry and the program around it", () => {
  it("spans are below the one that is active when the sink is created", async () => {
    const { telemetry, spans, shutDown } = setUp();
    const outer = api.trace.setSpanContext(api.ROOT_CONTEXT, {
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      traceFlags: api.TraceFlags.SAMPLED,
    });
    const manager = { ...api, context: { active: () => outer } };
    const exporter = new InMemorySpanExporter();
    const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const sink = createTelemetry(manager, { tracer: tracers.getTracer("t") }).createSink();
    for (const event of eventsOf(withTool())) sink.accept(event);
    const ids = new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId));
    expect(ids).toEqual(new Set(["0af7651916cd43dd8448eb211c80319c"]));
    expect(exporter.getFinishedSpans().at(-1)?.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
    expect([telemetry, spans().length]).toEqual([telemetry, 0]);
    await shutDown();
  });

  it("S0-104: without the package there is no telemetry, and with it no set-up is required", async () => {
    expect(await loadTelemetry({}, () => Promise.reject(new Error("Cannot find package")))).toBeUndefined();
    const telemetry = await loadTelemetry();
    const sink = telemetry?.createSink();
    for (const event of eventsOf(withTool())) sink?.accept(event);
    telemetry?.recordQueueLength(1);
    expect(sink).toBeDefined();
  });

  it("a tracer that throws affects nothing, and is reported once", () => {
    const warned: unknown[] = [];
    const broken = {
      startSpan: () => {
        throw new Error("exporter down");
      },
    };
    const telemetry = createTelemetry({ ...api, diag: { warn: (...more) => warned.push(more) } }, { tracer: broken });
    const sink = telemetry.createSink();
    for (const event of eventsOf(withTool())) expect(() => sink.accept(event)).not.toThrow();
    expect(warned).toHaveLength(1);
  });

  it("any order of events gives spans that all end, and never an exception", () => {
    const steps: readonly (Chunk | DoneChunk)[] = withTool().map(([, chunk]) => chunk);
    const extra: readonly Chunk[] = [
      handoffItem({ from: "a", to: "b", message: "" }),
      errorItem({ code: "stream-cut", message: "", terminal: true }),
      textDelta("x", 0, "y", "c1"),
      toolResultItem({ callId: "nobody", name: "t", output: 1, isError: true, skipped: "aborted" }),
      noticeItem("retry", undefined),
      noticeItem("usage", {}),
    ];
    const chunks = fc.array(fc.tuple(fc.nat(1000), fc.constantFrom(...steps.slice(0, -1), ...extra)), {
      maxLength: 25,
    });
    const warned: unknown[] = [];
    fc.assert(
      fc.property(chunks, fc.boolean(), (given, recordContent) => {
        let open = 0;
        const tracer = {
          startSpan: () => {
            open += 1;
            const ignore = (): void => undefined;
            return {
              setAttributes: ignore,
              addEvent: ignore,
              setStatus: ignore,
              updateName: ignore,
              end: () => void (open -= 1),
            };
          },
        };
        const quiet = { ...api, diag: { warn: (...more: unknown[]) => void warned.push(more) } };
        const sink = createTelemetry(quiet, { tracer, recordContent }).createSink();
        const copies = given.map(([at, chunk]): Timed => [at, structuredClone(chunk)]);
        for (const event of eventsOf([...copies, [2000, over()], [2001, over()]])) sink.accept(event);
        return open === 0;
      }),
      { numRuns: fuzzRuns(1000) },
    );
    expect(warned).toEqual([]);
  });
});
