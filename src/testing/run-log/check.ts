import type { AgentEvent } from "#domain";
import type { Invariant } from "./invariants.ts";

/** Reports that the event at position `at` breaks an invariant. */
export type Report = (invariant: Invariant, at: number, message: string) => void;

/** Reads a log once, event by event, and reports violations. Receives only well-formed events. */
export interface Check {
  next(event: AgentEvent, at: number): void;
  /** The log is over, after `length` events. */
  end?(length: number): void;
}
