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
  type Place,
  type RunResult,
  type Skipped,
  toolResultItem,
  warningItem,
} from "#domain";

/**
 * Where chunks become events. Holds the promises of the event model, whatever a source writes:
 * `seq` without gap, time that never runs backwards, each tool call answered exactly once, at most one terminal error
 * with nothing but `done` behind it, one `done`.
 */
export interface EventGate {
  /** The events these chunks become. Chunks behind a terminal error become none. */
  pass(chunks: readonly Chunk[], agent?: string): AgentEvent[];
  /** Answers every tool call that is still open. */
  answerOpenCalls(skipped: Skipped, why: string): AgentEvent[];
  /** The terminal error, with the open calls answered first. */
  fail(error: ErrorDetail): AgentEvent[];
  done(result: RunResult): DoneEvent;
  /** A terminal error has passed. */
  readonly hasFailed: boolean;
}

/** Creates the gate of one run. */
export function createEventGate(options: { readonly runId: string; readonly clock: Pick<Clock, "now"> }): EventGate {
  return new RunGate(options.runId, options.clock);
}

/** A class, because it is called once per event: closures are optimised anew for every run they serve. */
class RunGate implements EventGate {
  private readonly _runId: string;
  private readonly _clock: Pick<Clock, "now">;
  private _seq = 0;
  private _ts = 0;
  private _hasFailed = false;
  /** Calls without an answer, by id; answered ones stay known, so that a second answer is noticed. */
  private readonly _openCalls = new Map<string, string>();
  private readonly _knownCalls = new Set<string>();
  /** Calls that were denied and have no answer. Made for the first: most runs deny none. */
  private _deniedCalls: Set<string> | undefined;

  constructor(runId: string, clock: Pick<Clock, "now">) {
    this._runId = runId;
    this._clock = clock;
  }

  get hasFailed(): boolean {
    return this._hasFailed;
  }

  pass(chunks: readonly Chunk[], agent?: string): AgentEvent[] {
    const events: AgentEvent[] = [];
    if (this._hasFailed) return events;
    const place = this._placeNow(agent);
    for (let at = 0; at < chunks.length && !this._hasFailed; at += 1) {
      const end = numberRow(chunks, at, this._seq, place, events);
      this._seq += end - at;
      at = end;
      if (at < chunks.length) this._passItem(chunks[at] as Chunk, place, events);
    }
    return events;
  }

  answerOpenCalls(skipped: Skipped, why: string): AgentEvent[] {
    const events: AgentEvent[] = [];
    this._answerOpen(skipped, why, this._placeNow(), events);
    return events;
  }

  fail(error: ErrorDetail): AgentEvent[] {
    const events: AgentEvent[] = [];
    if (!this._hasFailed) this._passItem(errorItem({ ...error, terminal: true }), this._placeNow(), events);
    return events;
  }

  done(result: RunResult): DoneEvent {
    return numberEvent(doneEvent(result), this._seq++, this._placeNow());
  }

  /** One look at the clock for a whole batch: its events were decoded from the same bytes. */
  private _placeNow(agent?: string): Place {
    this._ts = Math.max(this._ts, this._clock.now());
    return { ts: this._ts, runId: this._runId, agent };
  }

  private _answerOpen(skipped: Skipped, why: string, place: Place, events: AgentEvent[]): void {
    for (const [callId, name] of this._openCalls) {
      // Whatever ended the run, what was denied was not run for that reason.
      const reason: Skipped = this._deniedCalls?.has(callId) === true ? "denied" : skipped;
      const answer = toolResultItem({ callId, name, output: why, isError: true, skipped: reason });
      events.push(numberEvent(answer, this._seq++, place));
    }
    this._openCalls.clear();
  }

  /** The rules that need a look at the chunk. Deltas have none, so they never get here. */
  private _passItem(chunk: Chunk, place: Place, events: AgentEvent[]): void {
    if (chunk.type === "tool-call") {
      if (this._knownCalls.has(chunk.callId)) {
        events.push(this._refuse(chunk, `A second tool call with the id ${chunk.callId} was not let through.`, place));
        return;
      }
      this._knownCalls.add(chunk.callId);
      this._openCalls.set(chunk.callId, chunk.name);
    } else if (chunk.type === "tool-result" && !this._openCalls.delete(chunk.callId)) {
      const why = this._knownCalls.has(chunk.callId) ? "was answered already" : "was never made";
      const message = `A tool result for ${chunk.callId} was not let through: that call ${why}.`;
      events.push(this._refuse(chunk, message, place));
      return;
    } else if (chunk.type === "permission" && chunk.state === "denied") {
      this._deniedCalls ??= new Set();
      this._deniedCalls.add(chunk.callId);
    } else if (chunk.type === "error" && chunk.terminal) {
      // In the place of the error, not in one of their own: time would fall behind them.
      this._answerOpen("incomplete", "The run ended before this tool call was answered.", place, events);
      this._hasFailed = true;
    }
    events.push(numberEvent(chunk, this._seq++, place));
  }

  private _refuse(chunk: Chunk, message: string, place: Place): AgentEvent {
    const warning = warningItem({ code: "event-refused", message, context: contextOf(chunk) });
    return numberEvent(warning, this._seq++, place);
  }
}

/** Numbers the deltas that stand in a row at `from`; returns where they end. A loop of its own: it runs once per delta. */
function numberRow(chunks: readonly Chunk[], from: number, seq: number, place: Place, events: AgentEvent[]): number {
  let at = from;
  for (; at < chunks.length; at += 1) {
    const chunk = chunks[at] as Chunk;
    if (chunk.type !== "text-delta" && chunk.type !== "thinking-delta" && chunk.type !== "tool-input-delta") break;
    events.push(numberEvent(chunk, seq + at - from, place));
  }
  return at;
}

/** What was refused, small enough for a warning. */
function contextOf(chunk: Chunk): unknown {
  try {
    const text = JSON.stringify(chunk);
    return text.length <= 4096 ? JSON.parse(text) : { type: chunk.type, cut: text.slice(0, 4096) };
  } catch (error) {
    return { type: chunk.type, unreadable: describeThrown(error) };
  }
}
