import { checkNames } from "#domain";
import type { Sink } from "./sink.ts";
import type { TelemetryApi, TelemetryAttributes, TelemetryMeter, TelemetryTracer } from "./telemetry-api.ts";
import { createMeters } from "./telemetry-meters.ts";
import { RunTelemetry } from "./telemetry-run.ts";

/** What is told to OpenTelemetry beyond names, times and numbers, and through whom. */
export interface TelemetryOptions {
  /**
   * Also record prompts, replies, tool arguments, tool results and error messages. Off by default, because they are
   * somebody's words: only the secrets of the run are covered in them, so leave it off or redact in your exporter.
   */
  readonly recordContent?: boolean;
  /** Added to every span and every measurement. */
  readonly attributes?: TelemetryAttributes;
  /** Default: the global tracer named `millrace`. */
  readonly tracer?: TelemetryTracer;
  /** Default: the global meter named `millrace`. */
  readonly meter?: TelemetryMeter;
}

const OPTION_NAMES = ["recordContent", "attributes", "tracer", "meter"] satisfies (keyof TelemetryOptions)[];

/** The spans and measurements of runs, after OpenTelemetry's conventions for generative AI. */
export interface Telemetry {
  /**
   * A sink for the events of one run. Its spans hang below the one that is active now. `features` is what the run asks
   * of its route, by name. Never throws while it takes events.
   */
  createSink(features?: readonly string[]): Sink;
  /** Measures how many runs wait, whenever one was sent. */
  recordQueueLength(waiting: number): void;
}

/** The name our spans and measurements are found under. */
const SCOPE = "millrace";

/**
 * Creates telemetry over OpenTelemetry's API.
 *
 * Spans: `invoke_agent <agent>` for a run and for each agent it is handed to, `chat <model>` for each reply,
 * `execute_tool <tool>` for each tool call. Measurements: `gen_ai.client.operation.duration`,
 * `gen_ai.client.operation.time_to_first_chunk`, `gen_ai.client.token.usage`, and `millrace.run.latency`,
 * `millrace.run.errors`, `millrace.router.decision`, `millrace.queue.length`.
 *
 * @example
 * import * as api from "@opentelemetry/api"
 * const sink = createTelemetry(api).createSink()
 * run("offline", "Hello").on("*", (event) => sink.accept(event))
 */
export function createTelemetry(api: TelemetryApi, options: TelemetryOptions = {}): Telemetry {
  checkNames(options, OPTION_NAMES, "telemetry.");
  const attributes = { ...options.attributes };
  const tracer = options.tracer ?? api.trace.getTracer(SCOPE);
  const meters = createMeters(options.meter ?? api.metrics.getMeter(SCOPE), attributes);
  return {
    createSink: (features = []) =>
      new RunTelemetry({
        api,
        tracer,
        meters,
        recordContent: options.recordContent === true,
        attributes,
        features,
        parent: api.context.active(),
      }),
    recordQueueLength: (waiting) => meters.queueLength(waiting),
  };
}

/**
 * Creates telemetry when `@opentelemetry/api` is installed; `undefined` when it is not. Loads it on the first call and
 * not before.
 *
 * @example
 * const sink = (await loadTelemetry())?.createSink()
 * if (sink) run("offline", "Hello").on("*", (event) => sink.accept(event))
 */
export async function loadTelemetry(
  options: TelemetryOptions = {},
  load: () => Promise<TelemetryApi> = () => import("@opentelemetry/api"),
): Promise<Telemetry | undefined> {
  let api: TelemetryApi;
  try {
    api = await load();
  } catch {
    return undefined;
  }
  return createTelemetry(api, options);
}
