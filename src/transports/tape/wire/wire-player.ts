import type { Clock, Fetch, Random, Spawn } from "#domain";
import type { Redactor } from "#secrets";
import type { Tape } from "../tape.ts";
import type { WireDifference } from "./difference.ts";
import { WireContext } from "./wire-context.ts";
import type { LineProtocol } from "./wire-input.ts";

export interface WirePlayerOptions {
  /** The real clock and the real random source. */
  readonly clock: Clock;
  readonly random: Random;
  /** Masks the secrets of this run: what is sent is compared in the form in which it would be recorded. */
  readonly redactor: Redactor;
  /** Called with each difference. `true`: the run goes on with what was recorded. `false`: the replay ends. */
  readonly goesOn: (difference: WireDifference) => boolean;
  /** The protocol of the processes' input. */
  readonly protocol?: LineProtocol;
}

/**
 * Replays the wire of a tape to a program that runs anew: its exchanges and processes answer as they were recorded,
 * whatever the program does in between. What it sends is compared with what was recorded.
 */
export interface WirePlayer {
  readonly fetch: Fetch;
  readonly spawn: Spawn;
  /** Real time, minus the waits that the recorded run had at the same places. */
  readonly clock: Clock;
  /** Ids are new; random numbers are the recorded ones, so that waits with jitter have the recorded length. */
  readonly random: Random;
  /** Compares a file that is written for a process with the recorded one of the same number, from 1. */
  compareFile(number: number, text: string): Promise<void>;
  /** The program's own code, or a person, is at work: time passes normally. Returns a function that ends this. */
  occupy(): () => void;
  /** Fires when the replay cannot continue, with a `TapeDifference` as its reason. */
  readonly signal: AbortSignal;
  /** What is on the tape and was not requested. */
  leftOver(): Promise<readonly WireDifference[]>;
  /** Ends the replay. Idempotent. */
  close(): void;
}

/**
 * Creates a player of the wire for one run.
 *
 * @example
 * const player = createWirePlayer(tape, { clock: systemClock, random: systemRandom, redactor, goesOn: () => false })
 * const { status } = await player.fetch(request) // as it was recorded, if the request is the recorded one
 */
export function createWirePlayer(tape: Tape, options: WirePlayerOptions): WirePlayer {
  const { clock, random, redactor, goesOn } = options;
  const context = new WireContext({ tape, clock, redactor, goesOn });
  let loading: ReturnType<typeof load> | undefined;
  // Loaded on demand: very few runs are answered from a tape.
  const load = async () => {
    const { compareFile, createWireFetch, createWireSpawn } = await import("./wire-parts.ts");
    const processes = createWireSpawn(context, options.protocol ?? {});
    return { compareFile, exchanges: createWireFetch(context), processes };
  };
  const parts = (): ReturnType<typeof load> => (loading ??= load());
  const all = tape.last === undefined ? tape.entries : [...tape.entries, tape.last];
  const draws = all.flatMap((entry) => entry.draws ?? []);
  let drawn = 0;
  return {
    fetch: async (request) => (await parts()).exchanges.fetch(request),
    spawn: async (request) => (await parts()).processes.spawn(request),
    clock: context.clock,
    random: {
      next: () => draws[drawn++] ?? random.next(),
      id() {
        const id = random.id();
        context.drawnIds.add(id);
        return id;
      },
    },
    compareFile: async (number, text) => (await parts()).compareFile(context, number, text),
    occupy: () => context.occupy(),
    signal: context.signal,
    async leftOver() {
      const { exchanges, processes } = await parts();
      return [...exchanges.leftOver(), ...processes.leftOver()];
    },
    close: () => context.close(),
  };
}
