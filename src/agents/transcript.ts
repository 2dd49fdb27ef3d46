import type { Message, ToolCallRecord, ToolResultBlock } from "#domain";

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
