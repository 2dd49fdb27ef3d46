import type { AgentEvent } from "#domain";
import { checkCallOrder } from "./run-log/call-order.ts";
import type { Check, Report } from "./run-log/check.ts";
import { type Invariant, RUN_LOG_INVARIANTS } from "./run-log/invariants.ts";
import { findUnsafe } from "./run-log/json-safe.ts";
import { checkOrder } from "./run-log/order.ts";
import { checkPreviews } from "./run-log/previews.ts";
import { findMisshapen, hasKnownType } from "./run-log/shape.ts";
import { checkToolPairing } from "./run-log/tool-pairing.ts";
import { checkVerdict } from "./run-log/verdict.ts";

/** One broken invariant of a run log. */
export interface Violation {
  readonly invariant: Invariant;
  /** The `seq` of the event that breaks it; of the last event if one is missing; -1 if there is none. */
  readonly seq: number;
  readonly message: string;
}

/**
 * Thrown for a run log that breaks an invariant.
 *
 * @example
 * try {
 *   assertRunLog(events)
 * } catch (error) {
 *   if (error instanceof RunLogViolation) console.error(error.invariant, error.seq)
 * }
 */
export class RunLogViolation extends Error {
  override readonly name = "RunLogViolation";
  readonly invariant: Invariant;
  readonly seq: number;

  constructor(violation: Violation) {
    super(
      `${violation.invariant} at seq ${violation.seq}: ${violation.message}. ${RUN_LOG_INVARIANTS[violation.invariant]}`,
    );
    this.invariant = violation.invariant;
    this.seq = violation.seq;
  }
}

/**
 * Throws a `RunLogViolation` for the first event that breaks an invariant of the event model.
 *
 * Expects the log of one complete run, including `done`. Linear in its size.
 *
 * @example
 * const events: AgentEvent[] = []
 * for await (const event of run("offline", "Hello")) events.push(event)
 * assertRunLog(events)
 */
export function assertRunLog(events: readonly AgentEvent[]): void {
  const violation = findViolation(events);
  if (violation !== undefined) throw new RunLogViolation(violation);
}

/**
 * The first violation in the order of events, or `undefined` if there is none.
 *
 * @example
 * const violation = findViolation(events)
 * if (violation) console.error(violation.message)
 */
export function findViolation(events: readonly AgentEvent[]): Violation | undefined {
  if (events.length === 0) return { invariant: "non-empty", seq: -1, message: "there is no event" };
  // Some violations appear only later (a delta without a message), so all are found and the earliest is reported.
  let first: { readonly invariant: Invariant; readonly at: number; readonly message: string } | undefined;
  const report: Report = (invariant, at, message) => {
    if (first === undefined || at < first.at) first = { invariant, at, message };
  };
  const checks: readonly Check[] = [
    checkOrder(report),
    checkToolPairing(report),
    checkCallOrder(report),
    checkPreviews(report),
    checkVerdict(report),
  ];
  for (const [at, event] of events.entries()) {
    if (isSound(event, at, report)) for (const check of checks) check.next(event, at);
  }
  for (const check of checks) check.end?.(events.length);
  if (first === undefined) return undefined;
  return { invariant: first.invariant, seq: seqAt(events, first.at), message: first.message };
}

/** Whether the other checks may read an event: a malformed event is reported here, and only here. */
function isSound(event: unknown, at: number, report: Report): event is AgentEvent {
  if (!hasKnownType(event)) {
    report("known-type", at, "this is not an event of one of the fourteen types");
    return false;
  }
  const unsafe = findUnsafe(withoutBytes(event));
  if (unsafe !== undefined) report("json-safe", at, `${event.type}${unsafe}`);
  const misshapen = findMisshapen(event);
  if (misshapen !== undefined) report("event-shape", at, `${event.type}: ${misshapen}`);
  return unsafe === undefined && misshapen === undefined;
}

/** The event without `raw.bytes`, the only place where bytes are allowed. */
function withoutBytes(event: Readonly<Record<string, unknown>>): unknown {
  const raw = event["raw"];
  if (typeof raw !== "object" || raw === null || !("bytes" in raw) || !(raw.bytes instanceof Uint8Array)) return event;
  const { bytes: _, ...rest } = raw;
  return { ...event, raw: rest };
}

function seqAt(events: readonly AgentEvent[], at: number): number {
  const seq: unknown = (events[Math.min(at, events.length - 1)] as Partial<AgentEvent> | null | undefined)?.seq;
  return typeof seq === "number" ? seq : -1;
}
