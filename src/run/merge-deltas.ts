import { type AgentEvent, type DeltaEvent, isDelta, type MessageItem } from "#domain";

/** Whether two neighbouring events are deltas of the same block and can be merged into one. */
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
        // A delta with a raw frame is not merged: the frame belongs to that delta alone.
        left.raw === undefined &&
        next.raw === undefined
      );
    }
    default:
      return false;
  }
}

/** Merges neighbouring deltas into one: `firstSeq` … `seq`, the joined text, and the time of the last one. */
export function mergeDeltas(events: readonly AgentEvent[]): AgentEvent {
  const first = events[0] as DeltaEvent;
  const { seq, ts } = events.at(-1) as DeltaEvent;
  const text = joinPieces(events as readonly DeltaEvent[]);
  const firstSeq = first.firstSeq ?? first.seq;
  return first.type === "tool-input-delta"
    ? { ...first, seq, ts, json: text, firstSeq }
    : { ...first, seq, ts, text, firstSeq };
}

/** Uses `join` because a string built with `+` would keep every part in memory. */
function joinPieces(events: readonly DeltaEvent[]): string {
  const pieces: string[] = [];
  for (const event of events) pieces.push(event.type === "tool-input-delta" ? event.json : event.text);
  return pieces.join("");
}

/** The approximate memory of an event without its texts, in characters. */
export const EVENT_WEIGHT = 64;

/** Returns the number of characters in the deltas from `from` up to, but not including, `end`. */
export function measureDeltas(events: readonly AgentEvent[], from: number, end: number): number {
  let characters = 0;
  for (let at = from; at < end; at += 1) {
    const event = events[at] as DeltaEvent;
    characters += event.type === "tool-input-delta" ? event.json.length : event.text.length;
  }
  return characters;
}

/**
 * Returns the approximate memory of an item, in characters. To stay cheap, it looks only at the texts, not at every
 * field.
 */
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

/** For shorter texts, searching the log does not pay off. */
const LONG_TEXT = 65_536;

/**
 * Makes the deltas of a finished message share its text, so that a long text is in memory only once and late readers
 * still receive the deltas. Returns the change to apply to the events of the log in their order, `undefined` if no text
 * is long. A delta whose text differs, because its block was started again, keeps its own text.
 */
export function sharedText(message: MessageItem): ((event: AgentEvent) => AgentEvent) | undefined {
  if (!message.blocks.some((block) => longTextOf(block) !== undefined)) return undefined;
  const ends = new Map<number, number>();
  return (event) => {
    if (!isDelta(event) || event.messageId !== message.id || event.type === "tool-input-delta") return event;
    const text = longTextOf(message.blocks[event.index]);
    const from = ends.get(event.index) ?? 0;
    ends.set(event.index, from + event.text.length);
    // A slice of a string refers to the whole one instead of copying it.
    return text?.startsWith(event.text, from) ? { ...event, text: text.slice(from, from + event.text.length) } : event;
  };
}

function longTextOf(block: MessageItem["blocks"][number] | undefined): string | undefined {
  const isText = block?.type === "text" || block?.type === "thinking";
  return isText && block.text.length >= LONG_TEXT ? block.text : undefined;
}
