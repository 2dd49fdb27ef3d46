import {
  type AgentEvent,
  type DeltaEvent,
  type DoneEvent,
  type ErrorItem,
  type HandoffItem,
  type MessageItem,
  type NoticeItem,
  type PermissionItem,
  type StartItem,
  type ToolCallItem,
  type ToolResultItem,
  type Usage,
  unreachable,
} from "#domain";
import type { Sink } from "./sink.ts";
import { SPAN_STATUS } from "./telemetry-api.ts";
import { encodeContent } from "./telemetry-content.ts";
import { ATTRIBUTE, usageAttributes } from "./telemetry-names.ts";
import { MAIN, ReplySpans } from "./telemetry-replies.ts";
import { type OpenSpan, TelemetryScope, type TelemetryTools } from "./telemetry-scope.ts";

/**
 * The spans and measurements of one run, from its events alone.
 *
 * All times are those of the events, so it does not matter when the sink receives them.
 */
export class RunTelemetry implements Sink {
  private readonly _tools: TelemetryTools;
  private readonly _scope: TelemetryScope;
  private readonly _replies: ReplySpans;
  private readonly _calls = new Map<string, OpenSpan>();
  private _run: OpenSpan | undefined;
  /** The agent after a handoff; the first agent is the run itself. */
  private _leg: OpenSpan | undefined;
  private _hasShown = false;
  private _isOver = false;

  constructor(tools: TelemetryTools) {
    this._tools = tools;
    this._scope = new TelemetryScope(tools);
    this._replies = new ReplySpans(this._scope, (place) => this._placeOf(place).context);
  }

  accept(event: AgentEvent): void {
    if (this._isOver) return;
    try {
      this._run ??= this._begin(event);
      this._take(event);
    } catch (error) {
      // A failure of telemetry must not affect the run: from here on, this run is not reported.
      this._isOver = true;
      this._tools.api.diag.warn("millrace: the telemetry of a run has failed", error);
    }
  }

  private _take(event: AgentEvent): void {
    switch (event.type) {
      case "text-delta":
      case "thinking-delta":
      case "tool-input-delta":
        return this._takeDelta(event);
      case "start":
        return this._takeStart(event);
      case "message":
        return this._takeMessage(event);
      case "tool-call":
        return this._takeCall(event);
      case "tool-result":
        return this._takeResult(event);
      case "permission":
        return this._takePermission(event);
      case "handoff":
        return this._takeHandoff(event);
      case "notice":
        return this._takeNotice(event);
      case "warning":
        return this._addEvent("warning", event.ts, { "millrace.warning.code": event.code });
      case "error":
        return this._takeError(event);
      case "result":
        return this._replies.close(MAIN, event.ts);
      case "done":
        return this._end(event);
      default:
        return unreachable(event);
    }
  }

  private _begin(event: AgentEvent): OpenSpan {
    this._scope.agent = event.agent;
    return this._scope.open("invoke_agent", event.agent, event.ts, {
      parent: this._tools.parent,
      attributes: { [ATTRIBUTE.runId]: event.runId },
    });
  }

  private _takeDelta(event: DeltaEvent): void {
    if (!this._hasShown) this._show(event.ts);
    const reply = this._replies.at(event.parent ?? MAIN, event.ts);
    reply.firstAt ??= event.ts;
  }

  private _takeStart(event: StartItem): void {
    const { model, sessionId, mode } = event;
    this._scope.backend = event;
    this._nameAgent(event.agent);
    this._place().span.setAttributes({
      ...this._scope.attributes("invoke_agent"),
      ...(model !== undefined && { [ATTRIBUTE.requestModel]: model }),
      ...(sessionId !== undefined && { [ATTRIBUTE.conversation]: sessionId }),
    });
    this._tools.meters.decision({
      [ATTRIBUTE.routerChoice]: mode,
      [ATTRIBUTE.routerFeatures]: [...this._tools.features],
      [ATTRIBUTE.provider]: this._scope.provider,
    });
    this._replies.at(event.parent ?? MAIN, event.ts);
  }

  private _takeMessage(event: MessageItem): void {
    if (event.role === "assistant" && !this._hasShown) this._show(event.ts);
    this._replies.addMessage(event);
  }

  private _takeCall(event: ToolCallItem): void {
    const { callId, name, executedBy, input, parent = MAIN } = event;
    this._replies.close(parent, event.ts);
    // A run never reports the same call twice; a log from elsewhere may.
    this._calls.get(callId)?.span.end(new Date(event.ts));
    const call = this._scope.open("execute_tool", name, event.ts, {
      parent: this._placeOf(parent).context,
      attributes: {
        [ATTRIBUTE.toolName]: name,
        [ATTRIBUTE.toolCallId]: callId,
        [ATTRIBUTE.toolType]: executedBy === "millrace" ? "function" : "extension",
        ...(this._tools.recordContent && { [ATTRIBUTE.toolArguments]: encodeContent(input) }),
      },
    });
    this._calls.set(callId, call);
  }

  private _takeResult(event: ToolResultItem): void {
    const call = this._calls.get(event.callId);
    if (call !== undefined) this._closeCall(call, event);
    this._replies.addResult(event);
  }

