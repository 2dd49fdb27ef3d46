import { describeValue, StartError } from "#domain";
import { toJsonValue } from "./json-value.ts";

/** What a tool returns whose result comes later, from elsewhere. Made by `park` and `sleepUntil`. */
export class ParkedCall {
  /** When the call goes on by itself, in milliseconds since 1970. */
  readonly until: number | undefined;
  /** The result at that time. */
  readonly output: unknown;

  constructor(until: number | undefined, output: unknown) {
    this.until = until;
    this.output = output;
  }
}

/**
 * Returned by a tool whose work is finished elsewhere: the call stays open until its result is given, with
 * `run.giveResult(callId, …)`, with `POST /api/runs/:id/results/:callId` on a server, or with `store.addAnswer` for a
 * parked run. A run with a `store` holds no process meanwhile.
 *
 * @example
 * const review = tool("review", "Have a person review a change", { change: "string" }, async ({ change }, { callId, runId }) => {
 *   await fetch("https://reviews.example.org", { method: "POST", body: JSON.stringify({ change, runId, callId }) })
 *   return park()
 * })
 */
export function park(): ParkedCall {
  return new ParkedCall(undefined, undefined);
}

/**
 * Returned by a tool whose call goes on at a time: a run with a `store` holds no process meanwhile. `output` is the
 * result of the call; by default it says that the time was reached.
 *
 * @example
 * const wait = tool("wait", "Wait for some hours", { hours: "number" }, ({ hours }) => sleepUntil(Date.now() + hours * 3_600_000))
 */
export function sleepUntil(time: Date | number, output?: unknown): ParkedCall {
  const until = typeof time === "number" ? time : time instanceof Date ? time.getTime() : Number.NaN;
  if (!Number.isFinite(until)) {
    const remedy = "Give a Date, or milliseconds since 1970.";
    throw new StartError("invalid-option", `sleepUntil: time is ${describeValue(time)}. ${remedy}`);
  }
  return new ParkedCall(until, output === undefined ? undefined : toJsonValue(output));
}
