import type { Block, Message, ToolCallRecord, ToolResultBlock } from "#domain";

/**
 * The messages of a run as a model may be shown them: each assistant message with tool calls is followed by one user
 * message with the results of exactly those calls, in the order of the calls.
 */
export function buildTranscript(
  messages: readonly Message[],
  calls: ReadonlyMap<string, ToolCallRecord>,
): readonly Message[] {
  const transcript: Message[] = [];
  for (const message of messages) {
    transcript.push(message);
    const results: ToolResultBlock[] = [];
    for (const block of message.blocks) {
      if (block.type !== "tool-call") continue;
      const call = calls.get(block.callId);
      if (call?.isError === undefined) continue;
      results.push({ type: "tool-result", callId: block.callId, output: call.output, isError: call.isError });
    }
    if (results.length > 0) transcript.push({ id: `${message.id}-results`, role: "user", blocks: results });
  }
  return transcript;
}

/**
 * One turn as the messages a model is shown next: the reply and its results in one piece each, or as pairs of one
 * call and its result, for hosts that know only one call at a time.
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
