import type { StartItem, Usage } from "#domain";
import {
  SPAN_KIND,
  SPAN_STATUS,
  type TelemetryApi,
  type TelemetryAttributes,
  type TelemetrySpan,
  type TelemetryTracer,
} from "./telemetry-api.ts";
import { encodeContent } from "./telemetry-content.ts";
import type { Instruments } from "./telemetry-instruments.ts";
import { ATTRIBUTE, conventionalUsage, type Operation, providerOf } from "./telemetry-names.ts";

/** The dependencies and settings for the telemetry of one run. */
export interface TelemetryTools {
  readonly api: TelemetryApi;
  readonly tracer: TelemetryTracer;
  readonly meters: Instruments;
  readonly recordContent: boolean;
  readonly attributes: TelemetryAttributes;
  /** The features that the run requires. */
  readonly features: readonly string[];
  /** The parent context of the run's span. */
  readonly parent: unknown;
}

/** A span that can be a parent of others. */
export interface OpenSpan {
  readonly span: TelemetrySpan;
  readonly context: unknown;
  readonly startedAt: number;
}

/** The current agent and backend of a run, and the functions that create its spans and counts. */
export class TelemetryScope {
  readonly tools: TelemetryTools;
  agent: string | undefined;
  /** Whether any tokens were counted so far. */
  hasTokens = false;
  private _provider = "millrace";
  private _backend: StartItem | undefined;

  constructor(tools: TelemetryTools) {
    this.tools = tools;
  }

  /** Sets the current backend. */
  set backend(start: StartItem) {
    this._backend = start;
    this._provider = providerOf(start.backend);
  }

  get provider(): string {
    return this._provider;
  }

  get model(): string | undefined {
    return this._backend?.model;
  }

  open(
    operation: Operation,
    subject: string | undefined,
    ts: number,
    more: { readonly parent: unknown; readonly kind?: number; readonly attributes?: TelemetryAttributes },
  ): OpenSpan {
    const { api, tracer, attributes } = this.tools;
    const span = tracer.startSpan(
      subject === undefined ? operation : `${operation} ${subject}`,
      {
        kind: more.kind ?? SPAN_KIND.internal,
        startTime: new Date(ts),
        attributes: { ...attributes, ...this.attributes(operation), ...more.attributes },
      },
      more.parent,
    );
    return { span, context: api.trace.setSpan(more.parent, span), startedAt: ts };
  }

  /** The common attributes of the spans and measurements of one backend. */
  attributes(operation: Operation): TelemetryAttributes {
    const attributes: TelemetryAttributes = { [ATTRIBUTE.operation]: operation, [ATTRIBUTE.provider]: this._provider };
    if (this._backend !== undefined) attributes[ATTRIBUTE.mode] = this._backend.mode;
    if (this._backend?.model !== undefined) attributes[ATTRIBUTE.requestModel] = this._backend.model;
    if (this.agent !== undefined) attributes[ATTRIBUTE.agent] = this.agent;
    return attributes;
  }

  count(usage: Usage, attributes: TelemetryAttributes): void {
    if (this.tools.meters.tokens(this.conventional(usage), attributes)) this.hasTokens = true;
  }

  /** Usage as the conventions count it. */
  conventional(usage: Usage): Usage {
    return conventionalUsage(usage, this._provider);
  }

  /** An error's message may quote the conversation, so it counts as content. */
  failure(code: string, message?: string): { code: number; message: string } {
    const isShown = this.tools.recordContent && message !== undefined;
    return { code: SPAN_STATUS.error, message: isShown ? `${code}: ${encodeContent(message)}` : code };
  }
}
