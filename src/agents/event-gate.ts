import {
  type AgentEvent,
  type Chunk,
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
export function createEventGate(options: { readonly runId: string; readonly now: () => number }): EventGate {
  const { runId, now } = options;
  let seq = 0;
  let ts = 0;
  let failed = false;
  /** Calls without an answer, by id; answered ones stay known, so that a second answer is noticed. */
  const openCalls = new Map<string, string>();
  const knownCalls = new Set<string>();

  /** One look at the clock for a whole batch: its events were decoded from the same bytes. */
  const placeNow = (agent?: string): Place => {
    ts = Math.max(ts, now());
    return { ts, runId, agent };
  };

  const answerOpenCalls = (skipped: Skipped, why: string): AgentEvent[] => {
    const events: AgentEvent[] = [];
    const place = placeNow();
    for (const [callId, name] of openCalls) {
      events.push(numberEvent(toolResultItem({ callId, name, output: why, isError: true, skipped }), seq++, place));
    }
    openCalls.clear();
    return events;
  };

  const refuse = (chunk: Chunk, why: string, place: Place): AgentEvent =>
    numberEvent(warningItem({ code: "event-refused", message: why, context: contextOf(chunk) }), seq++, place);

  /** The rules that need a look at the chunk. Deltas have none, so they never get here. */
  const passItem = (chunk: Chunk, place: Place, events: AgentEvent[]): void => {
    if (chunk.type === "tool-call") {
      if (knownCalls.has(chunk.callId)) {
        events.push(refuse(chunk, `A second tool call with the id ${chunk.callId} was not let through.`, place));
        return;
      }
      knownCalls.add(chunk.callId);
      openCalls.set(chunk.callId, chunk.name);
    } else if (chunk.type === "tool-result" && !openCalls.delete(chunk.callId)) {
      const why = knownCalls.has(chunk.callId) ? "was answered already" : "was never made";
      events.push(refuse(chunk, `A tool result for ${chunk.callId} was not let through: that call ${why}.`, place));
      return;
    } else if (chunk.type === "error" && chunk.terminal) {
      events.push(...answerOpenCalls("incomplete", "The run ended before this tool call was answered."));
      failed = true;
    }
    events.push(numberEvent(chunk, seq++, place));
  };

  return {
    get hasFailed() {
      return failed;
    },
    pass(chunks, agent) {
      const events: AgentEvent[] = [];
      if (failed) return events;
      const place = placeNow(agent);
      for (const chunk of chunks) {
        switch (chunk.type) {
          case "text-delta":
          case "thinking-delta":
          case "tool-input-delta":
            events.push(numberEvent(chunk, seq++, place));
            break;
          default:
            passItem(chunk, place, events);
            if (failed) return events;
        }
      }
      return events;
    },
    answerOpenCalls,
    fail(error) {
      const events: AgentEvent[] = [];
      if (!failed) passItem(errorItem({ ...error, terminal: true }), placeNow(), events);
      return events;
    },
    done(result) {
      return numberEvent(doneEvent(result), seq++, placeNow());
    },
  };
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
