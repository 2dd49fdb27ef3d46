import {
  type AgentEvent,
  type DeltaEvent,
  numberEvent,
  textDelta,
  thinkingDelta,
  toolInputDelta,
  unreachable,
} from "#domain";

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
  const { seq, ts } = events.at(-1) as DeltaEvent;
  const { runId, agent } = first;
  const merged = numberEvent(joinDeltas(first, joinPieces(events as readonly DeltaEvent[])), seq, { ts, runId, agent });
  // Added to what a constructor made, not spread: a copy has a hidden class of its own, and there are many of them.
  (merged as { firstSeq?: number }).firstSeq = first.firstSeq ?? first.seq;
  return merged;
}

function joinDeltas(first: DeltaEvent, text: string): DeltaEvent {
  const { messageId, index, parent } = first;
  switch (first.type) {
    case "text-delta":
      return textDelta(messageId, index, text, parent);
    case "thinking-delta":
      return thinkingDelta(messageId, index, text, parent);
    case "tool-input-delta": {
      const delta = toolInputDelta(messageId, index, first, text);
      return parent === undefined ? delta : { ...delta, parent };
    }
    default:
      return unreachable(first);
  }
}

/** A loop of its own: it alone runs once per event. Joined at once, since a sum of texts would keep every part of it. */
function joinPieces(events: readonly DeltaEvent[]): string {
  const pieces: string[] = [];
  for (const event of events) pieces.push(event.type === "tool-input-delta" ? event.json : event.text);
  return pieces.join("");
}

/** About how much memory an event takes beside its texts, in characters. */
export const EVENT_WEIGHT = 64;

/** How many characters the deltas from `from` to `end` have together. */
export function measureDeltas(events: readonly AgentEvent[], from: number, end: number): number {
  let characters = 0;
  for (let at = from; at < end; at += 1) {
    const event = events[at] as DeltaEvent;
    characters += event.type === "tool-input-delta" ? event.json.length : event.text.length;
  }
  return characters;
}

/** About how much memory an item holds, in characters. Cheap: it looks at the texts, not at every field. */
export function weighItem(event: Exclude<AgentEvent, DeltaEvent>): number {
  switch (event.type) {
    case "message": {
      let weight = 4 * EVENT_WEIGHT;
      for (const block of event.blocks) {
        weight += block.type === "text" || block.type === "thinking" ? block.text.length : 4 * EVENT_WEIGHT;
      }
      return weight;
    }
    case "tool-result":
      return 4 * EVENT_WEIGHT + (typeof event.output === "string" ? event.output.length : 1024);
    case "result":
      return 4 * EVENT_WEIGHT + (event.text?.length ?? 0);
    default:
      return 4 * EVENT_WEIGHT + (event.raw?.bytes.length ?? 0);
  }
}
