import {
  type AgentEvent,
  type Chunk,
  type Clock,
  describeThrown,
  elapsedSince,
  type ErrorDetail,
  isDelta,
  type Message,
  type NextTurn,
  type NoticeItem,
  noticeItem,
  type PermissionItem,
  type Random,
  REPLY_BYTES,
  type Retraction,
  type RunResult,
  type RunStatus,
  type ToolResultItem,
} from "#domain";
import type { Decision } from "#policy";
import type { SecretMask } from "#secrets";
import { type Broadcast, createAbortController, createBroadcast, createDeferred, followSignal } from "#streams";
import { type Accumulator, createAccumulator, type Ending } from "./accumulator.ts";
import { ChunkMask, findMaskedCalls } from "./chunk-mask.ts";
import { createEventGate, type EventGate } from "./event-gate.ts";
import { canMergeDeltas, EVENT_WEIGHT, measureDeltas, mergeDeltas, sharedText, weighItem } from "./merge-deltas.ts";
import { ReplySize } from "./reply-size.ts";
import type { ParkedRun, RunSource } from "./run.ts";
import { StoredAnswers } from "./stored-answers.ts";
import type { StoredMark } from "./stored-mark.ts";
import { RunCleanUp } from "./clean-up.ts";
import { type GivenAnswer, type GivenResult, OpenWaits, type Wait } from "./open-waits.ts";

/** The limits of a run handle. */
export const RUN_LIMITS = {
  /** Events a reader may lag behind before the source is paused (C20). */
  queueEvents: 1024,
  /** Characters a reader may lag behind before the source is paused. A few events can be very large. */
  queueCharacters: 8 * 1024 * 1024,
  /** Bytes of one reply: its text, its thinking and the arguments of its tool calls (`limits.replyBytes`). */
  replyBytes: REPLY_BYTES,
  /** How long an abort waits for the source to clean up. After that the run is closed without the source. */
  abortGraceMs: 15_000,
  /** How long the work passed to `cleanUp` may take after `done`. */
  cleanUpMs: 30_000,
  /** How long a stored run holds its process while all of its calls wait for something outside (`limits.parkMs`). */
  parkMs: 60_000,
} as const;

type RunLimits = { readonly [Key in keyof typeof RUN_LIMITS]: number };

export interface RunHandleOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly id?: string;
  /** The backend or agent that answers, for display when a run is printed. */
  readonly target?: string | undefined;
  /** The conversation before this run. It comes first in the messages of the result. Read when the run ends. */
  readonly history?: readonly Message[];
  /** Aborts the run. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the model writes the answer into the field `value` of an object. */
  readonly isOutputWrapped?: boolean | undefined;
  readonly limits?: Partial<RunLimits>;
  /** The events of the run so far, if it continues one. They come first for every reader. */
  readonly past?:
    | {
        readonly events: readonly AgentEvent[];
        readonly activeMs: number;
        /** Answers that were stored while no process worked on the run. */
        readonly answers?: readonly GivenAnswer[] | undefined;
      }
    | undefined;
  /** Ends the work on a stored run without ending the run: another process continues it. */
  readonly suspend?: AbortSignal | undefined;
  /** How far the run is stored. Without it, the run is not stored, and nothing waits for a store. */
  readonly stored?: StoredMark | undefined;
  /** `done` waits until everything before it is stored, so that a failure of the store is part of the result. */
  readonly isEndStored?: boolean | undefined;
  /** Masks the secrets of the run in all of its events. Called once, when the first chunk is written. */
  readonly secrets?: (() => SecretMask | undefined) | undefined;
  /** Searches a large result for secrets in several turns of the event loop, before the run is closed. */
  readonly nextTurn?: NextTurn | undefined;
  /** Receives what listeners throw, once per listener. A listener never changes the stream. */
  readonly onListenerError: (error: unknown) => void;
  /** Receives clean-up failures after `done`, when no event can report them. Default: `onListenerError`. */
  readonly onCleanUpFailure?: ((error: Error) => void) | undefined;
}

/**
 * The internal side of a run: takes chunks from its source, keeps the promises of the event model, and delivers events
 * to readers.
 */
