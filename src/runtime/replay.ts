import type { RunInput } from "#agents";
import { alsoEndedBy, type Run, type RunSource, type RunWriter } from "#run";
import type { AgentBackend, ModelBackend } from "#backends";
import {
  checkOptionNames,
  type Chunk,
  describeThrown,
  isStartError,
  StartError,
  waitForPerson,
  isRecord,
} from "#domain";
import type { Decision } from "#policy";
import {
  createPlayer,
  openTape,
  type OpenTapeOptions,
  type Player,
  type PlayerOptions,
  readTape,
  type Tape,
} from "#transports";
import { type CommandOptions, commandIn } from "./command.ts";
import type { RunOptions } from "./options.ts";
import type { Target } from "./plan-run.ts";
import { PROVIDERS } from "./providers.ts";
import { createNumbers, tapFiles } from "./record.ts";
import { startRun } from "./run.ts";
import { saysTape } from "./says-tape.ts";
import { systemWorld, type Tap, type World } from "./world.ts";

/** The options of `replay`. */
export interface ReplayOptions extends OpenTapeOptions, Omit<PlayerOptions, "clock"> {
  readonly signal?: AbortSignal;
}

const REPLAY_OPTION_NAMES = [
  "allowTorn",
  "allowEdited",
  "speed",
  "sameTimes",
  "check",
  "patienceMs",
  "signal",
] as const satisfies readonly (keyof ReplayOptions)[];

/**
 * Runs a recorded run again, from its tape alone: no network, no process, no key, no tool. The same bytes pass through
 * the same code, so the events are the same; only the mode in `start` is `tape`.
 *
 * What is sent is compared with what was recorded. A run that deviates from its tape ends with an error
 * (`source-failed`) that names the entry and the difference.
 *
 * @throws StartError `invalid-tape` naming what is wrong with the tape, the line and the byte.
 * @example
 * for await (const event of replay("bug.tape", { speed: 1 })) console.log(event)
 */
export function replay(tape: string | Uint8Array | Tape, options: ReplayOptions = {}): Run<unknown> {
  return replayIn(tape, options, systemWorld());
}

/** `replay` with its seams passed in: the clock is only used for the speed. */
export function replayIn(tape: string | Uint8Array | Tape, options: ReplayOptions, real: World): Run<unknown> {
  checkOptionNames(options, REPLAY_OPTION_NAMES, "replay");
  const opened = open(tape, options);
  const program = readProgram(opened);
  const player = createPlayer(opened, { ...options, clock: real.clock });
  const world = playedWorld(player, program.env, real);
  const reviving: Reviving = { player, world, number: createNumbers() };
  let run: Run<unknown>;
  try {
    run = startRun(
      revive(program.target, reviving) as Target,
      program.input as RunInput,
      {
        ...(revive(program.options, reviving) as RunOptions),
        ...(options.signal !== undefined && { signal: options.signal }),
      },
      world,
    );
  } catch (error) {
    player.close();
    if (!isStartError(error)) throw error;
    throw new StartError("invalid-tape", `The recorded program cannot be run here: ${error.message}`, {
      cause: error,
    });
  }
  player.onAbort((reason) => {
    world.isAbortRecorded = true;
    run.abort(reason).catch(() => undefined);
  });
  world.answer = (callId, decision) => run.answer(callId, decision as Decision);
  return run.once("done", () => player.close());
}

function open(tape: string | Uint8Array | Tape, options: OpenTapeOptions): Tape {
  if (typeof tape === "string") return readTape(tape, options);
  if (tape instanceof Uint8Array) return openTape(tape, options);
  if (typeof tape === "object" && tape !== null && "entries" in tape) return tape;
  throw new StartError("invalid-tape", "The tape is neither a path nor bytes. Give the path of a tape.");
}

interface Program {
  readonly target: unknown;
  readonly input: unknown;
  readonly options: unknown;
  readonly env: unknown;
}

function readProgram({ header }: Tape): Program {
  const { program } = header;
  if (!isRecord(program) || !("target" in program) || !("input" in program)) {
    throw new StartError(
      "invalid-tape",
      "The tape does not say what was run: its first line (byte 0) has no program. Play it with createPlayer instead.",
    );
  }
  const { target, input, options = {}, env = {} } = program;
  return { target, input, options, env };
}

interface PlayedWorld extends World {
  answer: (callId: string, decision: unknown) => void;
  isAbortRecorded: boolean;
}