  private _closeCall(call: OpenSpan, event: ToolResultItem): void {
    const { callId, name, output, isError, skipped, ts, ms, waitedMs } = event;
    const failed = isError ? { [ATTRIBUTE.errorType]: skipped ?? "tool-failed" } : {};
    // The last reply of a sub-agent belongs below its call.
    this._replies.close(callId, ts);
    this._calls.delete(callId);
    call.span.setAttributes({
      ...failed,
      ...(skipped !== undefined && { [ATTRIBUTE.skipped]: skipped }),
      ...(waitedMs !== undefined && { [ATTRIBUTE.waited]: waitedMs }),
      ...(this._tools.recordContent && { [ATTRIBUTE.toolResult]: encodeContent(output) }),
    });
    if (isError) call.span.setStatus({ code: SPAN_STATUS.error });
    call.span.end(new Date(ts));
    // A skipped call took no tool time.
    if (skipped !== undefined) return;
    const attributes = { ...this._scope.attributes("execute_tool"), [ATTRIBUTE.toolName]: name, ...failed };
    this._tools.meters.duration(ms ?? ts - call.startedAt, attributes);
  }

  private _takePermission(event: PermissionItem): void {
    this._calls.get(event.callId)?.span.setAttributes({
      [ATTRIBUTE.permission]: event.state,
      [ATTRIBUTE.permissionBy]: event.by,
    });
  }

  private _takeHandoff(event: HandoffItem): void {
    this._replies.close(MAIN, event.ts);
    this._closeLeg(event.ts);
    this._scope.agent = event.to;
    this._leg = this._scope.open("invoke_agent", event.to, event.ts, { parent: this._run?.context });
  }

  private _takeNotice(event: NoticeItem): void {
    const given = event.data as { readonly code?: unknown; readonly usage?: Usage } | null | undefined;
    switch (event.kind) {
      case "retry":
      case "fallback":
      case "stall":
      case "retract":
        return this._addEvent(
          event.kind,
          event.ts,
          typeof given?.code === "string" ? { [ATTRIBUTE.errorType]: given.code } : {},
        );
      case "usage":
        // The usage of a reply that failed.
        if (given?.usage !== undefined) this._scope.count(given.usage, this._scope.attributes("chat"));
        return;
      default:
        return;
    }
  }

  private _takeError(event: ErrorItem): void {
    this._addEvent("error", event.ts, { [ATTRIBUTE.errorType]: event.code });
    if (event.terminal) this._replies.closeAll(event.ts, event.code);
  }

  private _end({ ts, result }: DoneEvent): void {
    const run = this._run as OpenSpan;
    const hasFailed = result.status === "error" || result.status === "interrupted";
    const code = result.error?.code ?? result.subtype;
    const failed = hasFailed ? { [ATTRIBUTE.errorType]: code } : {};
    this._replies.closeAll(ts, result.status === "success" ? undefined : (result.error?.code ?? "aborted"));
    for (const call of this._calls.values()) call.span.end(new Date(ts));
    this._calls.clear();
    this._closeLeg(ts);
    run.span.setAttributes({
      ...usageAttributes(this._scope.conventional(result.usage)),
      [ATTRIBUTE.status]: result.status,
      [ATTRIBUTE.subtype]: result.subtype,
      [ATTRIBUTE.turns]: result.turns,
      ...(result.costUsd !== undefined && { [ATTRIBUTE.costUsd]: result.costUsd }),
      ...(result.model !== undefined && { [ATTRIBUTE.responseModel]: result.model }),
      ...(result.sessionId !== undefined && { [ATTRIBUTE.conversation]: result.sessionId }),
      ...failed,
    });
    if (hasFailed) run.span.setStatus(this._scope.failure(code, result.error?.message));
    run.span.end(new Date(ts));
    const attributes = { ...this._scope.attributes("invoke_agent"), ...failed };
    this._tools.meters.duration(ts - run.startedAt, attributes);
    if (hasFailed) this._tools.meters.error(attributes);
    // An agent that does not report usage per reply reports it at the end.
    if (!this._scope.hasTokens) this._scope.count(result.usage, attributes);
    this._isOver = true;
  }

  private _closeLeg(ts: number): void {
    this._leg?.span.end(new Date(ts));
    this._leg = undefined;
  }

  /** The first visible event of a run. */
  private _show(ts: number): void {
    this._hasShown = true;
    const startedAt = this._run?.startedAt ?? ts;
    this._tools.meters.latency(ts - startedAt, this._scope.attributes("invoke_agent"));
  }

  /** The run may have begun before its agent was named. */
  private _nameAgent(agent: string | undefined): void {
    if (agent === undefined || this._scope.agent !== undefined) return;
    this._scope.agent = agent;
    this._run?.span.updateName(`invoke_agent ${agent}`);
  }

  private _addEvent(name: string, ts: number, attributes: Record<string, string>): void {
    this._place().span.addEvent(name, attributes, new Date(ts));
  }

  /** The span of the current agent. */
  private _place(): OpenSpan {
    return this._leg ?? (this._run as OpenSpan);
  }

  /** A sub-agent's span is the tool call that started it. */
  private _placeOf(place: string): OpenSpan {
    return this._calls.get(place) ?? this._place();
  }
}
