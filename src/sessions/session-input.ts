import { type InputMessage, readInput, type RunInput } from "#agents";
import type { Message } from "#domain";

/**
 * Reads what a caller sends into a session. Messages without an id get one that no other message of the conversation
 * has, also not one of an earlier session it was resumed from.
 *
 * @throws StartError `invalid-input` naming what is wrong with it.
 */
export function readTurnInput(input: RunInput, runId: string): readonly Message[] {
  if (!Array.isArray(input)) return readInput(input).map((message) => ({ ...message, id: `${runId}-input` }));
  return readInput(input.map((message: InputMessage, index) => nameMessage(message, `${runId}-input-${index + 1}`)));
}

function nameMessage(message: InputMessage, id: string): InputMessage {
  if (typeof message !== "object" || message === null || message.id !== undefined) return message;
  return { ...message, id };
}