export class RunState {
  readonly id: string;
  readonly broadcast: Broadcast<AgentEvent>;
  readonly options: RunHandleOptions;
  private readonly _limits: RunLimits;
  private readonly _startedAt: number;
  private readonly _gate: EventGate;
  private readonly _accumulator: Accumulator;
  private readonly _replySize: ReplySize;
  /** `undefined`: `options.secrets` was not called yet. */
  private _mask: ChunkMask | "none" | undefined;
  private readonly _controller = createAbortController();
  private readonly _ended = createDeferred<RunResult>();
  private readonly _cleanUp: RunCleanUp;
  private _waits: OpenWaits | undefined;
  private _answers: StoredAnswers | undefined;
  private _stopParkClock: (() => void) | undefined;
  /** Set when the run is to be parked: the source ends, and nothing that it still writes counts. */
  private _parking: readonly Wait[] | undefined;
  /** Calls of a stored run that only this process can run, because the store does not have their arguments. */
  private readonly _maskedCalls = new Set<string>();
  private readonly _parked = createDeferred<ParkedRun | undefined>();
  private _finishingParked: Promise<void> | undefined;
  /** The number of readers and listeners that receive questions and so can answer them. */
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
    this._replySize = new ReplySize(this._limits.replyBytes, () => this.broadcast.past());
    if (options.past !== undefined) this._resume(options.past.events);
    const { signal, suspend } = options;
    const unfollow = [
      signal && followSignal(signal, (why) => void this.abort(why)),
      suspend && followSignal(suspend, () => this._suspend()),
    ];
    if (signal !== undefined || suspend !== undefined) this._unfollow = () => unfollow.forEach((stop) => stop?.());
  }

  private _suspend(): void {
    if (this.options.stored !== undefined && !this._isOver()) this._park(this._openWaits());
  }

  get isComplete(): boolean {
    return this._isComplete;
  }

  /** `running` or `aborting`, and after the end the status of the result. */
  get state(): "running" | "aborting" | RunStatus {
    if (this._status !== undefined) return this._status;
    return this._parking !== undefined ? "waiting" : this._aborting === undefined ? "running" : "aborting";
  }

  /** The value of the output schema, if events cannot hold it. */
  get output(): { readonly value: unknown } | undefined {
    return this._output;
  }

  get sessionId(): string | undefined {
    return this._accumulator.sessionId;
  }

  /** Lets the source carry out the run, then closes the run. */
  async carryOut(source: RunSource): Promise<void> {
    // A signal had already fired: nothing is started. A run that is to be left to another process does not end.
    if (this._parking !== undefined) return this._finishParked(this._parking);
    if (this._controller.signal.aborted) return this._finish(undefined);
    try {
      await source({
        runId: this.id,
        signal: this._controller.signal,
        prepare: (chunks, nextTurn) => this._secretMask()?.prepare(chunks, nextTurn),
        write: (chunks, agent) => this._write(chunks, agent),
        ...(this.options.stored !== undefined && { commit: () => this._commit(this.options.stored as StoredMark) }),
        isParking: () => this._parking !== undefined,
        ask: (callId) => this._ask(callId),
        waitForResult: (callId, until) => this._waitForResult(callId, until),
        canAnswer: () => this._answerers > 0,
        giveOutput: (value) => {
          this._output = { value };
        },
        cleanUp: (work, how) => this._cleanUp.add(work, how?.maxMs),
      });
      if (this._parking !== undefined) return await this._finishParked(this._parking);
      const { stored, isEndStored = false } = this.options;
      if (isEndStored && stored !== undefined && this._aborting === undefined) await this._commit(stored);
      await this._prepareResult();
      // After an abort, `done` confirms that nothing is left, so it waits. After a verdict it does not.
      if (this._aborting !== undefined && !this._aborting.settled) await this._cleanUp.idle();
      const isEnded = this._aborting !== undefined || this._gate.hasFailed || this._accumulator.isSettled;
      this._finish(isEnded ? undefined : NO_RESULT);
    } catch (error) {
      if (this._parking !== undefined) return this._finishParked(this._parking);
      await this._prepareResult();
      const expected = this._aborting !== undefined && !this._aborting.settled;
      this._finish(expected ? undefined : { code: "source-failed", message: describeThrown(error), terminal: true });
    }
  }

  /** Takes over the events of an earlier process. In pieces, because a long row of events is slow to take in. */
  private _resume(past: readonly AgentEvent[]): void {
    this._gate.resume(past);
    for (const { callId, decision, result } of this.options.past?.answers ?? []) {
      this._waits ??= new OpenWaits();
      if (result !== undefined) this._waits.take(callId, result);
      if (decision !== undefined) (this._answers ??= new StoredAnswers()).add(callId, decision);
    }
    for (let at = 0; at < past.length; at += PAST_PIECE) this._publish(past.slice(at, at + PAST_PIECE));
  }

  /** Resolves when the run is complete and nothing that it started is left. */
  get closed(): Promise<void> {
    return this._cleanUp.closed;
  }

  abort(reason?: unknown): Promise<void> {
    if (this._isComplete && !this._cleanUp.isIdle) this._controller.abort(reason ?? abortError());
    if (this._isComplete || this._aborting !== undefined) return this.closed;
    this._aborting = { reason: describeReason(reason), settled: this._accumulator.isSettled };
    const { abortGraceMs } = this._limits;
    const takeBack = this.options.clock.after(abortGraceMs, () => {
      this._cleanUp.giveUp();
      this._finishWithoutSource({
        code: "cleanup-timeout",
        message: `The run was aborted, but what it had started was still running ${abortGraceMs} ms later.`,
        terminal: true,
      });
    });
    this._denyAll("The run was aborted.");
    this._controller.abort(reason ?? abortError());
    this.broadcast.hurry();
    this._ended.promise.then(takeBack, takeBack);
    return this.closed;
  }

  /** Resolves with the result. Once this is called, a lagging reader no longer pauses the run. */
  waitForEnd(): Promise<RunResult> {
    this.broadcast.hurry();
    return this._ended.promise;
  }

  answer(callId: string, decision: Decision): boolean {
    return this._waits?.answer(callId, decision) ?? false;
  }

  /** Gives the result of a call that its tool has parked. */
  giveResult(callId: string, result: GivenResult): boolean {
    return this._waits?.give(callId, result) ?? false;
  }

  /** Resolves when the run is parked and that is stored, or to `undefined` when the run is complete. */
  get parked(): Promise<ParkedRun | undefined> {
    return this._parked.promise;
  }

  /**
   * Registers a reader that can answer questions. Returns a function that removes it; calling that function twice is
   * safe.
   */
  addAnswerer(): () => void {
    let isHere = true;
    this._answerers += 1;
    return () => {
      if (isHere) this._answerers -= 1;
      isHere = false;
    };
  }

  /** Opens the wait for a result when its notice is published. */
  noteParked({ data }: NoticeItem): void {
    const { callId, until } = data as { readonly callId: string; readonly until?: number };
    this._waits ??= new OpenWaits();
    this._waits.park(callId, until);
  }

  /** Opens or closes a question when its event is published. */
  noteDecision(event: PermissionItem & Pick<AgentEvent, "agent">): void {
    const { callId, state } = event;
    if (state !== "asked") {
      this._answers?.decide(callId);
      return this._waits?.close(callId);
    }
    this._waits ??= new OpenWaits();
    this._waits.ask(callId).catch(() => undefined);
    const decision = this._answers?.ask(event);
    if (decision !== undefined) this._waits.answer(callId, decision);
  }

  noteResult({ callId }: ToolResultItem): void {
    this._answers?.end(callId);
  }

  /** An abort ends the wait: whatever was waiting must not take effect then. */
  private async _commit(stored: StoredMark): Promise<boolean> {
    const { signal } = this._controller;
    let unfollow: (() => void) | undefined;
    const aborted = new Promise<boolean>((resolve) => {
      unfollow = followSignal(signal, () => resolve(false));
    });
    const isStored = await Promise.race([stored.reached(this._gate.lastSeq), aborted]);
    unfollow?.();
    return isStored && !signal.aborted;
  }

  private async _ask(callId: string): Promise<Decision> {
    if (this._controller.signal.aborted) return { allow: false, reason: "The run was aborted." };
    // The id under which the question was shown.
    const shownId = this._secretMask()?.text(callId) ?? callId;
    this._waits ??= new OpenWaits();
    this._watchWaits();
    const decision = await this._waits.ask(shownId);
    this._waits.forget(shownId);
    return decision;
  }

  private async _waitForResult(callId: string, until: number | undefined): Promise<GivenResult | undefined> {
    if (this._controller.signal.aborted) return undefined;
    const shownId = this._secretMask()?.text(callId) ?? callId;
    this._waits ??= new OpenWaits();
    this._watchWaits();
    return this._waits.result(shownId, until);
  }

  /** A stored run whose calls all wait for something outside need not hold a process. */
  private _watchWaits(): void {
    const { stored, clock } = this.options;
    if (stored === undefined || this._stopParkClock !== undefined || this._limits.parkMs === Infinity) return;
    this._stopParkClock = clock.after(this._limits.parkMs, () => {
      this._stopParkClock = undefined;
      const waits = this._openWaits();
      if (this._isOver() || waits.length === 0) return;
      const isHeld = waits.some((wait) => wait.for === "answer" && this._maskedCalls.has(wait.callId));
      if (waits.length === this._gate.openCalls.size && !isHeld) this._park(waits);
      else this._watchWaits();
    });
  }

  private _openWaits(): readonly Wait[] {
    return [...this._gate.openCalls].flatMap(([callId, name]) => this._waits?.waitOf(callId, name) ?? []);
  }

  private _isOver(): boolean {
    return this._isComplete || this._aborting !== undefined || this._parking !== undefined;
  }

  /** Ends the source. Its questions stay open for the process that continues the run. */
  private _park(waits: readonly Wait[]): void {
    this._parking = waits;
    this._waits?.end("The run was parked.");
    this._controller.abort(new DOMException("The run was parked.", "AbortError"));
    this.broadcast.hurry();
    const { abortGraceMs } = this._limits;
    const takeBack = this.options.clock.after(abortGraceMs, () => {
      this._cleanUp.stopWaiting(
        `The run was parked, but what it had started was still running ${abortGraceMs} ms later.`,
      );
      this._finishParked(waits).catch(() => undefined);
    });
    this._ended.promise.then(takeBack, takeBack);
  }

  /** Closes the handle without `done`: the log goes on in another process. Its source may not have ended. */
  private _finishParked(waits: readonly Wait[]): Promise<void> {
    this._finishingParked ??= this._closeParked(waits);
    return this._finishingParked;
  }

  private async _closeParked(waits: readonly Wait[]): Promise<void> {
    await this._cleanUp.idle();
    const times = waits.flatMap(({ until }) => until ?? []);
    const until = waits.every((one) => one.for === "time") && times.length > 0 ? Math.min(...times) : undefined;
    const isWaiting = waits.length > 0 && waits.length === this._gate.openCalls.size;
    const data = { calls: waits, ...(until !== undefined && { until }) };
    // The notice is the last event of this process.
    const mask = this._secretMask();
    if (mask !== undefined) this._showHeldBack(mask);
    // A run without events has not begun.
    const isBegun = this._gate.lastSeq >= 0;
    if (isBegun) this._publish(this._gate.pass([isWaiting ? noticeItem("parked", data) : noticeItem("suspended", {})]));
    const ms = elapsedSince(this.options.clock, this._startedAt) + (this.options.past?.activeMs ?? 0);
    await this._prepareResult();
    const result = this._accumulator.result({ ms, status: "waiting" }, this.broadcast.past());
    this._isComplete = true;
    this._status = "waiting";
    this.broadcast.close();
    this._unfollow?.();
    this._ended.resolve(this._secretMask()?.value(result) ?? result);
    this._cleanUp.end();
    await this.options.stored?.reached(this._gate.lastSeq);
    this._parked.resolve({ runId: this.id, calls: waits });
  }

  private _denyAll(reason: string): void {
    this._stopParkClock?.();
    this._waits?.end(reason);
  }

  private _write(chunks: readonly Chunk[], agent: string | undefined): Promise<void> | undefined {
    if (this._isComplete || this._parking !== undefined) return undefined;
    const mask = this._secretMask();
    const shown = mask === undefined ? chunks : mask.pass(chunks);
    if (shown !== chunks && this.options.stored !== undefined) this._noteMasked(findMaskedCalls(chunks, shown), agent);
    this._publish(this._gate.pass(shown, agent));
    if (this._replySize.failure !== undefined && !this._gate.hasFailed) this._stopAt(this._replySize.failure);
    return this._controller.signal.aborted ? undefined : this.broadcast.room();
  }

  /** Before the calls themselves: the log may end anywhere. */
  private _noteMasked(callIds: readonly string[], agent: string | undefined): void {
    const fresh = [...new Set(callIds)].filter((callId) => !this._maskedCalls.has(callId));
    for (const callId of fresh) this._maskedCalls.add(callId);
    this._publish(
      this._gate.pass(
        fresh.map((callId) => noticeItem("arguments-masked", { callId })),
        agent,
      ),
    );
  }

  private _secretMask(): ChunkMask | undefined {
    if (this._mask === undefined) {
      const secrets = this.options.secrets?.();
      this._mask = secrets === undefined ? "none" : new ChunkMask(secrets);
    }
    return this._mask === "none" ? undefined : this._mask;
  }

  private _publish(events: readonly AgentEvent[]): void {
    this.broadcast.push(events, takeIn(events, this._accumulator, this._replySize, this));
    for (const event of events) {
      const share = event.type === "message" ? sharedText(event) : undefined;
      if (share !== undefined) this.broadcast.replace(share);
    }
  }

  /** Ends the run with an error. The gate drops whatever the source still writes. */
  private _stopAt(failure: ErrorDetail): void {
    this._publish(this._gate.fail(failure));
    const takeBack = this.options.clock.after(this._limits.abortGraceMs, () => this._finishWithoutSource(undefined));
    this._ended.promise.then(takeBack, takeBack);
    this._denyAll("The run is over.");
    this._controller.abort(new DOMException(failure.message, "AbortError"));
    this.broadcast.hurry();
  }

  /** Closes the run although its source has not ended. */
  private _finishWithoutSource(reason: ErrorDetail | undefined): void {
    const finish = (): void => this._finish(reason);
    this._prepareResult().then(finish, finish);
  }

  /**
   * Searches a large result for secrets in several turns, so that `_finish` need not do it at once. Most of it was
   * searched when it was written, but not the history and not a message that was never finished.
   */
  private async _prepareResult(): Promise<void> {
    const mask = this._secretMask();
    const { nextTurn } = this.options;
    if (mask === undefined || nextTurn === undefined || this._isComplete) return;
    this._showHeldBack(mask);
    try {
      await mask.prepareValue(this._accumulator.result({ ms: 0 }, this.broadcast.past()), nextTurn);
    } catch {
      // The run has to end all the same. `_finish` searches the result at once.
    }
  }

  private _showHeldBack(mask: ChunkMask): void {
    const heldBack = mask.end();
    if (heldBack.length > 0) this._publish(this._gate.pass(heldBack));
  }

  /** Closes the run: answers open calls, emits the error if there is one, then `done`. */
  private _finish(reason: ErrorDetail | undefined): void {
    if (this._isComplete) return;
    const unstored = this.options.stored?.failure;
    const failure = unstored ?? reason;
    const gate = this._gate;
    const mask = this._secretMask();
    if (mask !== undefined) this._showHeldBack(mask);
    const aborted = this._aborting !== undefined && !this._aborting.settled;
    if (aborted)
      this._publish(gate.answerOpenCalls("aborted", "The run was aborted before this tool call was answered."));
    if (failure !== undefined) this._publish(gate.fail(mask?.value(failure) ?? failure));
    this._publish(gate.answerOpenCalls("incomplete", "The run ended before this tool call was answered."));
    const ms = elapsedSince(this.options.clock, this._startedAt) + (this.options.past?.activeMs ?? 0);
    const isAborted = aborted && unstored === undefined;
    const ending: Ending = isAborted ? { ms, status: "aborted", reason: this._aborting?.reason ?? "" } : { ms };
    const shown = this._accumulator.result(ending, this.broadcast.past());
    // The history and the reason of an abort were never events, so they have not been masked yet.
    const result = mask?.value(shown) ?? shown;
    this._isComplete = true;
    this._status = result.status;
    const done = gate.done(result);
    this.broadcast.push([done], weighItem(done));
    this.broadcast.close();
    this._unfollow?.();
    this._denyAll("The run is over.");
    this._ended.resolve(result);
    this._parked.resolve(undefined);
    this._cleanUp.end();
  }
}

