import { setMaxListeners } from "node:events";
import {
  type AgentEvent,
  type Chunk,
  type Clock,
  describeThrown,
  type Random,
  RunError,
  type RunResult,
  type ErrorDetail,
  type Message,
} from "#domain";
import type { Decision } from "#policy";
import { createBroadcast, createDeferred, type Deferred, followSignal, handled } from "#streams";
import { type Accumulator, createAccumulator, type Ending } from "./accumulator.ts";
import { createEventGate } from "./event-gate.ts";
import { canMergeDeltas, EVENT_WEIGHT, mergeDeltas, weighItem } from "./merge-deltas.ts";
import { readPartials } from "./run-partial.ts";
import type { Run, RunSource, Topic, TopicEvent } from "./run.ts";
import { createTextReader, failureOf } from "./run-text.ts";

/** The limits of a run handle. */
export const RUN_LIMITS = {
  /** Events a reader may lag behind before the source is paused (C20). */
  queueEvents: 1024,
  /** Characters a reader may lag behind before the source is paused: few events can be very large ones. */
  queueCharacters: 8 * 1024 * 1024,
  /** How long an abort waits for the source to clean up before the run is closed over its head. */
  abortGraceMs: 15_000,
} as const;

/** A permission question that was put and may still be answered. */
interface Question extends Deferred<Decision> {
  isAnswered: boolean;
}

export interface RunHandleOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly id?: string;
  /** The conversation before this run; it stands first in the result's messages. Read when the run ends. */
  readonly history?: readonly Message[];
  /** Aborts the run. */
  readonly signal?: AbortSignal | undefined;
  /** The answer's value stands in the field `value` of what the model writes. */
  readonly isOutputWrapped?: boolean | undefined;
  readonly limits?: Partial<{ -readonly [Key in keyof typeof RUN_LIMITS]: number }>;
  /** Hears what listeners throw, once per listener. The stream itself never changes because of a listener. */
  readonly onListenerError: (error: unknown) => void;
}

/**
 * Starts a source and gives the handle on its run. The source begins in a microtask: a listener attached in the
 * same turn misses nothing.
 *
 * @example
 * const run = createRun(async (writer) => { writer.write([resultItem({ subtype: "success", isError: false, usage: {} })]) }, world)
 */
