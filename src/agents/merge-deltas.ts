import type { AgentEvent, DeltaEvent } from "#domain";

/** Whether two neighbouring events are deltas of the same block, so that one may stand for both. */
export function canMergeDeltas(left: AgentEvent, right: AgentEvent): boolean {
  if (left.type !== right.type) return false;
  switch (left.type) {
    case "text-delta":
    case "thinking-delta":
    case "tool-input-delta": {
      const next = right as DeltaEvent;
      return (
        left.index === next.index &&
        left.messageId === next.messageId &&
        left.parent === next.parent &&
        left.agent === next.agent &&
        // A kept frame belongs to its own delta.
        left.raw === undefined &&
        next.raw === undefined
      );
    }
    default:
      return false;
  }
}

/** One delta that stands for neighbouring ones: `firstSeq` … `seq`, their text joined, the last one's time. */
export function mergeDeltas(events: readonly AgentEvent[]): AgentEvent {
  const first = events[0] as DeltaEvent;
  const last = events.at(-1) as DeltaEvent;
  const firstSeq = first.firstSeq ?? first.seq;
  const { seq, ts } = last;
  if (first.type === "tool-input-delta") {
    return { ...first, seq, ts, firstSeq, json: events.map((event) => (event as typeof first).json).join("") };
  }
  return { ...first, seq, ts, firstSeq, text: events.map((event) => (event as typeof first).text).join("") };
}

/** About how much memory an event holds, in characters. Cheap: it looks at the texts, not at every field. */
export function weighEvent(event: AgentEvent): number {
  switch (event.type) {
    case "text-delta":
    case "thinking-delta":
      return 64 + event.text.length;
    case "tool-input-delta":
      return 64 + event.json.length;
    case "message": {
      let weight = 256;
      for (const block of event.blocks) {
        weight += block.type === "text" || block.type === "thinking" ? block.text.length : 256;
      }
      return weight;
    }
    case "tool-result":
      return 256 + (typeof event.output === "string" ? event.output.length : 1024);
    case "result":
      return 256 + (event.text?.length ?? 0);
    default:
      return 256 + (event.raw?.bytes.length ?? 0);
  }
}
