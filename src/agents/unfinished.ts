import { type AgentEvent, type Block, type DeltaEvent, isDelta, type Message, type Retraction } from "#domain";

/** What deltas have shown of one block. */
interface OpenBlock {
  readonly type: DeltaEvent["type"];
  readonly parts: string[];
}

/**
 * The messages of the main conversation that deltas began and nothing finished, with what is worth keeping of them:
 * text and thinking as far as they came, and never half a tool call.
 */
export function findUnfinished(log: Iterable<AgentEvent>): Message[] {
  const open = new Map<string, Map<number, OpenBlock>>();
  for (const event of log) {
    if (isDelta(event)) addDelta(open, event);
    else if (event.type === "message") open.delete(event.id);
    else if (event.type === "notice" && event.kind === "retract") retract(open, event.data as Retraction);
  }
  return [...open].flatMap(([id, blocks]) => asMessage(id, blocks));
}

function addDelta(open: Map<string, Map<number, OpenBlock>>, delta: DeltaEvent): void {
  if (delta.parent !== undefined) return;
  const blocks = open.get(delta.messageId) ?? new Map<number, OpenBlock>();
  open.set(delta.messageId, blocks);
  const block = blocks.get(delta.index) ?? { type: delta.type, parts: [] };
  blocks.set(delta.index, block);
  block.parts.push(delta.type === "tool-input-delta" ? delta.json : delta.text);
}

function retract(open: Map<string, Map<number, OpenBlock>>, { messageId, fromIndex = 0 }: Retraction): void {
  const blocks = open.get(messageId);
  if (blocks === undefined) return;
  for (const index of [...blocks.keys()]) if (index >= fromIndex) blocks.delete(index);
}

function asMessage(id: string, blocks: ReadonlyMap<number, OpenBlock>): Message[] {
  const kept = [...blocks]
    .toSorted(([left], [right]) => left - right)
    .flatMap(([, { type, parts }]): Block[] => {
      if (type === "tool-input-delta") return [];
      return [{ type: type === "text-delta" ? "text" : "thinking", text: parts.join("") }];
    });
  return kept.length === 0 ? [] : [{ id, role: "assistant", blocks: kept }];
}
