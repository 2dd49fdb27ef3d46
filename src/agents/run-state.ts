import {
  type AgentEvent,
  type Chunk,
  type Clock,
  describeThrown,
  elapsedSince,
  type ErrorDetail,
  isDelta,
  type Message,
  type Random,
  type Retraction,
  type RunResult,
  type RunStatus,
} from "#domain";
import type { Decision } from "#policy";
import type { SecretMask } from "#secrets";
import { LazyAbort, type Broadcast, createBroadcast, createDeferred, type Deferred, followSignal } from "#streams";
import { type Accumulator, createAccumulator, type Ending } from "./accumulator.ts";
import { ChunkMask } from "./chunk-mask.ts";
import { createEventGate, type EventGate } from "./event-gate.ts";
import { canMergeDeltas, EVENT_WEIGHT, measureDeltas, mergeDeltas, weighItem } from "./merge-deltas.ts";
import { ReplyMeter } from "./reply-meter.ts";
import type { RunSource } from "./run.ts";
import { RunCleanUp } from "./run-clean-up.ts";
import { shareText } from "./share-text.ts";

/** The limits of a run handle. */
export const RUN_LIMITS = {
  /** Events a reader may lag behind before the source is paused (C20). */
  queueEvents: 1024,
  /** Characters a reader may lag behind before the source is paused: few events can be very large ones. */
  queueCharacters: 8 * 1024 * 1024,
  /** Bytes of one reply: its text, its thinking and the arguments of its tool calls (`limits.replyBytes`). */
  replyBytes: 16 * 1024 * 1024,
  /** How long an abort waits for the source to clean up before the run is closed over its head. */
  abortGraceMs: 15_000,
  /** How long what was handed over for cleaning up may take after `done`. */
  cleanUpMs: 30_000,
} as const;

type RunLimits = { readonly [Key in keyof typeof RUN_LIMITS]: number };

export interface RunHandleOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly id?: string;
  /** Who answers, as it is shown when a run is printed. */
  readonly target?: string | undefined;
  /** The conversation before this run; it stands first in the result's messages. Read when the run ends. */
  readonly history?: readonly Message[];
  /** Aborts the run. */
  readonly signal?: AbortSignal | undefined;
  /** The answer's value stands in the field `value` of what the model writes. */
  readonly isOutputWrapped?: boolean | undefined;
  readonly limits?: Partial<RunLimits>;
  /** Covers the secrets of the run in all its events. Asked once, when the first chunk is written. */
  readonly secrets?: (() => SecretMask | undefined) | undefined;
  /** Hears what listeners throw, once per listener. The stream itself never changes because of a listener. */
  readonly onListenerError: (error: unknown) => void;
  /** Receives what could not be cleaned up after `done`, which no event can say any more. Default: `onListenerError`. */
  readonly onCleanUpFailure?: ((error: Error) => void) | undefined;
}

/** A permission question that was put and may still be answered. */
interface Question extends Deferred<Decision> {
  isAnswered: boolean;
}

/**
 * A run from within: takes chunks from its source, keeps the promises of the event model, and gives events to whoever
 * reads. A class, because hundreds of runs may be open at once, and what each holds is what the collector goes through.
 */
export class RunState {
  readonly id: string;
  readonly broadcast: Broadcast<AgentEvent>;
  readonly options: RunHandleOptions;
  private readonly _limits: RunLimits;
  private readonly _startedAt: number;
  private readonly _gate: EventGate;
  private readonly _accumulator: Accumulator;
  private readonly _meter: ReplyMeter;
  /** `undefined`: not asked for yet. */
  private _mask: ChunkMask | "none" | undefined;
  private readonly _latch = new LazyAbort();
  private readonly _ended = createDeferred<RunResult>();
  private readonly _cleanUp: RunCleanUp;
  /** Made for the first question: most runs ask none. */
  private _questions: Map<string, Question> | undefined;
  /** How many read or hear of questions, and so can answer them. */
  private _answerers = 0;
  private _isComplete = false;
  private _status: RunStatus | undefined;
  private _aborting: { readonly reason: string; readonly settled: boolean } | undefined;
  private readonly _unfollow: (() => void) | undefined;
  private _output: { readonly value: unknown } | undefined;

  constructor(options: RunHandleOptions) {
    const { clock, random, history, limits } = options;
    this.options = options;
    this.id = options.id ?? random.id();
    this._limits = limits === undefined ? RUN_LIMITS : { ...RUN_LIMITS, ...limits };
    this._startedAt = clock.now();
    this._cleanUp = new RunCleanUp({
      clock,
      maxMs: this._limits.cleanUpMs,
      report: options.onCleanUpFailure ?? options.onListenerError,
    });
    this._gate = createEventGate({ runId: this.id, clock });
    this._accumulator = createAccumulator(history);
    this.broadcast = createBroadcast<AgentEvent>({
      capacity: this._limits.queueEvents,
      maxWeight: this._limits.queueCharacters,
      canMerge: canMergeDeltas,
      merge: mergeDeltas,
    });
    this._meter = new ReplyMeter(this._limits.replyBytes, () => this.broadcast.past());
    if (options.signal !== undefined) this._unfollow = followSignal(options.signal, (why) => void this.abort(why));
  }

