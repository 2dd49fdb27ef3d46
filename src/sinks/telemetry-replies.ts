import type { ErrorCode, MessageItem, ToolResultItem } from "#domain";
import { SPAN_KIND } from "./telemetry-api.ts";
import { ATTRIBUTE } from "./telemetry-names.ts";
import { ReplyRecord } from "./telemetry-reply.ts";
import type { TelemetryScope } from "./telemetry-scope.ts";

/** The key of the main conversation; the key of a sub-agent is the id of its tool call. */
export const MAIN = "";

/** The requested or running replies, one per conversation; each becomes a `chat` span when it is over. */
export class ReplySpans {
  private readonly _scope: TelemetryScope;
  private readonly _replies = new Map<string, ReplyRecord>();
  /** Messages whose spans have ended, and whether their tokens were counted. */
  private readonly _reported = new Map<string, boolean>();
  /** The parent context for the spans of a conversation. */
  private readonly _contextOf: (place: string) => unknown;

  constructor(scope: TelemetryScope, contextOf: (place: string) => unknown) {
    this._scope = scope;
    this._contextOf = contextOf;
  }

  /** The reply of a conversation; if there is none yet, one that was requested now. */
  at(place: string, ts: number): ReplyRecord {
    const known = this._replies.get(place);
    if (known !== undefined) return known;
    const reply = new ReplyRecord(ts);
    this._replies.set(place, reply);
    return reply;
  }

  addMessage(event: MessageItem): void {
    const place = event.parent ?? MAIN;
    if (event.role === "user") {
      const reply = this.at(place, event.ts);
      if (this._scope.tools.recordContent) reply.input.push(event);
      return;
    }
    if (this._reported.has(event.id)) {
      this._addAgain(place, event);
      return;
    }
    if (!this.at(place, event.ts).takes(event)) this.close(place, event.ts);
    this.at(place, event.ts).add(event);
  }

  /** A message that was emitted before its end arrives again, possibly with its usage only now. Its span has ended. */
  private _addAgain(place: string, { id, usage, model }: MessageItem): void {
    if (this._replies.get(place)?.isFinished === false) this._replies.delete(place);
    if (usage === undefined || this._reported.get(id) === true) return;
    this._reported.set(id, true);
    const attributes = this._scope.attributes("chat");
    this._scope.count(usage, model === undefined ? attributes : { ...attributes, [ATTRIBUTE.responseModel]: model });
  }

  /** The model is asked when the last result has arrived; until then each result restarts the wait. */
  addResult({ parent, callId, output, isError, ts }: ToolResultItem): void {
    const place = parent ?? MAIN;
    const waiting = this._replies.get(place);
    if (waiting?.firstAt !== undefined) return;
    const reply = new ReplyRecord(ts);
    if (this._scope.tools.recordContent) {
      const block = { type: "tool-result", callId, output, isError } as const;
      reply.input.push(...(waiting?.input ?? []), { role: "user", blocks: [block] });
    }
    this._replies.set(place, reply);
  }

  closeAll(ts: number, code: ErrorCode | undefined): void {
    for (const place of [...this._replies.keys()]) this.close(place, ts, code);
  }

  /** Ends a reply and emits its span, if there is anything to report. `code` is the reason if it failed. */
  close(place: string, ts: number, code?: ErrorCode): void {
    const reply = this._replies.get(place);
    this._replies.delete(place);
    if (reply === undefined || !reply.isWorthReporting(code)) return;
    if (reply.messageId !== undefined) this._reported.set(reply.messageId, Object.keys(reply.usage).length > 0);
    const scope = this._scope;
    const { meters, recordContent } = scope.tools;
    const failure = reply.isFinished ? undefined : code;
    const failed = failure === undefined ? {} : { [ATTRIBUTE.errorType]: failure };
    const endAt = reply.endAt ?? ts;
    const { span } = scope.open("chat", scope.model ?? reply.model, reply.askedAt, {
      parent: this._contextOf(place),
      kind: SPAN_KIND.client,
      attributes: { ...reply.attributes(scope.conventional(reply.usage), recordContent), ...failed },
    });
    if (failure !== undefined) span.setStatus(scope.failure(failure));
    span.end(new Date(endAt));
    const attributes = {
      ...scope.attributes("chat"),
      ...(reply.model !== undefined && { [ATTRIBUTE.responseModel]: reply.model }),
      ...failed,
    };
    meters.duration(endAt - reply.askedAt, attributes);
    if (reply.firstAt !== undefined) meters.firstChunk(reply.firstAt - reply.askedAt, attributes);
    scope.count(reply.usage, attributes);
  }
}