function playedWorld(player: Player, env: unknown, real: World): PlayedWorld {
  const number = createNumbers();
  const tap: Tap = {
    real,
    isPlayed: true,
    exchange: () => player.fetch,
    take: <Value>(key: string) => player.callback(number(key)) as Value,
    around: (source) => playSource(source, player, world),
  };
  const variables: [string, string][] = Object.values(PROVIDERS).flatMap(({ keyVariables }) =>
    keyVariables.map((name): [string, string] => [name, "tape"]),
  );
  if (isRecord(env)) {
    for (const [name, value] of Object.entries(env)) if (typeof value === "string") variables.push([name, value]);
  }
  const world: PlayedWorld = {
    clock: player.clock,
    random: player.random,
    fetch: player.fetch,
    spawn: player.spawn,
    files: tapFiles(real.files, tap),
    env: Object.fromEntries(variables),
    onListenerError: real.onListenerError,
    tap,
    answer: () => undefined,
    isAbortRecorded: false,
  };
  return world;
}

/**
 * The source of a replayed run: it marks the start as such, and ends with the reason when the run deviates from its
 * tape.
 */
function playSource(source: RunSource, player: Player, world: PlayedWorld): RunSource {
  return async (writer) => {
    // For an abort that is not on the tape, its consequences are not there either.
    const leave = (): void => {
      if (!world.isAbortRecorded) player.leave("The replay was aborted.");
    };
    writer.signal.addEventListener("abort", leave, { once: true });
    const played: RunWriter = {
      ...alsoEndedBy(writer, player.signal),
      write(chunks, agent) {
        if (player.signal.aborted) return undefined;
        const room = writer.write(saysTape(chunks), agent);
        if (room === undefined) return undefined;
        const release = player.hold();
        return room.finally(release);
      },
      // Nothing was started, so nothing is left to clean up; what the recorded run stopped after its end is not on the
      // tape.
      cleanUp: () => undefined,
      ask(callId) {
        player.awaitDecision(callId, (decision) => world.answer(callId, decision));
        return writer.ask(callId);
      },
      canAnswer: () => world.tap?.take("can-answer", () => true) !== false,
    };
    try {
      await source(played);
    } catch (error) {
      if (!player.signal.aborted) throw error;
    }
    if (player.signal.aborted && !writer.signal.aborted) throw player.signal.reason;
  };
}

interface Reviving {
  readonly player: Player;
  readonly world: World;
  readonly number: (name: string) => string;
}

/** Rebuilds the program with functions that answer from the tape. */
function revive(value: unknown, reviving: Reviving): unknown {
  if (Array.isArray(value)) return value.map((one) => revive(one, reviving));
  if (!isRecord(value)) return value;
  const { $call: path, $backend: backend, $command: made } = value;
  if (value["$number"] === "Infinity") return Number.POSITIVE_INFINITY;
  if (typeof path === "string") {
    const play = playCall(path, reviving);
    return value["asksPerson"] === true ? waitForPerson(play) : play;
  }
  if (isRecord(backend)) return playBackend(backend, reviving);
  if (isRecord(made)) return playCommand(made, reviving);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, revive(one, reviving)]));
}

function playCall(path: string, { player, number }: Reviving) {
  return (...args: readonly unknown[]): unknown => {
    const context = args[1] as { readonly progress?: (state: unknown) => void } | undefined;
    return player.callback(number(path), (state) => context?.progress?.(state));
  };
}

function playCommand(made: Readonly<Record<string, unknown>>, { world }: Reviving): AgentBackend {
  if (made["hasOwnFormat"] === true) {
    throw new StartError(
      "invalid-tape",
      "The command was read with a custom format, which a tape cannot contain. Play it with run(command(…), input, { replay }).",
    );
  }
  return commandIn(made["argv"] as readonly string[], (made["options"] ?? {}) as CommandOptions, world);
}

function playBackend(
  { name, model, path, ...rest }: Readonly<Record<string, unknown>>,
  reviving: Reviving,
): ModelBackend {
  const { player, number } = reviving;
  return {
    ...(revive(rest, reviving) as object),
    kind: "model",
    name: String(name),
    model: String(model),
    async *stream(_request, signal) {
      const key = number(`${String(path)}.stream`);
      for (let turn = 0; !signal.aborted; turn += 1) {
        const batch = await untilAborted(player.callback(`${key}/${turn}`), signal);
        if (!Array.isArray(batch)) return;
        yield batch.map(withBytes);
      }
    },
  };
}

/**
 * Resolves to the value, or to `undefined` after an abort. Removes its listener, because one signal serves many waits.
 */
function untilAborted(value: unknown, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(undefined);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    Promise.resolve(value)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
}

function withBytes(chunk: unknown): Chunk {
  if (!isRecord(chunk) || !isRecord(chunk["raw"])) return chunk as Chunk;
  const json = describeThrown(chunk["raw"]["json"]);
  return { ...chunk, raw: { json, bytes: new TextEncoder().encode(json) } } as unknown as Chunk;
}
