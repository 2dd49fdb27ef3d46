import type { Chunk } from "#domain";
import { textDelta } from "#domain";
import type { Frame } from "#wire";
import { openText, type Reply, type WrittenSlot, writeFragment, writeThinking } from "./reply.ts";
import type { ChatSaying } from "./saying.ts";

/** Writes the repeats of one frame that stand in a row at `from`; returns where they end. */
export function writeRow(
  reply: Reply,
  like: ChatSaying,
  frames: readonly Frame[],
  from: number,
  chunks: Chunk[],
): number {
  if (like.to === "text") return writeTexts(reply.messageId, openText(reply), frames, from, chunks);
  let at = from;
  for (; at < frames.length; at += 1) {
    const frame = frames[at] as Frame;
    if (frame.kind !== "repeat" || frame.like !== like) break;
    if (like.to === "thinking") writeThinking(reply, frame.value, chunks);
    else writeFragment(reply, { ...like.fragment, argumentsDelta: frame.value }, chunks);
  }
  return at;
}

/** A loop of its own: most of all streams is text, and what runs once per token is kept small. */
function writeTexts(
  messageId: string,
  slot: WrittenSlot,
  frames: readonly Frame[],
  from: number,
  chunks: Chunk[],
): number {
  const { like } = frames[from] as Frame & { readonly kind: "repeat" };
  let at = from;
  for (; at < frames.length; at += 1) {
    const frame = frames[at] as Frame;
    if (frame.kind !== "repeat" || frame.like !== like) break;
    slot.written.add(frame.value);
    chunks.push(textDelta(messageId, slot.index, frame.value));
  }
  return at;
}
