import { checkNames } from "#domain";
import type { Sink } from "./sink.ts";
import type { TelemetryApi, TelemetryAttributes, TelemetryMeter, TelemetryTracer } from "./telemetry-api.ts";
import { createMeters } from "./telemetry-instruments.ts";
import { RunTelemetry } from "./telemetry-run.ts";

/** What is reported to OpenTelemetry in addition to names, times and numbers, and through which tracer and meter. */
export interface TelemetryOptions {
  /**
   * Also record prompts, replies, tool arguments, tool results and error messages. Off by default, because they are
   * private: only the secrets of the run are removed from them, so leave it off or redact in your exporter.
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

/** The spans and measurements of runs, according to OpenTelemetry's conventions for generative AI. */
export interface Telemetry {
  /**
   * Creates a sink for the events of one run. Its spans are children of the span that is active now. `features` are the
   * names of the features that the run requires. Accepting an event never throws.
   */
  createSink(features?: readonly string[]): Sink;
  /** Records how many runs are queued, each time one is sent. */
  recordQueueLength(waiting: number): void;
}

/** The instrumentation scope of our spans and measurements. */
const SCOPE = "millrace";

/**
 * Creates telemetry on OpenTelemetry's API.
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
 * Creates telemetry if `@opentelemetry/api` is installed; resolves with `undefined` if it is not. The package is not
 * loaded before the first call.
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