export function createRun<Output = string>(source: RunSource, options: RunHandleOptions): Run<Output> {
  const limits = { ...RUN_LIMITS, ...options.limits };
  const id = options.id ?? options.random.id();
  const startedAt = options.clock.now();
  const gate = createEventGate({ runId: id, now: () => options.clock.now() });
  const accumulator = createAccumulator(options.history);
  const controller = new AbortController();
  // As many tools as a model asks for may listen at once; that is no leak.
  setMaxListeners(0, controller.signal);
  const ended = createDeferred<RunResult>();
  const questions = new Map<string, Question>();
  const listeners = new Map<(event: never) => void, Map<Topic, () => void>>();
  let complete = false;
  let detached = false;
  let aborting: { readonly reason: string; readonly settled: boolean } | undefined;

  const broadcast = createBroadcast<AgentEvent>({
    capacity: limits.queueEvents,
    maxWeight: limits.queueCharacters,
    canMerge: canMergeDeltas,
    merge: mergeDeltas,
  });

  /** A question can be answered as soon as it is seen: a listener answers within the event. */
  const openQuestion = (callId: string): Question => {
    const known = questions.get(callId);
    if (known !== undefined) return known;
    const question = { ...createDeferred<Decision>(), isAnswered: false };
    questions.set(callId, question);
    return question;
  };

  const publish = (events: readonly AgentEvent[]): void => {
    broadcast.push(events, takeIn(events, accumulator, openQuestion));
  };

  const write = (chunks: readonly Chunk[], agent?: string): Promise<void> | undefined => {
    if (complete) return undefined;
    publish(gate.pass(chunks, agent));
    return controller.signal.aborted ? undefined : broadcast.room();
  };

  /** Closes the run: open calls answered, the error if there is one, then `done`. */
  const finish = (failure: ErrorDetail | undefined): void => {
    if (complete) return;
    const aborted = aborting !== undefined && !aborting.settled;
    if (aborted) publish(gate.answerOpenCalls("aborted", "The run was aborted before this tool call was answered."));
    if (failure !== undefined) publish(gate.fail(failure));
    publish(gate.answerOpenCalls("incomplete", "The run ended before this tool call was answered."));
    const ms = Math.max(0, options.clock.now() - startedAt);
    const ending: Ending = aborted ? { ms, status: "aborted", reason: aborting?.reason ?? "" } : { ms };
    const result = accumulator.result(ending, broadcast.past());
    complete = true;
    const done = gate.done(result);
    broadcast.push([done], weighItem(done));
    broadcast.close();
    unfollow();
    for (const question of questions.values()) question.resolve({ allow: false, reason: "The run is over." });
    questions.clear();
    ended.resolve(result);
  };

  const abort = (reason?: unknown): Promise<void> => {
    if (complete || aborting !== undefined) return ended.promise.then(() => undefined);
    aborting = { reason: describeReason(reason), settled: accumulator.isSettled };
    const takeBack = options.clock.after(limits.abortGraceMs, () => {
      finish({
        code: "cleanup-timeout",
        message: `The run was aborted, but what it had started was not gone ${limits.abortGraceMs} ms later.`,
        terminal: true,
      });
    });
    for (const question of questions.values()) question.resolve({ allow: false, reason: "The run was aborted." });
    questions.clear();
    controller.abort(reason ?? new DOMException("The run was aborted.", "AbortError"));
    broadcast.hurry();
    return ended.promise.then(takeBack);
  };

  const unfollow =
    options.signal === undefined ? () => undefined : followSignal(options.signal, (why) => void abort(why));

  const ask = async (callId: string): Promise<Decision> => {
    if (controller.signal.aborted) return { allow: false, reason: "The run was aborted." };
    const decision = await openQuestion(callId).promise;
    // An answer serves one question: whoever asks again gets another one.
    questions.delete(callId);
    return decision;
  };

  const carryOut = async (): Promise<void> => {
    // A signal that had fired before the run began: nothing is started at all.
    if (controller.signal.aborted) return finish(undefined);
    try {
      await source({ runId: id, signal: controller.signal, write, ask });
      finish(aborting !== undefined || gate.hasFailed || accumulator.isSettled ? undefined : NO_RESULT);
    } catch (error) {
      const expected = aborting !== undefined && !aborting.settled;
      finish(expected ? undefined : { code: "source-failed", message: describeThrown(error), terminal: true });
    }
  };

  const waitForEnd = (): Promise<RunResult> => {
    broadcast.hurry();
    return ended.promise;
  };

  const readEvents = (): AsyncIterableIterator<AgentEvent, undefined> =>
    broadcast.read(async () => {
      if (!detached) await abort("The reader left the loop.");
    });

  const stopListening = (topic: Topic, listener: (event: never) => void): void => {
    listeners.get(listener)?.get(topic)?.();
    listeners.get(listener)?.delete(topic);
    if (listeners.get(listener)?.size === 0) listeners.delete(listener);
  };

  const listen = <Name extends Topic>(
    topic: Name,
    listener: (event: TopicEvent<Name>) => void,
    once: boolean,
  ): void => {
    stopListening(topic, listener);
    let reported = false;
    const stop = broadcast.listen(
      (event) => {
        if (topic !== "*" && event.type !== topic) return;
        if (once) stopListening(topic, listener);
        listener(event as TopicEvent<Name>);
      },
      (error) => {
        if (reported) return;
        reported = true;
        try {
          options.onListenerError(error);
        } catch {
          // Whoever hears of errors is a listener too.
        }
      },
    );
    const topics = listeners.get(listener) ?? new Map<Topic, () => void>();
    topics.set(topic, stop);
    listeners.set(listener, topics);
  };

  queueMicrotask(() => void carryOut());

  return {
    id,
    [Symbol.asyncIterator]: readEvents,
    text: () => readText(readEvents()),
    result: waitForEnd,
    output() {
      const output = waitForEnd().then((result) => {
        const failure = failureOf(result);
        if (failure !== undefined) throw failure;
        return (result.structured === undefined ? result.text : result.structured) as Output;
      });
      return handled(output);
    },
    partialOutput: () => readPartials(readEvents(), options.isOutputWrapped === true),
    on(topic, listener) {
      listen(topic, listener, false);
      return this;
    },
    off(topic, listener) {
      stopListening(topic, listener);
      return this;
    },
    once(topic, listener) {
      listen(topic, listener, true);
      return this;
    },
    done: () => waitForEnd().then(() => undefined),
    isComplete: () => complete,
    abort,
    detach() {
      detached = true;
      return this;
    },
    answer(callId, decision) {
      const question = questions.get(callId);
      if (question === undefined || question.isAnswered) return false;
      question.isAnswered = true;
      question.resolve(decision);
      return true;
    },
    sessionId() {
      const { sessionId } = accumulator;
      if (sessionId !== undefined) return sessionId;
      throw new RunError(
        "session-id-unknown",
        complete
          ? "The backend never said a session id, so this conversation cannot be resumed."
          : "The backend has not said its session id yet. Wait for the 'start' event.",
      );
    },
  };
}

const NO_RESULT: ErrorDetail = {
  code: "no-result",
  message: "The stream ended without a result, so it cannot count as a success.",
  terminal: true,
};

async function* readText(events: AsyncIterable<AgentEvent>): AsyncGenerator<string, undefined> {
  const reader = createTextReader();
  for await (const event of events) {
    const text = reader.next(event);
    if (text !== "") yield text;
    if (event.type !== "done") continue;
    const failure = failureOf(event.result);
    if (failure !== undefined) throw failure;
  }
  return undefined;
}

/**
 * One walk over the events for everything that looks at each of them; returns how heavy they are together. A function
 * of its own, not a closure of each run: it runs once per event.
 */
function takeIn(
  events: readonly AgentEvent[],
  accumulator: Accumulator,
  openQuestion: (callId: string) => unknown,
): number {
  let weight = 0;
  for (const event of events) {
    switch (event.type) {
      case "text-delta":
      case "thinking-delta":
        weight += EVENT_WEIGHT + event.text.length;
        break;
      case "tool-input-delta":
        weight += EVENT_WEIGHT + event.json.length;
        break;
      default:
        weight += weighItem(event);
        accumulator.add(event);
        if (event.type === "permission" && event.state === "asked") openQuestion(event.callId);
    }
  }
  return weight;
}

function describeReason(reason: unknown): string {
  return reason === undefined ? "The run was aborted." : describeThrown(reason);
}
