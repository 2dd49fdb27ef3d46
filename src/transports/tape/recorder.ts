import type { Clock, Fetch, Random, Spawn } from "#domain";
import { describeThrown, elapsedSince } from "#domain";
import { followSignal } from "#streams";
import { createRedactor, type Redactor } from "#secrets";
import { recordFetch } from "./record-fetch.ts";
import { recordSpawn } from "./record-spawn.ts";
import type { RecorderContext } from "./recorder-context.ts";
import type { TapeAnswer } from "./tape.ts";
import { keepFailure } from "./tape-line.ts";
import { TAPE_LIMITS } from "./tape-limits.ts";
import { createTapeLog } from "./tape-log.ts";

export interface RecorderOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Takes the lines, in order. What it throws ends the recording and nothing else. */
  readonly write: (line: string) => void;
  /** The variables whose secrets must not reach the tape. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Further secrets, such as keys given as options. */
  readonly secrets?: readonly string[];
  /** What an answer of a callback counts as in JSON: a map, a date, a circle. Default: what `JSON.stringify` makes of it. */
  readonly toJson?: (value: unknown) => unknown;
  /** What is run, as data. */
  readonly program?: unknown;
  readonly maxBytes?: number;
}

/**
 * Records what a program does to the world and what the world gives to it, at the seams.
 *
 * Nothing changes for the program: the same values at the same moments, whatever becomes of the recording. Everything
 * is redacted before it is written.
 */
export interface Recorder {
  readonly clock: Clock;
  readonly random: Random;
  readonly redactor: Redactor;
  /** The same seam, recorded. May be called for several of them. */
  fetch(seam: Fetch): Fetch;
  spawn(seam: Spawn): Spawn;
  /** Calls a callback of the caller and records what it answers. `key` tells calls apart. */
  callback<Value>(key: string, call: () => Value): Value;
  progress(key: string, state: unknown): void;
  decision(callId: string, decision: unknown): void;
  /** Records when the signal fires; returns what ends that. */
  watchAbort(signal: AbortSignal): () => void;
  /** Writes the end of the tape. Idempotent. Gives the reason when the recording stopped before. */
  finish(): unknown;
}

/**
 * Creates a recorder. The clock and the chance of the program must be the recorder's from the beginning.
 *
 * @example
 * const recorder = createRecorder({ clock: systemClock, random: systemRandom, write: file.write, env: process.env })
 * const fetch = recorder.fetch(createHttpFetch())
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const { clock, random } = options;
  const redactor = createRedactor(options.env);
  for (const secret of options.secrets ?? []) redactor.addSecret(secret);
  const startedAt = clock.now();
  const log = createTapeLog(
    {
      format: "millrace-tape",
      version: 1,
      startedAt,
      ...(options.program !== undefined && { program: redactor.json(options.program) }),
    },
    options.write,
    options.maxBytes,
  );
  let ids = 0;
  let readings: number[] = [];
  let drawnIds: string[] = [];
  let draws: number[] = [];
  let finished = false;

  const desk: RecorderContext = {
    log,
    redactor,
    toJson: options.toJson ?? ((value) => value),
    nextId: () => (ids += 1),
    place() {
      const place = {
        at: elapsedSince(clock, startedAt),
        ...(readings.length > 0 && { now: readings }),
        ...(drawnIds.length > 0 && { ids: drawnIds }),
        ...(draws.length > 0 && { draws }),
      };
      readings = [];
      drawnIds = [];
      draws = [];
      return place;
    },
  };

  return {
    redactor,
    clock: {
      now() {
        const now = clock.now();
        if (!finished) readings.push(now - startedAt);
        return now;
      },
      after(ms, fire) {
        return clock.after(ms, () => {
          log.add({ type: "timer", ms: Number.isFinite(ms) ? ms : 0 }, desk.place());
          fire();
        });
      },
    },
    random: {
      next() {
        const draw = random.next();
        if (!finished) draws.push(draw);
        return draw;
      },
      id() {
        const id = random.id();
        if (!finished) drawnIds.push(id);
        return id;
      },
    },
    fetch: (seam) => recordFetch(seam, desk),
    spawn: (seam) => recordSpawn(seam, desk),
    callback: (key, call) => recordCall(key, call, desk),
    progress(key, state) {
      log.add({ type: "progress", key, state: redactor.json(state) }, desk.place());
    },
    decision(callId, decision) {
      log.add({ type: "decision", callId, decision: redactor.json(decision) }, desk.place());
    },
    watchAbort: (signal) =>
      followSignal(signal, (reason) => {
        log.add({ type: "abort", reason: redactor.text(describeThrown(reason)) }, desk.place());
      }),
    finish() {
      if (!finished) {
        finished = true;
        log.end(desk.place());
      }
      return log.failure;
    },
  };
}

function recordCall<Value>(key: string, call: () => Value, desk: RecorderContext): Value {
  const keep = (answer: TapeAnswer, sync: boolean): void => {
    desk.log.add({ type: "answer", key, ...(sync && { sync }), ...answer }, desk.place());
  };
  const fail = (thrown: unknown, sync: boolean): void => {
    keep({ failure: keepFailure(thrown, desk.redactor.text) }, sync);
  };
  let value: Value;
  try {
    value = call();
  } catch (thrown) {
    fail(thrown, true);
    throw thrown;
  }
  if (!isPromise(value)) {
    keep(keepAnswer(value, desk), true);
    return value;
  }
  return value.then(
    (answer) => {
      keep(keepAnswer(answer, desk), false);
      return answer;
    },
    (thrown: unknown) => {
      fail(thrown, false);
      throw thrown;
    },
  ) as Value;
}

/** A value that was answered, as a tape keeps it. */
function keepAnswer(value: unknown, { redactor, toJson }: RecorderContext): TapeAnswer {
  if (value === undefined) return {};
  // A failure that was returned counts as one that was thrown.
  if (value instanceof Error) return { failure: keepFailure(value, redactor.text) };
  if (typeof value === "function" || typeof value === "symbol") return { odd: typeof value as "function", why: "" };
  try {
    const json = toJson(value);
    const text = JSON.stringify(json);
    if (text.length > TAPE_LIMITS.keptCharacters) {
      return { odd: "unprintable", why: `The answer had ${text.length} characters, which is too long for a tape.` };
    }
    return { value: redactor.json(json) };
  } catch (thrown) {
    return { odd: "unprintable", why: redactor.text(describeThrown(thrown)) };
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
