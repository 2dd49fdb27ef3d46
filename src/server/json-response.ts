import { encodeInSlices, measureJson } from "#wire";
import type { ServerContext, ServerParts } from "./parts.ts";

/** A longer answer is written bit by bit, yielding to the event loop in between. In characters. */
const LARGE_ANSWER = 262_144;

/** How many characters are written in one turn. */
const TURN_CHARACTERS = 65_536;

/** Responds with a JSON value of any size: a model's output may have many megabytes. */
export function answerJson(context: ServerContext, { settings }: ServerParts, value: object): Response {
  if (measureJson(value, LARGE_ANSWER) < LARGE_ANSWER) return context.json(value);
  const body = ReadableStream.from(encodeInTurns(encodeInSlices(value), settings.world.nextTurn));
  return context.body(body, 200, { "content-type": "application/json" });
}

/** Text as bytes, a little in each turn of the event loop. An empty piece marks work after which to yield as well. */
export async function* encodeInTurns(
  pieces: Iterable<string>,
  nextTurn: (() => Promise<void>) | undefined,
): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  let waiting = "";
  for (const piece of pieces) {
    waiting += piece;
    if (waiting.length < TURN_CHARACTERS && piece !== "") continue;
    if (waiting !== "") yield encoder.encode(waiting);
    waiting = "";
    await nextTurn?.();
  }
  if (waiting !== "") yield encoder.encode(waiting);
  return undefined;
}
