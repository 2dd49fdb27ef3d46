/**
 * The part of `@opentelemetry/api` that we use, as our own types: the package is an optional peer dependency, and our
 * declarations must compile without it. Its tracers and meters are compatible with them.
 */

export type TelemetryAttributes = Record<string, string | number | boolean | string[]>;

/** The part of OpenTelemetry's `Span` that we use. */
export interface TelemetrySpan {
  setAttributes(attributes: TelemetryAttributes): unknown;
  addEvent(name: string, attributes?: TelemetryAttributes, time?: Date): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  updateName(name: string): unknown;
  end(time?: Date): void;
}

/** The part of OpenTelemetry's `Tracer` that we use. */
export interface TelemetryTracer {
  startSpan(
    name: string,
    options?: { kind?: number; startTime?: Date; attributes?: TelemetryAttributes },
    context?: unknown,
  ): TelemetrySpan;
}

export interface TelemetryInstrumentOptions {
  description?: string;
  unit?: string;
  advice?: { explicitBucketBoundaries?: number[] };
}

/** The part of OpenTelemetry's `Meter` that we use. */
export interface TelemetryMeter {
  createHistogram(
    name: string,
    options?: TelemetryInstrumentOptions,
  ): { record(value: number, attributes?: TelemetryAttributes): void };
  createCounter(
    name: string,
    options?: TelemetryInstrumentOptions,
  ): { add(value: number, attributes?: TelemetryAttributes): void };
}

/** The part of `import("@opentelemetry/api")` that we use. */
export interface TelemetryApi {
  readonly trace: {
    getTracer(name: string, version?: string): TelemetryTracer;
    setSpan(context: unknown, span: TelemetrySpan): unknown;
  };
  readonly metrics: { getMeter(name: string, version?: string): TelemetryMeter };
  readonly context: { active(): unknown };
  readonly diag: { warn(message: string, ...more: unknown[]): void };
}

/** Numbers of the API's enums. They are part of its protocol and never change. */
export const SPAN_KIND = { internal: 0, client: 2 } as const;
export const SPAN_STATUS = { error: 2 } as const;
