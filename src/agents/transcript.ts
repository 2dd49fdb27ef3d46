import type { Block, ChunkOf, Message, MessageItem, ToolResultBlock } from "#domain";
import type { PastLeg } from "./past-run.ts";

/**
 * Returns one turn as messages for the model: one message with the reply and one with all results, or pairs of one call
 * and its result, for hosts that support only one call at a time.
 */
export function writeTurn(reply: Message, results: readonly ToolResultBlock[], together: boolean): readonly Message[] {
  if (results.length === 0) return [reply];
  if (together || results.length === 1) {
    return [reply, { id: `${reply.id}-results`, role: "user", blocks: results }];
  }
  const byCall = new Map(results.map((result) => [result.callId, result]));
  const turn: Message[] = [];
  let before: Block[] = [];
  for (const block of reply.blocks) {
    before.push(block);
    const result = block.type === "tool-call" ? byCall.get(block.callId) : undefined;
    if (result === undefined) continue;
    turn.push({ ...reply, id: `${reply.id}-${turn.length}`, blocks: before });
    turn.push({ id: `${reply.id}-${turn.length}`, role: "user", blocks: [result] });
    before = [];
  }
  return turn;
}

/** Returns an assistant message as it is sent to the model again. */
export function asMessage(message: ChunkOf<MessageItem>): Message {
  const { id, role, blocks, model } = message;
  return { id, role, blocks, ...(model !== undefined && { model }) };
}

/** Adds notes for the model to the end of a turn whose last message has the results. */
export function addNotes(turn: readonly Message[], notes: readonly Block[]): readonly Message[] {
  const last = turn.at(-1);
  if (notes.length === 0 || last?.role !== "user") return turn;
  return [...turn.slice(0, -1), { ...last, blocks: [...last.blocks, ...notes] }];
}

/** Returns what was said in a leg of an earlier process, with its input. Calls without a result are left out. */
export function pastTranscript({ input, replies }: PastLeg, together = true): readonly Message[] {
  const transcript: Message[] = input === undefined ? [] : [input];
  for (const { message, calls, told } of replies) {
    const turn = writeTurn(
      asMessage(message),
      calls.flatMap(({ result }) => result ?? []),
      together,
    );
    const notes = told.filter((one) => one.id === notesId(message)).flatMap(({ blocks }) => blocks);
    transcript.push(...addNotes(turn, notes), ...told.filter((one) => one.id !== notesId(message)));
  }
  return transcript;
}

/** The id of the message with the notes of hooks after a reply. */
export function notesId({ id }: { readonly id: string }): string {
  return `${id}-notes`;
}