/** How many events of the past are taken in at a time. */
const PAST_PIECE = 256;

const NO_RESULT: ErrorDetail = {
  code: "no-result",
  message: "The stream ended without a result, so it cannot count as a success.",
  terminal: true,
};

/**
 * Passes new events to the accumulator, the size check and the open questions. Returns the total weight of the events.
 */
function takeIn(
  events: readonly AgentEvent[],
  accumulator: Accumulator,
  replySize: ReplySize,
  run: Pick<RunState, "noteDecision" | "noteParked" | "noteResult">,
): number {
  let weight = 0;
  for (let at = 0; at < events.length; at += 1) {
    const event = events[at] as AgentEvent;
    if (isDelta(event)) {
      const end = endOfRow(events, at, event.messageId);
      accumulator.noteDelta(event.messageId);
      const characters = measureDeltas(events, at, end);
      replySize.addRow({ events, from: at, end }, characters);
      weight += characters + EVENT_WEIGHT * (end - at);
      at = end - 1;
    } else {
      accumulator.add(event);
      weight += weighItem(event);
      if (event.type === "message") replySize.addMessage(event);
      if (event.type === "notice" && event.kind === "retract") replySize.retract(event.data as Retraction);
      if (event.type === "permission") run.noteDecision(event);
      if (event.type === "tool-result") run.noteResult(event);
      if (event.type === "notice" && event.kind === "call-parked") run.noteParked(event);
    }
  }
  return weight;
}

/** Returns the end of the row of deltas of one message; only deltas have a `messageId`. */
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
