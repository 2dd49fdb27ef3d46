import {
  type AgentEvent,
  type Chunk,
  type Clock,
  describeThrown,
  type DoneEvent,
  doneEvent,
  type ErrorDetail,
  errorItem,
  numberEvent,
  type RunResult,
  type Skipped,
  type BatchEnvelope,
  warningItem,
} from "#domain";
import { RunCalls } from "./run-calls.ts";

/**
 * Turns chunks into events and guarantees the promises of the event model whatever a source writes: `seq` has no gaps,
 * time never runs backwards, each tool call is answered exactly once, there is at most one terminal error, only `done`
 * follows it, and there is exactly one `done`.
 */
export interface EventGate {
  /** Returns the events for these chunks. Chunks after a terminal error are dropped. */
  pass(chunks: readonly Chunk[], agent?: string): AgentEvent[];
  /** Continues after these events, as if they had passed here. Call it first. */
  resume(past: readonly AgentEvent[]): void;
  /** Answers every tool call that is still open. */
  answerOpenCalls(skipped: Skipped, why: string): AgentEvent[];
  /** Returns the terminal error, preceded by answers to the calls that are still open. */
  fail(error: ErrorDetail): AgentEvent[];
  done(result: RunResult): DoneEvent;
  /** Whether a terminal error has passed. */
  readonly hasFailed: boolean;
  /** The number of the last event. */
  readonly lastSeq: number;
  /** Unanswered calls: id to tool name. */
  readonly openCalls: ReadonlyMap<string, string>;
}

/** Creates the gate of one run. */
export function createEventGate(options: { readonly runId: string; readonly clock: Pick<Clock, "now"> }): EventGate {
  return new RunGate(options.runId, options.clock);
}

class RunGate implements EventGate {
  private readonly _runId: string;
  private readonly _clock: Pick<Clock, "now">;
  private _seq = 0;
  private _ts = 0;
  private _hasFailed = false;
  private readonly _calls = new RunCalls();

  constructor(runId: string, clock: Pick<Clock, "now">) {
    this._runId = runId;
    this._clock = clock;
  }

  get hasFailed(): boolean {
    return this._hasFailed;
  }

  get openCalls(): ReadonlyMap<string, string> {
    return this._calls.open;
  }

  get lastSeq(): number {
    return this._seq - 1;
  }

  pass(chunks: readonly Chunk[], agent?: string): AgentEvent[] {
    const events: AgentEvent[] = [];
    if (this._hasFailed) return events;
    const envelope = this._envelopeNow(agent);
    for (let at = 0; at < chunks.length && !this._hasFailed; at += 1) {
      const end = numberRow(chunks, at, this._seq, envelope, events);
      this._seq += end - at;
      at = end;
      if (at < chunks.length) this._passItem(chunks[at] as Chunk, envelope, events);
    }
    return events;
  }

  resume(past: readonly AgentEvent[]): void {
    for (const event of past) {
      this._seq = event.seq + 1;
      this._ts = Math.max(this._ts, event.ts);
      if (event.type !== "done") this._noteItem(event);
    }
  }

  answerOpenCalls(skipped: Skipped, why: string): AgentEvent[] {
    const events: AgentEvent[] = [];
    this._answerOpen(skipped, why, this._envelopeNow(), events);
    return events;
  }

  fail(error: ErrorDetail): AgentEvent[] {
    const events: AgentEvent[] = [];
    if (!this._hasFailed) this._passItem(errorItem({ ...error, terminal: true }), this._envelopeNow(), events);
    return events;
  }

  done(result: RunResult): DoneEvent {
    return numberEvent(doneEvent(result), this._seq++, this._envelopeNow());
  }

  /** Reads the clock once per batch: all events of a batch were decoded from the same bytes. */
  private _envelopeNow(agent?: string): BatchEnvelope {
    this._ts = Math.max(this._ts, this._clock.now());
    return { ts: this._ts, runId: this._runId, agent };
  }

  private _answerOpen(skipped: Skipped, why: string, envelope: BatchEnvelope, events: AgentEvent[]): void {
    for (const answer of this._calls.answerOpen(skipped, why)) events.push(numberEvent(answer, this._seq++, envelope));
  }

  /** Applies the rules for items. There are no rules for deltas, so deltas are never passed here. */
  private _passItem(chunk: Chunk, envelope: BatchEnvelope, events: AgentEvent[]): void {
    if (chunk.type === "tool-call") {
      if (this._calls.isMade(chunk.callId)) {
        events.push(this._refuse(chunk, `A second tool call with the id ${chunk.callId} was rejected.`, envelope));
        return;
      }
    } else if (chunk.type === "tool-result" && !this._calls.open.has(chunk.callId)) {
      const why = this._calls.isMade(chunk.callId) ? "was answered already" : "was never made";
      const message = `A tool result for ${chunk.callId} was rejected: that call ${why}.`;
      events.push(this._refuse(chunk, message, envelope));
      return;
    } else if (chunk.type === "permission" && chunk.state === "asked" && this._calls.isAsked(chunk.callId)) {
      // A run that continues in another process asks again. For readers the question is still open.
      return;
    } else if (chunk.type === "error" && chunk.terminal) {
      // Uses the envelope of the error: a new one could carry a later time than the error that follows.
      this._answerOpen("incomplete", "The run ended before this tool call was answered.", envelope, events);
    }
    this._noteItem(chunk);
    events.push(numberEvent(chunk, this._seq++, envelope));
  }

  /** Records what the rules depend on. */
  private _noteItem(chunk: Chunk): void {
    this._calls.note(chunk);
    if (chunk.type === "error" && chunk.terminal) this._hasFailed = true;
  }

  private _refuse(chunk: Chunk, message: string, envelope: BatchEnvelope): AgentEvent {
    const warning = warningItem({ code: "event-refused", message, context: contextOf(chunk) });
    return numberEvent(warning, this._seq++, envelope);
  }
}

/** Numbers the row of deltas that begins at `from` and returns its end. */
function numberRow(
  chunks: readonly Chunk[],
  from: number,
  seq: number,
  envelope: BatchEnvelope,
  events: AgentEvent[],
): number {
  let at = from;
  for (; at < chunks.length; at += 1) {
    const chunk = chunks[at] as Chunk;
    if (chunk.type !== "text-delta" && chunk.type !== "thinking-delta" && chunk.type !== "tool-input-delta") break;
    events.push(numberEvent(chunk, seq + at - from, envelope));
  }
  return at;
}

/** Returns the refused chunk, shortened to fit into a warning. */
function contextOf(chunk: Chunk): unknown {
  try {
    const text = JSON.stringify(chunk);
    return text.length <= 4096 ? JSON.parse(text) : { type: chunk.type, cut: text.slice(0, 4096) };
  } catch (error) {
    return { type: chunk.type, unreadable: describeThrown(error) };
  }
}
