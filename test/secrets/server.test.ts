import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as api from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { describe, expect, it } from "vitest";
import { startRun, systemWorld } from "#runtime";
import { createNdjsonSink } from "#sinks";
import { createScriptedFetch, type FetchReply } from "#testing";
import { createTelemetry } from "../../src/sinks/otel.ts";
import { openStore } from "../../src/runtime/stores/sqlite.ts";
import { readText, startServer } from "../server/support.ts";
import { eventsOf, scriptedWorld } from "../tapes/tape-world.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { HOSTS, joined, KEY, leaks, letters, WRITINGS } from "./hosts.ts";

/** What a host does with its key, and what stands for it in the answer. */
const DEEDS: Readonly<Record<string, (text: string) => FetchReply>> = {
  "says it in pieces": (text) => HOSTS.openai.says(letters(`It is ${text}.`)),
  "refuses it": (text) => ({ status: 401, body: [JSON.stringify({ error: { message: `bad key ${text}` } })] }),
};

describe("F-A3 SEC16: a server whose host repeats its key", () => {
  const cases = Object.entries(DEEDS).flatMap(([deed, reply]) =>
    ["plain", "base64 one off", "address"].map((writing) => ({ deed, reply, writing, text: WRITINGS[writing] ?? "" })),
  );

  it.each(cases)("$deed, $writing: not in SSE, JSON, log, metrics, nor in the bytes of the database", async (one) => {
    const data = temporaryFolder("canary");
    const store = await openStore(data);
    const log: unknown[] = [];
    const token = `token-${KEY}`;
    const { server, ask } = startServer({
      store,
      target: "openai/m",
      run: { ...HOSTS.openai.options, retry: false },
      tokens: [{ token, tenant: "one" }],
      log: (record) => log.push(record),
      world: { ...systemWorld(), env: {}, fetch: createScriptedFetch([one.reply(one.text)]) },
    });
    const headers = { authorization: `Bearer ${token}` };
    const { id } = (await (await ask("POST", "/api/threads", {}, headers)).json()) as { id: string };
    const input = `My key is ${KEY} and my token ${token}`;
    const stream = await readText(await ask("POST", `/api/threads/${id}/chat`, { input }, headers));
    expect(stream).toContain("**");
    const shown = [stream];
    for (const path of [`/api/threads/${id}`, `/api/threads/${id}/messages`, "/api/threads", `/api/runs/${KEY}`]) {
      shown.push(await (await ask("GET", path, undefined, headers)).text());
    }
    const title = `On ${KEY}`;
    shown.push(await (await ask("POST", "/api/threads", { title }, headers)).text());
    shown.push(await (await ask("PATCH", `/api/threads/${id}`, { title }, headers)).text());
    shown.push(await (await ask("GET", `/api/threads/${id}/export?format=markdown`, undefined, headers)).text());
    shown.push(await (await ask("POST", "/api/threads", { target: `openai/${KEY}x/${KEY}` }, headers)).text());
    await server.close();
    await store.close?.();
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const bytes = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
    expect(bytes.join("").length).toBeGreaterThan(1000);
    for (const text of [...shown, JSON.stringify(log), ...bytes]) expect(leaks(text)).toEqual([]);
    const pieces = [...stream.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? "") as { type: string });
    expect(joined(pieces).flatMap((text) => leaks(text))).toEqual([]);
  });
});

describe("F-A3 SEC16: what is made of events", () => {
  it.each(Object.entries(DEEDS))("a host that %s: OpenTelemetry with contents, and NDJSON", async (_, reply) => {
    const spans = new InMemorySpanExporter();
    const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
    const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 1_000_000 });
    const meters = new MeterProvider({ readers: [reader] });
    const telemetry = createTelemetry(api, {
      tracer: tracers.getTracer("t"),
      meter: meters.getMeter("t"),
      recordContent: true,
    }).createSink([]);
    const world = scriptedWorld([reply(KEY)], { env: {} });
    const run = startRun("openai/m", "Hello", { retry: false, ...HOSTS.openai.options }, world);
    let ndjson = "";
    const sink = createNdjsonSink((text) => void (ndjson += text));
    run.on("*", (event) => sink.accept(event));
    run.on("*", (event) => telemetry.accept(event));
    await eventsOf(run);
    await sink.close?.();
    await reader.forceFlush();
    const finished = spans.getFinishedSpans();
    expect(finished.length).toBeGreaterThan(0);
    const told = finished.map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    for (const text of [JSON.stringify(told), JSON.stringify(measured.getMetrics()), ndjson]) {
      expect(leaks(text)).toEqual([]);
    }
    expect(ndjson).toContain("**");
  });
});
