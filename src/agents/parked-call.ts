import { type ChunkOf, type Clock, type NoticeItem, noticeItem, present } from "#domain";
import type { RunWriter } from "#run";
import type { Outcome, SettledOutcome } from "#tools";

/** The data of the notice that a call waits for its result. A process that continues the run reads it. */
export interface ParkedCallNotice {
  readonly callId: string;
  readonly name: string;
  readonly until?: number;
  readonly output?: unknown;
}

interface NamedCall {
  readonly callId: string;
  readonly name: string;
}

/** Returns the notice that a call waits for its result. */
export function parkedNotice(
  { callId, name }: NamedCall,
  { until, output }: Extract<Outcome, { readonly kind: "parked" }>,
): ChunkOf<NoticeItem> {
  return noticeItem("call-parked", { callId, name, ...present({ until, output }) } satisfies ParkedCallNotice);
}

/** Waits for the result of a parked call, or for its time. `undefined`: the run has to end. */
export async function awaitParked(
  { callId }: NamedCall,
  parked: Extract<Outcome, { readonly kind: "parked" }>,
  { writer, clock }: { readonly writer: RunWriter; readonly clock: Clock },
): Promise<SettledOutcome | undefined> {
  const { until, output } = parked;
  if (writer.waitForResult === undefined) return undefined;
  const given = writer.waitForResult(callId, until);
  const result = await (until === undefined ? given : beforeTime(given, clock, until));
  if (result === undefined || writer.signal.aborted) return undefined;
  if (result === "time") {
    return { kind: "returned", output: output ?? `The time ${new Date(until as number).toISOString()} was reached.` };
  }
  if (!result.isError) return { kind: "returned", output: result.output };
  const text = typeof result.output === "string" ? result.output : JSON.stringify(result.output);
  return { kind: "failed", why: "thrown", output: text };
}

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** Resolves to what is given before the time, and takes the timer back then: an abort gives `undefined`. */
async function beforeTime<Given>(given: Promise<Given>, clock: Clock, until: number): Promise<Given | "time"> {
  let stop: (() => void) | undefined;
  const time = new Promise<"time">((resolve) => {
    const wait = (): void => {
      const leftMs = until - clock.now();
      if (leftMs <= 0) resolve("time");
      else stop = clock.after(Math.min(leftMs, LONGEST_MS), wait);
    };
    wait();
  });
  try {
    return await Promise.race([given, time]);
  } finally {
    stop?.();
  }
}
