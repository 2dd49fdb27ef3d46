import { type ErrorCode, mergeUsage, type Message, type MessageItem, type Usage } from "#domain";
import type { TelemetryAttributes } from "./telemetry-api.ts";
import { encodeMessages } from "./telemetry-content.ts";
import { ATTRIBUTE, finishReason, usageAttributes } from "./telemetry-names.ts";

type Shown = Pick<Message, "role" | "blocks" | "stopReason">;

/** Failures of the model's side: with these, a requested reply that never began has failed. */
const HOST_FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "stream-cut",
  "stalled",
  "timeout",
  "provider-error",
  "provider-unreachable",
  "provider-overloaded",
  "provider-rate-limited",
  "provider-auth",
  "provider-invalid-request",
  "refused",
  "content-filtered",
]);

/** One reply of a model, from the moment it was requested, as far as events show it. */
export class ReplyRecord {
  readonly askedAt: number;
  /** When its first piece arrived. */
  firstAt: number | undefined;
  /** When it was finished. */
  endAt: number | undefined;
  usage: Usage = {};
  /** What is new since the last reply; kept only if content is recorded. */
  readonly input: Shown[] = [];
  /** The finished message, possibly emitted several times with the same id. */
  private _message: MessageItem | undefined;

  constructor(askedAt: number) {
    this.askedAt = askedAt;
  }

  /** `false`: this is another message and so another reply. */
  takes(event: MessageItem): boolean {
    return this._message === undefined || this._message.id === event.id;
  }

  add(event: MessageItem): void {
    this._message = event;
    this.firstAt ??= event.ts;
    this.endAt = event.ts;
    if (event.usage !== undefined) this.usage = mergeUsage(this.usage, event.usage);
  }

  get messageId(): string | undefined {
    return this._message?.id;
  }

  get model(): string | undefined {
    return this._message?.model;
  }

  /** Whether it deserves a span: it has a message, a part of one, or failed because of the host. */
  isWorthReporting(code: ErrorCode | undefined): boolean {
    if (this._message !== undefined) return true;
    return code !== undefined && (this.firstAt !== undefined || HOST_FAILURES.has(code));
  }

  /** A finished message is no failure, whatever came afterwards. */
  get isFinished(): boolean {
    return this._message !== undefined;
  }

  attributes(usage: Usage, recordContent: boolean): TelemetryAttributes {
    const message = this._message;
    const attributes: TelemetryAttributes = usageAttributes(usage);
    if (message !== undefined) {
      attributes[ATTRIBUTE.responseId] = message.id;
      if (message.model !== undefined) attributes[ATTRIBUTE.responseModel] = message.model;
      if (message.stopReason !== undefined) attributes[ATTRIBUTE.finishReasons] = [finishReason(message.stopReason)];
    }
    if (this.firstAt !== undefined) {
      attributes[ATTRIBUTE.timeToFirstChunk] = Math.max(0, this.firstAt - this.askedAt) / 1000;
    }
    if (recordContent) {
      if (this.input.length > 0) attributes[ATTRIBUTE.inputMessages] = encodeMessages(this.input);
      if (message !== undefined) attributes[ATTRIBUTE.outputMessages] = encodeMessages([message]);
    }
    return attributes;
  }
}
