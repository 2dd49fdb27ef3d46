import type { Clock, Fetch, Random, Spawn } from "#domain";
import type { Redactor } from "#secrets";
import type { Tape } from "../tape.ts";
import type { WireDifference } from "./tape-difference.ts";
import { WireContext } from "./wire-context.ts";
import type { LineProtocol } from "./wire-input.ts";

export interface WirePlayerOptions {
  /** The real time and the real chance. */
  readonly clock: Clock;
  readonly random: Random;
  /** Knows the secrets of this run: what is sent is compared as it would be recorded. */
  readonly redactor: Redactor;
  /** Called with each difference. `true`: the run goes on with what was recorded. `false`: the play ends. */
  readonly goesOn: (difference: WireDifference) => boolean;
  /** The protocol in which processes are spoken to. */
  readonly protocol?: LineProtocol;
}

/**
 * Plays the wire of a tape to a program that runs anew: its exchanges are answered and its processes speak as they were
 * recorded, whatever the program does in between. What it sends is compared with what was sent.
 */
export interface WirePlayer {
  readonly fetch: Fetch;
  readonly spawn: Spawn;
  /** Real time, without the waits that the recorded run had at the same places. */
  readonly clock: Clock;
  /** Ids are new ones; numbers are the recorded ones, so that waits with jitter are as long as they were. */
  readonly random: Random;
  /** A file that is written for a process: compared with the one that was written with this number, from 1. */
  compareFile(number: number, text: string): Promise<void>;
  /** The program's own code, or a person, is at work: time passes as it does. Returns what ends that. */
  occupy(): () => void;
  /** Fires when the play cannot go on, with a `TapeDifference` as its reason. */
  readonly signal: AbortSignal;
  /** What is on the tape and was not asked for. */
  leftOver(): Promise<readonly WireDifference[]>;
  /** Ends the play. Idempotent. */
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
  const desk = new WireContext({ tape, clock, redactor, goesOn });
  let loading: ReturnType<typeof load> | undefined;
  // Loaded when it is needed: hardly any run is answered from a tape.
  const load = async () => {
    const { compareFile, createWireFetch, createWireSpawn } = await import("./wire-parts.ts");
    const processes = createWireSpawn(desk, options.protocol ?? {});
    return { compareFile, exchanges: createWireFetch(desk), processes };
  };
  const parts = (): ReturnType<typeof load> => (loading ??= load());
  const all = tape.last === undefined ? tape.entries : [...tape.entries, tape.last];
  const draws = all.flatMap((entry) => entry.draws ?? []);
  let drawn = 0;
  return {
    fetch: async (request) => (await parts()).exchanges.fetch(request),
    spawn: async (request) => (await parts()).processes.spawn(request),
    clock: desk.clock,
    random: {
      next: () => draws[drawn++] ?? random.next(),
      id() {
        const id = random.id();
        desk.drawnIds.add(id);
        return id;
      },
    },
    compareFile: async (number, text) => (await parts()).compareFile(desk, number, text),
    occupy: () => desk.occupy(),
    signal: desk.signal,
    async leftOver() {
      const { exchanges, processes } = await parts();
      return [...exchanges.leftOver(), ...processes.leftOver()];
    },
    close: () => desk.close(),
  };
}
