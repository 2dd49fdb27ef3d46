import { type AgentEvent, isDelta, type MessageItem } from "#domain";

/** Shorter texts are not worth the look at the log. */
const LONG_TEXT = 65_536;

/**
 * Has the deltas of a finished message refer to its text: who comes late still gets them, and a long text is in memory
 * once. What the deltas say does not change. A delta that says something else, of a block that was begun again, keeps
 * its own text.
 */
export function shareText(message: MessageItem, ...logs: readonly Iterable<AgentEvent>[]): void {
  if (!message.blocks.some((block) => longTextOf(block) !== undefined)) return;
  const ends = new Map<number, number>();
  for (const log of logs) {
    for (const event of log) {
      if (!isDelta(event) || event.messageId !== message.id || event.type === "tool-input-delta") continue;
      const text = longTextOf(message.blocks[event.index]);
      const from = ends.get(event.index) ?? 0;
      ends.set(event.index, from + event.text.length);
      if (text === undefined || !text.startsWith(event.text, from)) continue;
      // The engine keeps a part of a text as a reference to it.
      (event as { text: string }).text = text.slice(from, from + event.text.length);
    }
  }
}

function longTextOf(block: MessageItem["blocks"][number] | undefined): string | undefined {
  const isText = block?.type === "text" || block?.type === "thinking";
  return isText && block.text.length >= LONG_TEXT ? block.text : undefined;
}
