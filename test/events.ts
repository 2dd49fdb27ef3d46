import { type AgentEvent, type Chunk, type DoneChunk, type EventOf, numberEvent } from "#domain";

/** Chunks as events of a run; what is an event already stays as it is. */
export function asEvents(given: readonly (AgentEvent | Chunk | DoneChunk)[]): AgentEvent[] {
  return given.map((one, seq) => ("seq" in one ? one : asEvent(one, seq)));
}

/** A chunk as an event of a run. */
export function asEvent<Given extends Chunk | DoneChunk>(chunk: Given, seq = 0): EventOf<Given["type"]> {
  return numberEvent(chunk, seq, { ts: 0, runId: "r" });
}
