/**
 * The little of `@opentelemetry/api` that is used, said as our own types: the package is an optional peer, and our
 * declarations must be readable where it is not installed. Its own tracers and meters fit them.
 */

export type TelemetryAttributes = Record<string, string | number | boolean | string[]>;

/** What is used of OpenTelemetry's `Span`. */
export interface TelemetrySpan {
  setAttributes(attributes: TelemetryAttributes): unknown;
  addEvent(name: string, attributes?: TelemetryAttributes, time?: Date): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  updateName(name: string): unknown;
  end(time?: Date): void;
}

/** What is used of OpenTelemetry's `Tracer`. */
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

/** What is used of OpenTelemetry's `Meter`. */
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

/** What `import("@opentelemetry/api")` gives. */
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
