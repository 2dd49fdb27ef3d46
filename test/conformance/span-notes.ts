import type { RunOptions } from "#runtime";

/** A tracer and a meter that note what they are told. */
export function createSpanNotes(marks: string[]): {
  /** Options of telemetry with them; `meter: true` puts the meter there. */
  readonly telemetry: (more: { readonly meter?: true; readonly [name: string]: unknown }) => RunOptions;
} {
  const span = {
    setAttribute(key: string, value: unknown) {
      marks.push(`attribute ${key} ${JSON.stringify(value)}`);
      return span;
    },
    setAttributes(all: unknown) {
      marks.push(`attributes ${JSON.stringify(all)}`);
      return span;
    },
    addEvent: () => span,
    setStatus: () => span,
    updateName: () => span,
    recordException: () => undefined,
    end: () => undefined,
    isRecording: () => true,
    spanContext: () => ({ traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 }),
  };
  const tracer = {
    startSpan(name: string, options?: { readonly attributes?: unknown }) {
      marks.push(`span ${name} ${JSON.stringify(options?.attributes ?? {})}`);
      return span;
    },
  };
  const note = (_: number, attributes: unknown): void => void marks.push(`measured ${JSON.stringify(attributes)}`);
  const measure = () => ({ record: note, add: note });
  const meter = {
    createHistogram: measure,
    createCounter: measure,
    createUpDownCounter: measure,
    createGauge: measure,
  };
  return {
    telemetry: ({ meter: wanted, ...more }) => ({
      telemetry: { tracer, ...(wanted === true && { meter }), ...more } as never,
    }),
  };
}
