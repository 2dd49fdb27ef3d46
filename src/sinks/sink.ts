import type { AgentEvent } from "#domain";

/** Consumes events for an effect; never changes them, and never holds the run up. */
export interface Sink {
  accept(event: AgentEvent): void;
}