  get isComplete(): boolean {
    return this._isComplete;
  }

  /** Where the run is, in a word: `running`, or how it ended. */
  get state(): "running" | "aborting" | RunStatus {
    return this._status ?? (this._aborting === undefined ? "running" : "aborting");
  }

  /** The value of the output schema, where it is none that events can hold. */
  get output(): { readonly value: unknown } | undefined {
    return this._output;
  }

  get sessionId(): string | undefined {
    return this._accumulator.sessionId;
  }

  /** Has the source carry out the run, and closes it. */
  async carryOut(source: RunSource): Promise<void> {
    // A signal that had fired before the run began: nothing is started at all.
    if (this._latch.aborted) return this._finish(undefined);
    try {
      await source({
        runId: this.id,
        latch: this._latch,
        write: (chunks, agent) => this._write(chunks, agent),
        ask: (callId) => this._ask(callId),
        canAnswer: () => this._answerers > 0,
        giveOutput: (value) => {
          this._output = { value };
        },
        cleanUp: (work, how) => this._cleanUp.add(work, how?.maxMs),
      });
      // After an abort `done` confirms that nothing is left; a verdict is not kept waiting.
      if (this._aborting !== undefined && !this._aborting.settled) await this._cleanUp.idle();
      const isEnded = this._aborting !== undefined || this._gate.hasFailed || this._accumulator.isSettled;
      this._finish(isEnded ? undefined : NO_RESULT);
    } catch (error) {
      const expected = this._aborting !== undefined && !this._aborting.settled;
      this._finish(expected ? undefined : { code: "source-failed", message: describeThrown(error), terminal: true });
    }
  }

  /** Resolves when the run is complete and nothing of it is left. */
  get closed(): Promise<void> {
    return this._cleanUp.closed;
  }

  abort(reason?: unknown): Promise<void> {
    if (this._isComplete && !this._cleanUp.isIdle) this._latch.abort(reason ?? abortError());
    if (this._isComplete || this._aborting !== undefined) return this.closed;
    this._aborting = { reason: describeReason(reason), settled: this._accumulator.isSettled };
    const { abortGraceMs } = this._limits;
    const takeBack = this.options.clock.after(abortGraceMs, () => {
      this._cleanUp.giveUp();
      this._finish({
        code: "cleanup-timeout",
        message: `The run was aborted, but what it had started was not gone ${abortGraceMs} ms later.`,
        terminal: true,
      });
    });
    this._denyAll("The run was aborted.");
    this._latch.abort(reason ?? abortError());
    this.broadcast.hurry();
    this._ended.promise.then(takeBack, takeBack);
    return this.closed;
  }

  /** The result, once there is one. Whoever waits here is not held back by a lagging reader. */
  waitForEnd(): Promise<RunResult> {
    this.broadcast.hurry();
    return this._ended.promise;
  }

  answer(callId: string, decision: Decision): boolean {
    const question = this._questions?.get(callId);
    if (question === undefined || question.isAnswered) return false;
    question.isAnswered = true;
    question.resolve(decision);
    return true;
  }

  /** Somebody sees questions from now on. The returned function says that they no longer do, and may be called again. */
  addAnswerer(): () => void {
    let isHere = true;
    this._answerers += 1;
    return () => {
      if (isHere) this._answerers -= 1;
      isHere = false;
    };
  }

  /** A decision has been made: what is answered afterwards changes nothing, and is told so. */
  closeQuestion(callId: string): void {
    const question = this._questions?.get(callId);
    if (question !== undefined) question.isAnswered = true;
  }

  /** A question can be answered as soon as it is seen: a listener answers within the event. */
  openQuestion(callId: string): Question {
    this._questions ??= new Map();
    const known = this._questions.get(callId);
    if (known !== undefined) return known;
    const question = { ...createDeferred<Decision>(), isAnswered: false };
    this._questions.set(callId, question);
    return question;
  }

  private async _ask(callId: string): Promise<Decision> {
    if (this._latch.aborted) return { allow: false, reason: "The run was aborted." };
    // Under the name it was shown with.
    const shownId = this._secretMask()?.text(callId) ?? callId;
    const decision = await this.openQuestion(shownId).promise;
    // An answer serves one question: whoever asks again gets another one.
    this._questions?.delete(shownId);
    return decision;
  }

