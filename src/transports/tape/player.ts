import { type Clock, type Fetch, type Random, type Spawn, StartError } from "#domain";
import { systemClock } from "../system-clock.ts";
import { playClock, playRandom } from "./play-clock.ts";
import { playFetch } from "./play-fetch.ts";
import { playSpawn } from "./play-spawn.ts";
import { rebuildFailure } from "./tape-line.ts";
import { receive } from "./receive.ts";
import { ReplayOrder } from "./replay-order.ts";
import type { Tape, TapeAnswer, TapeEntry } from "./tape.ts";

export interface PlayerOptions {
  /** 1: the recorded speed. 2: twice as fast. Default `Infinity`: without waiting. */
  readonly speed?: number;
  /** The clock returns the recorded times. `false`: the same durations, starting now. Default true. */
  readonly sameTimes?: boolean;
  /** What the program sends must equal what was recorded. `false`: only the order must match. Default true. */
  readonly check?: boolean;
  /** How long the program and the tape may wait for each other before the replay ends. Default 10 000. */
  readonly patienceMs?: number;
  /** The real clock. */
  readonly clock?: Clock;
}

/**
 * Replays a tape: provides seams through which everything happens as recorded, in the same order, without a network,
 * processes or the passing of time.
 */
export interface Player {
  readonly fetch: Fetch;
  readonly spawn: Spawn;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * The recorded answer of the callback with this key: returned at once if it was synchronous, otherwise as a promise.
   * Throws what the callback threw. If the callback never answered, the promise never settles.
   */
  callback(key: string, onProgress?: (state: unknown) => void): unknown;
  /** The program waits for a person's decision: `decide` is called when that point of the tape is reached. */
  awaitDecision(callId: string, decide: (decision: unknown) => void): void;
  /** `abort` is called at the point where the recorded run was aborted. */
  onAbort(abort: (reason: string) => void): void;
  /** The program waits for its own readers. Returns a function that ends the wait. */
  hold(): () => void;
  /**
   * Fires when the replay cannot continue: the program deviates from the tape, or the tape breaks off. The reason is an
   * error that names the entry and the difference.
   */
  readonly signal: AbortSignal;
  /** The program deviates from here on: everything that waits for the tape fails, and the signal fires. */
  leave(why: string): void;
  /** Ends the replay; pending waits never settle. Idempotent. */
  close(): void;
}

const WAIT_MS = 10_000;

/**
 * Creates a player for one replay of a tape.
 *
 * @throws StartError `invalid-option` for an invalid speed.
 * @example
 * const player = createPlayer(openTape(bytes), { speed: 1 })
 * const { status } = await player.fetch(request) // as it was recorded
 */
export function createPlayer(tape: Tape, options: PlayerOptions = {}): Player {
  const { speed = Number.POSITIVE_INFINITY, check = true, sameTimes = true, clock = systemClock } = options;
  if (!(speed > 0)) {
    throw new StartError("invalid-option", `speed is ${String(speed)}. Give a number above 0; 1 is as it was.`);
  }
  const order = new ReplayOrder(tape, { speed, clock, patienceMs: options.patienceMs ?? WAIT_MS });
  const answers = new Map<string, TapeEntry>();
  for (const entry of tape.entries) {
    if (entry.type === "answer" && !answers.has(entry.key)) answers.set(entry.key, entry);
  }
  // Every recorded abort has a receiver; the program decides whether to pass it on.
  let abort: (reason: string) => void = () => undefined;
  const awaitAbort = (): void => {
    order.await("abort", {
      waitsFor: "an abort",
      optional: true,
      take(entry) {
        awaitAbort();
        if (entry.type === "abort") abort(entry.reason);
      },
      fail: () => undefined,
    });
  };
  awaitAbort();

  return {
    fetch: playFetch(order, check),
    spawn: playSpawn(order, check),
    clock: playClock(order, sameTimes ? 0 : clock.now() - tape.header.startedAt),
    random: playRandom(order),
    callback(key, onProgress = () => undefined) {
      const entry = answers.get(key);
      answers.delete(key);
      if (entry?.type === "answer" && entry.sync === true) {
        for (const one of tape.entries) {
          if (one.type !== "progress" || one.key !== key) continue;
          onProgress(one.state);
          order.perform(one);
        }
        order.perform(entry);
        return answerOf(entry);
      }
      return awaitAnswer(order, key, onProgress);
    },
    awaitDecision(callId, decide) {
      order.await(`decision:${callId}`, {
        waitsFor: `the decision on ${callId}`,
        take: (entry) => (entry.type === "decision" ? decide(entry.decision) : undefined),
        fail: () => undefined,
      });
    },
    onAbort(listener) {
      abort = listener;
      order.wake();
    },
    hold: () => order.hold(),
    signal: order.signal,
    leave: (why) => order.fail(new Error(why)),
    close: () => order.close(),
  };
}

async function awaitAnswer(order: ReplayOrder, key: string, onProgress: (state: unknown) => void): Promise<unknown> {
  let leave = (): void => undefined;
  const listen = (): void => {
    leave = order.await(`progress:${key}`, {
      waitsFor: `progress of ${key}`,
      optional: true,
      take(entry) {
        listen();
        if (entry.type === "progress") onProgress(entry.state);
      },
      fail: () => undefined,
    });
  };
  listen();
  try {
    const entry = await receive(order, `answer:${key}`, { waitsFor: `the answer of ${key}` });
    return entry.type === "answer" ? answerOf(entry) : undefined;
  } finally {
    leave();
  }
}

/** A value equivalent to the recorded one, including the reason why it cannot be printed. */
function answerOf(answer: TapeAnswer): unknown {
  if ("failure" in answer) throw rebuildFailure(answer.failure);
  if (!("odd" in answer)) return "value" in answer ? answer.value : undefined;
  switch (answer.odd) {
    case "function":
      return () => undefined;
    case "symbol":
      return Symbol("recorded");
    default:
      return {
        toJSON() {
          throw new TypeError(answer.why);
        },
      };
  }
}
