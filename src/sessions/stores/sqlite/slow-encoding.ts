import { type AgentEvent, type Clock, describeThrown } from "#domain";
import { encodeEventInSlices, encodeInSlices, measureJson } from "#wire";
import type { Settlement } from "../store.ts";
import { StoreError } from "../store-error.ts";
import type { Appending } from "./writes.ts";

/** More characters than these are encoded bit by bit. */
const LARGE_CHARACTERS = 524_288;

/** So many characters are encoded before others have their turn. */
const TURN_CHARACTERS = 524_288;

/** Whether encoding these would keep others waiting. */
export function isLarge(events: readonly AgentEvent[], settlement: Settlement | undefined): boolean {
  let characters = settlement === undefined ? 0 : measureJson(settlement.messages);
  for (const event of events) {
    if (event.type === "text-delta" || event.type === "thinking-delta") characters += event.text.length;
    else if (event.type === "tool-input-delta") characters += event.json.length;
    else characters += measureJson(event);
  }
  return characters > LARGE_CHARACTERS;
}

/** Encodes what is to be appended, with pauses in which others are served. */
export async function encodeSlowly(
  given: Omit<Appending, "bodies" | "messages">,
  clock: Pick<Clock, "after">,
): Promise<Appending> {
  let characters = 0;
  const encode = async (pieces: Iterable<string>): Promise<string> => {
    const parts: string[] = [];
    for (const piece of pieces) {
      parts.push(piece);
      characters += piece.length;
      if (characters < TURN_CHARACTERS) continue;
      characters = 0;
      await new Promise<void>((resolve) => {
        clock.after(0, resolve);
      });
    }
    return parts.join("");
  };
  try {
    const bodies: string[] = [];
    for (const event of given.events) bodies.push(await encode(encodeEventInSlices(event)));
    const messages: string[] = [];
    for (const message of given.settlement?.messages ?? []) messages.push(await encode(encodeInSlices(message)));
    return { ...given, bodies, messages };
  } catch (error) {
    throw new StoreError(
      "invalid-event",
      `An event of run ${given.runId} cannot be written: ${describeThrown(error)}`,
      {
        cause: error,
      },
    );
  }
}