  private _denyAll(reason: string): void {
    for (const question of this._questions?.values() ?? []) question.resolve({ allow: false, reason });
    this._questions?.clear();
  }

  private _write(chunks: readonly Chunk[], agent: string | undefined): Promise<void> | undefined {
    if (this._isComplete) return undefined;
    const mask = this._secretMask();
    this._publish(this._gate.pass(mask === undefined ? chunks : mask.pass(chunks), agent));
    if (this._meter.failure !== undefined && !this._gate.hasFailed) this._stopAt(this._meter.failure);
    return this._latch.aborted ? undefined : this.broadcast.room();
  }

  private _secretMask(): ChunkMask | undefined {
    if (this._mask === undefined) {
      const secrets = this.options.secrets?.();
      this._mask = secrets === undefined ? "none" : new ChunkMask(secrets);
    }
    return this._mask === "none" ? undefined : this._mask;
  }

  private _publish(events: readonly AgentEvent[]): void {
    this.broadcast.push(events, takeIn(events, this.broadcast.past(), this._accumulator, this._meter, this));
  }

  /** Ends the run with an error of ours: nothing that its source still writes gets past the gate. */
  private _stopAt(failure: ErrorDetail): void {
    this._publish(this._gate.fail(failure));
    const takeBack = this.options.clock.after(this._limits.abortGraceMs, () => this._finish(undefined));
    this._ended.promise.then(takeBack, takeBack);
    this._denyAll("The run is over.");
    this._latch.abort(new DOMException(failure.message, "AbortError"));
    this.broadcast.hurry();
  }

  /** Closes the run: open calls answered, the error if there is one, then `done`. */
  private _finish(failure: ErrorDetail | undefined): void {
    if (this._isComplete) return;
    const gate = this._gate;
    const mask = this._secretMask();
    const heldBack = mask?.end() ?? [];
    if (heldBack.length > 0) this._publish(gate.pass(heldBack));
    const aborted = this._aborting !== undefined && !this._aborting.settled;
    if (aborted)
      this._publish(gate.answerOpenCalls("aborted", "The run was aborted before this tool call was answered."));
    if (failure !== undefined) this._publish(gate.fail(mask?.value(failure) ?? failure));
    this._publish(gate.answerOpenCalls("incomplete", "The run ended before this tool call was answered."));
    const ms = elapsedSince(this.options.clock, this._startedAt);
    const ending: Ending = aborted ? { ms, status: "aborted", reason: this._aborting?.reason ?? "" } : { ms };
    const shown = this._accumulator.result(ending, this.broadcast.past());
    // The conversation before the run, and why it was aborted, were never events of it.
    const result = mask?.value(shown) ?? shown;
    this._isComplete = true;
    this._status = result.status;
    const done = gate.done(result);
    this.broadcast.push([done], weighItem(done));
    this.broadcast.close();
    this._unfollow?.();
    this._denyAll("The run is over.");
    this._ended.resolve(result);
    this._cleanUp.end();
  }
}

const NO_RESULT: ErrorDetail = {
  code: "no-result",
  message: "The stream ended without a result, so it cannot count as a success.",
  terminal: true,
};

/** Has everything that looks at the events look at them; returns how heavy they are together. */
function takeIn(
  events: readonly AgentEvent[],
  past: Iterable<AgentEvent>,
  accumulator: Accumulator,
  meter: ReplyMeter,
  run: Pick<RunState, "openQuestion" | "closeQuestion">,
): number {
  let weight = 0;
  for (let at = 0; at < events.length; at += 1) {
    const event = events[at] as AgentEvent;
    if (isDelta(event)) {
      const end = endOfRow(events, at, event.messageId);
      accumulator.noteDelta(event.messageId);
      const characters = measureDeltas(events, at, end);
      meter.addRow({ events, from: at, end }, characters);
      weight += characters + EVENT_WEIGHT * (end - at);
      at = end - 1;
    } else {
      accumulator.add(event);
      weight += weighItem(event);
      if (event.type === "message") {
        meter.addMessage(event);
        shareText(event, past, events.slice(0, at));
      }
      if (event.type === "notice" && event.kind === "retract") meter.retract(event.data as Retraction);
      if (event.type === "permission") {
        if (event.state === "asked") run.openQuestion(event.callId);
        else run.closeQuestion(event.callId);
      }
    }
  }
  return weight;
}

/** Where the deltas of one message end; nothing else has its id. A loop of its own: it runs once per event. */
function endOfRow(events: readonly AgentEvent[], from: number, messageId: string): number {
  let end = from + 1;
  while (end < events.length && (events[end] as { readonly messageId?: string }).messageId === messageId) end += 1;
  return end;
}

function abortError(): DOMException {
  return new DOMException("The run was aborted.", "AbortError");
}

function describeReason(reason: unknown): string {
  return reason === undefined ? "The run was aborted." : describeThrown(reason);
}
