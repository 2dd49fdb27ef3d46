import { type Clock, describeThrown, elapsedSince, type Fetch, type Random, type Spawn } from "#domain";
import { followSignal } from "#streams";
import { createRedactor, type Redactor } from "#secrets";
import { recordFetch } from "./record-fetch.ts";
import { recordSpawn } from "./record-spawn.ts";
import type { RecorderContext } from "./recorder-context.ts";
import { TAPE_LIMITS, type TapeAnswer } from "./tape.ts";
import { keepFailure, TAPE_VERSION } from "./tape-line.ts";
import { createTapeLog } from "./tape-log.ts";

export interface RecorderOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Receives the lines in order. An exception ends the recording and has no other effect. */
  readonly write: (line: string) => void;
  /** The variables whose secrets must not reach the tape. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Further secrets, such as keys given as options. */
  readonly secrets?: readonly string[];
  /** Converts a callback's answer to JSON: a map, a date, a cycle. Default: as `JSON.stringify` does. */
  readonly toJson?: (value: unknown) => unknown;
  /** What is run, as data. */
  readonly program?: unknown;
  readonly maxBytes?: number;
}

/**
 * Records at the seams what a program sends to the outside world and what it receives.
 *
 * Nothing changes for the program: it gets the same values at the same moments, even if the recording fails. Everything
 * is redacted before it is written.
 */
export interface Recorder {
  readonly clock: Clock;
  readonly random: Random;
  readonly redactor: Redactor;
  /** The same seam, recorded. May be called for several seams. */
  fetch(seam: Fetch): Fetch;
  spawn(seam: Spawn): Spawn;
  /** Calls a callback of the caller and records its answer. `key` identifies the call. */
  callback<Value>(key: string, call: () => Value): Value;
  progress(key: string, state: unknown): void;
  decision(callId: string, decision: unknown): void;
  /** Records when the signal fires; returns a function that ends this. */
  watchAbort(signal: AbortSignal): () => void;
  /** Writes the end of the tape. Idempotent. Returns the reason if the recording stopped early. */
  finish(): unknown;
}

/**
 * Creates a recorder. The program must use the recorder's clock and random source from the beginning.
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
      version: TAPE_VERSION,
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

  const context: RecorderContext = {
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
          log.add({ type: "timer", ms: Number.isFinite(ms) ? ms : 0 }, context.place());
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
    fetch: (seam) => recordFetch(seam, context),
    spawn: (seam) => recordSpawn(seam, context),
    callback: (key, call) => recordCall(key, call, context),
    progress(key, state) {
      log.add({ type: "progress", key, state: redactor.json(state) }, context.place());
    },
    decision(callId, decision) {
      log.add({ type: "decision", callId, decision: redactor.json(decision) }, context.place());
    },
    watchAbort: (signal) =>
      followSignal(signal, (reason) => {
        log.add({ type: "abort", reason: redactor.text(describeThrown(reason)) }, context.place());
      }),
    finish() {
      if (!finished) {
        finished = true;
        log.end(context.place());
      }
      return log.failure;
    },
  };
}

function recordCall<Value>(key: string, call: () => Value, context: RecorderContext): Value {
  const keep = (answer: TapeAnswer, sync: boolean): void => {
    context.log.add({ type: "answer", key, ...(sync && { sync }), ...answer }, context.place());
  };
  const fail = (thrown: unknown, sync: boolean): void => {
    keep({ failure: keepFailure(thrown, context.redactor.text) }, sync);
  };
  let value: Value;
  try {
    value = call();
  } catch (thrown) {
    fail(thrown, true);
    throw thrown;
  }
  if (!isPromise(value)) {
    keep(keepAnswer(value, context), true);
    return value;
  }
  return value.then(
    (answer) => {
      keep(keepAnswer(answer, context), false);
      return answer;
    },
    (thrown: unknown) => {
      fail(thrown, false);
      throw thrown;
    },
  ) as Value;
}

/** An answer in the form in which a tape stores it. */
function keepAnswer(value: unknown, { redactor, toJson }: RecorderContext): TapeAnswer {
  if (value === undefined) return {};
  // A returned error counts as a thrown one.
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
