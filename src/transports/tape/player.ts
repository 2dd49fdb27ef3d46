import { type Clock, type Fetch, type Random, type Spawn, StartError } from "#domain";
import { systemClock } from "../system-clock.ts";
import { playClock, playRandom } from "./play-clock.ts";
import { playFetch } from "./play-fetch.ts";
import { playSpawn } from "./play-spawn.ts";
import { rebuildFailure } from "./rebuild-failure.ts";
import { receive } from "./receive.ts";
import { Stage } from "./replay-order.ts";
import type { Tape, TapeAnswer, TapeEntry } from "./tape.ts";

export interface PlayerOptions {
  /** 1: as fast as it was. 2: twice as fast. Default `Infinity`: nothing is waited for. */
  readonly speed?: number;
  /** The clock says what it said then. `false`: the same lengths of time, beginning now. Default true. */
  readonly sameTimes?: boolean;
  /** What the program sends must be what it sent. `false`: it only has to come in the same order. Default true. */
  readonly check?: boolean;
  /** How long the program and the tape may wait for each other before the play ends. Default 10 000. */
  readonly patienceMs?: number;
  /** The real time. */
  readonly clock?: Clock;
}

/**
 * Plays a tape: gives the seams of a world in which everything happens as it did, in the same order, without a network,
 * a process or time.
 */
export interface Player {
  readonly fetch: Fetch;
  readonly spawn: Spawn;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * What the callback with this key answered: at once when it did so, or as a promise. Throws what it threw. One that
   * never answered never does.
   */
  callback(key: string, onProgress?: (state: unknown) => void): unknown;
  /** The program waits for a person's decision: `decide` is called when its turn has come. */
  awaitDecision(callId: string, decide: (decision: unknown) => void): void;
  /** `abort` is called when the run was aborted then. */
  onAbort(abort: (reason: string) => void): void;
  /** The program waits for its own readers. Returns what ends that. */
  hold(): () => void;
  /**
   * Fires when the play cannot go on: the program has left the tape, or the tape breaks off. The reason is an error
   * that names the entry and the difference.
   */
  readonly signal: AbortSignal;
  /** The program goes its own way from here on: whoever waits for the tape is told so, and the signal fires. */
  leave(why: string): void;
  /** Ends the play; what still waits is left alone. Idempotent. */
  close(): void;
}

const PATIENCE_MS = 10_000;

/**
 * Creates a player for one play of a tape.
 *
 * @throws StartError `invalid-option` for a speed that is none.
 * @example
 * const player = createPlayer(openTape(bytes), { speed: 1 })
 * const { status } = await player.fetch(request) // as it was recorded
 */
export function createPlayer(tape: Tape, options: PlayerOptions = {}): Player {
  const { speed = Number.POSITIVE_INFINITY, check = true, sameTimes = true, clock = systemClock } = options;
  if (!(speed > 0)) {
    throw new StartError("invalid-option", `speed is ${String(speed)}. Give a number above 0; 1 is as it was.`);
  }
  const stage = new Stage(tape, { speed, clock, patienceMs: options.patienceMs ?? PATIENCE_MS });
  const answers = new Map<string, TapeEntry>();
  for (const entry of tape.entries) {
    if (entry.type === "answer" && !answers.has(entry.key)) answers.set(entry.key, entry);
  }
  // Somebody takes every abort; whether it is passed on is the program's business.
  let abort: (reason: string) => void = () => undefined;
  const awaitAbort = (): void => {
    stage.await("abort", {
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
    fetch: playFetch(stage, check),
    spawn: playSpawn(stage, check),
    clock: playClock(stage, sameTimes ? 0 : clock.now() - tape.header.startedAt),
    random: playRandom(stage),
    callback(key, onProgress = () => undefined) {
      const entry = answers.get(key);
      answers.delete(key);
      if (entry?.type === "answer" && entry.sync === true) {
        for (const one of tape.entries) {
          if (one.type !== "progress" || one.key !== key) continue;
          onProgress(one.state);
          stage.perform(one);
        }
        stage.perform(entry);
        return answerOf(entry);
      }
      return awaitAnswer(stage, key, onProgress);
    },
    awaitDecision(callId, decide) {
      stage.await(`decision:${callId}`, {
        waitsFor: `the decision on ${callId}`,
        take: (entry) => (entry.type === "decision" ? decide(entry.decision) : undefined),
        fail: () => undefined,
      });
    },
    onAbort(listener) {
      abort = listener;
      stage.wake();
    },
    hold: () => stage.hold(),
    signal: stage.signal,
    leave: (why) => stage.fail(new Error(why)),
    close: () => stage.close(),
  };
}

async function awaitAnswer(stage: Stage, key: string, onProgress: (state: unknown) => void): Promise<unknown> {
  let leave = (): void => undefined;
  const listen = (): void => {
    leave = stage.await(`progress:${key}`, {
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
    const entry = await receive(stage, `answer:${key}`, { waitsFor: `the answer of ${key}` });
    return entry.type === "answer" ? answerOf(entry) : undefined;
  } finally {
    leave();
  }
}

/** A value that gives what the recorded one gave, down to why it cannot be printed. */
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
