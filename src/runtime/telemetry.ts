import type { Run } from "#run";
import { watchOnly } from "#domain";
import type { Telemetry, TelemetryOptions } from "#sinks";
import { explainIn } from "./explain.ts";
import type { RunOptions } from "./options.ts";
import type { Target } from "./plan-run.ts";
import type { World } from "./world.ts";

/** Reports runs to OpenTelemetry. Nothing is loaded before this is created, so runs without it have no cost. */
export interface RunTelemetry {
  watch(run: Run<unknown>): void;
  noteQueueLength(waiting: number): void;
}

/** `undefined` when the caller did not ask for telemetry. */
export function openTelemetry(target: Target, options: RunOptions, world: World): RunTelemetry | undefined {
  const { telemetry: wanted } = options;
  if (wanted === undefined || wanted === false) return undefined;
  const features = explainIn(target, { ...options, telemetry: false }, world).features;
  const loading = load(wanted === true ? {} : wanted, world);
  return {
    watch(run) {
      // Listeners receive every event from the first one on, so nothing is missed while the package is loading.
      loading.then((telemetry) => {
        const sink = telemetry?.createSink(features);
        if (sink !== undefined)
          run.on(
            "*",
            watchOnly((event) => sink.accept(event)),
          );
      }, world.onListenerError);
    },
    noteQueueLength(waiting) {
      loading.then((telemetry) => telemetry?.recordQueueLength(waiting), world.onListenerError);
    },
  };
}

async function load(options: TelemetryOptions, world: World): Promise<Telemetry | undefined> {
  const { loadTelemetry } = await import("#sinks");
  const telemetry = await loadTelemetry(options);
  if (telemetry === undefined) {
    world.onListenerError(
      new Error("telemetry is on, but @opentelemetry/api is not installed: npm i @opentelemetry/api"),
    );
  }
  return telemetry;
}
