import type { Usage } from "#domain";
import type { TelemetryAttributes, TelemetryMeter } from "./telemetry-api.ts";
import { ATTRIBUTE } from "./telemetry-names.ts";

/** The measurements, with one method each. Times are passed in milliseconds and recorded in seconds. */
export interface Instruments {
  duration(ms: number, attributes: TelemetryAttributes): void;
  firstChunk(ms: number, attributes: TelemetryAttributes): void;
  /** Input and output tokens, if known. Returns `false` if neither is. */
  tokens(usage: Usage, attributes: TelemetryAttributes): boolean;
  latency(ms: number, attributes: TelemetryAttributes): void;
  error(attributes: TelemetryAttributes): void;
  decision(attributes: TelemetryAttributes): void;
  queueLength(waiting: number): void;
}

// The boundaries of the conventions: back ends can compare histograms only if the boundaries are the same.
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const LENGTHS = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Creates the instruments of one meter. `common` is added to every measurement. */
export function createMeters(meter: TelemetryMeter, common: TelemetryAttributes): Instruments {
  const seconds = (name: string, description: string) => {
    const histogram = meter.createHistogram(name, {
      description,
      unit: "s",
      advice: { explicitBucketBoundaries: SECONDS },
    });
    return (ms: number, attributes: TelemetryAttributes): void => {
      histogram.record(Math.max(0, ms) / 1000, { ...common, ...attributes });
    };
  };
  const counter = (name: string, unit: string, description: string) => {
    const instrument = meter.createCounter(name, { description, unit });
    return (attributes: TelemetryAttributes): void => instrument.add(1, { ...common, ...attributes });
  };
  const tokenUsage = meter.createHistogram("gen_ai.client.token.usage", {
    description: "Number of input and output tokens used.",
    unit: "{token}",
    advice: { explicitBucketBoundaries: TOKENS },
  });
  const lengths = meter.createHistogram("millrace.queue.length", {
    description: "Runs that waited when another one was sent.",
    unit: "{run}",
    advice: { explicitBucketBoundaries: LENGTHS },
  });

  return {
    duration: seconds("gen_ai.client.operation.duration", "How long an operation took."),
    firstChunk: seconds(
      "gen_ai.client.operation.time_to_first_chunk",
      "Time from asking a model to the first piece of its reply.",
    ),
    latency: seconds("millrace.run.latency", "Time from the start of a run to the first thing a reader sees of it."),
    error: counter("millrace.run.errors", "{run}", "Runs that failed."),
    decision: counter("millrace.router.decision", "{decision}", "Routes that were chosen."),
    queueLength: (waiting) => lengths.record(waiting, common),
    tokens(usage, attributes) {
      const given = { ...common, ...attributes };
      const { inputTokens, outputTokens } = usage;
      if (inputTokens !== undefined) tokenUsage.record(inputTokens, { ...given, [ATTRIBUTE.tokenType]: "input" });
      if (outputTokens !== undefined) tokenUsage.record(outputTokens, { ...given, [ATTRIBUTE.tokenType]: "output" });
      return inputTokens !== undefined || outputTokens !== undefined;
    },
  };
}
