import * as api from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { describe, expect, it } from "vitest";
import type { Leg } from "#agents";
import { createTelemetry } from "#sinks";
import { createScriptedBackend } from "#testing";
import { tool } from "#tools";
import { logOf, openTestSession } from "./support.ts";

describe("telemetry of a session", () => {
  it("S0-104: real runs give their spans and measurements, the queue its lengths, and the events stay as they were", async () => {
    const exporter = new InMemorySpanExporter();
    const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const measurements = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter: measurements, exportIntervalMillis: 1_000_000 });
    const meters = new MeterProvider({ readers: [reader] });
    const telemetry = createTelemetry(api, { tracer: tracers.getTracer("t"), meter: meters.getMeter("t") });

    const add = tool("add", "Adds", { a: "number", b: "number" }, ({ a, b }) => a + b);
    const script = [{ calls: [{ name: "add", input: { a: 1, b: 2 } }] }, { text: "3" }, { text: "bye" }];
    const leg: Leg = { backend: createScriptedBackend(script), fallback: [], tools: [add], limits: {} };
    const { session } = openTestSession([leg], {
      onRun: (run) => {
        const sink = telemetry.createSink(["tools"]);
        run.on("*", (event) => sink.accept(event));
      },
      onQueueLength: (waiting) => telemetry.recordQueueLength(waiting),
    });
    const runs = [session.send("1 + 2?"), session.send("bye")];
    await Promise.all(runs.map(logOf));
    await session.close();

    expect(exporter.getFinishedSpans().map((span) => span.name)).toEqual([
      "chat script",
      "execute_tool add",
      "chat script",
      "invoke_agent",
      "chat script",
      "invoke_agent",
    ]);
    expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(2);
    await reader.forceFlush();
    const names = measurements
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap((scope) => scope.metrics.map((metric) => metric.descriptor.name));
    expect(names?.toSorted()).toEqual([
      "gen_ai.client.operation.duration",
      "gen_ai.client.operation.time_to_first_chunk",
      "gen_ai.client.token.usage",
      "millrace.queue.length",
      "millrace.router.decision",
      "millrace.run.latency",
    ]);
    await meters.shutdown();
  });
});
