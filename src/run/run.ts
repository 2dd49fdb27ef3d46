import type { AgentEvent, Chunk, EventOf, EventType, NextTurn, RunResult } from "#domain";
import { createAbortController } from "#streams";
import type { GivenResult, Wait } from "./open-waits.ts";
import type { Decision } from "#policy";
import type { ReportOptions } from "#views";

/** What `on` can listen to: one type of event, or all events. */
export type Topic = EventType | "*";

/** The event that listeners of a topic receive. */
export type TopicEvent<Name extends Topic> = Name extends EventType ? EventOf<Name> : AgentEvent;

/** Options of `run.toResponse`. */
export interface ResponseOptions {
  /** The vocabulary of the stream: Millrace's own events (`millrace`, the default) or a view of them. */
  readonly events?: "millrace" | "runner" | "chat";
  /** For `runner` and `chat`: which tool results are artifacts, and which documents they used. */
  readonly reports?: ReportOptions;
  /** Additional headers. A header with the same name as a default one replaces it. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What `JSON.stringify` writes for a run or a session, and what `console.log` shows in one line. */
export interface HandleJson {
  readonly id: string;
  /** The backend or agent that answers. */
  readonly target?: string | undefined;
  readonly state: string;
}

/** The options of `run.toTextResponse`. */
export type TextResponseOptions = Pick<ResponseOptions, "headers">;

/**
 * The handle of a run: iterate over it, listen to it, wait for it, or abort it.
 *
 * The run proceeds whether or not its events are read. Every reader and listener receives every event from the first
 * one on, in order, however late it is attached; a late one may receive neighbouring deltas merged into one. While a
 * reader lags, the source is paused. No order of use causes an unhandled rejection.
 *
 * @example
 * const answer = run("offline", "What is 25 + 17?")
 * for await (const event of answer) if (event.type === "text-delta") process.stdout.write(event.text)
 * const { status, usage } = await answer.result()
 */
export interface Run<Output = string> extends AsyncIterable<AgentEvent> {
  readonly id: string;
  /**
   * Iterates over every event in order and ends after `done`. Never throws. Leaving the loop aborts the run, unless the
   * run is detached.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<AgentEvent, undefined>;
  /**
   * The text of every message as it is written, with a blank line between messages. Throws a `RunError` at the end if
   * the run did not succeed, and one with the code `text-retracted` if text that was already yielded is retracted and
   * its replacement differs.
   */
  text(): AsyncIterableIterator<string, undefined>;
  /** Resolves with the result. Never rejects. Once this is called, a lagging reader no longer pauses the run. */
  result(): Promise<RunResult>;
  /**
   * Resolves with the text of the final message, or with the value of the `output` schema. Rejects with a `RunError` if
   * the run did not succeed.
   */
  output(): Promise<Output>;
  /**
   * The value of the `output` schema while it is being written: strings may be cut, fields may be missing, and nothing
   * is validated. Not every intermediate value is yielded, only enough to follow the progress; `output()` returns the
   * complete, validated value. Throws as `text()` does.
   */
  partialOutput(): AsyncIterableIterator<unknown, undefined>;
  /**
   * The run as the response to a web request: its events as server-sent events, in the vocabulary that `events`
   * selects. The run is read as fast as the client reads. A client that disconnects aborts the run, unless the run is
   * detached.
   *
   * @example
   * app.post("/chat", async (request) => run("offline", await request.text()).toResponse())
   */
  toResponse(options?: ResponseOptions): Response;
  /** The text of the run as the response to a web request. The body ends with an error if the run does not succeed. */
  toTextResponse(options?: TextResponseOptions): Response;
  /**
   * Calls `listener` for every event of the topic, from the first one on. An error that the listener throws is reported
   * and does not affect the run or other listeners.
   */
  on<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void): this;
  /** Removes a listener that was added with `on` or `once`. */
  off<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void): this;
  /** Same as `on`, for the first such event only. */
  once<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void): this;
  /** Resolves after `done`. Never rejects. */
  done(): Promise<void>;
  isComplete(): boolean;
  /**
   * Resolves when `done` was emitted and nothing that the run started is left. `done` is emitted right after the
   * verdict; a process that is slow to exit is stopped afterwards. Wait for this before you end your program. Never
   * rejects.
   */
  readonly closed: Promise<void>;
  /**
   * Aborts the run. Resolves together with `closed`: `done` was emitted and everything that the run started is gone.
   * The status of the result is then `aborted`, unless the run already had a verdict. Idempotent. On a complete run, it
   * only speeds up the clean-up that is still in progress.
   */
  abort(reason?: unknown): Promise<void>;
  /** After this call, leaving a loop does not abort the run. */
  detach(): this;
  /**
   * Answers a pending permission question. Returns `false` if the question does not exist or was already answered; late
   * answers have no effect.
   */
  answer(callId: string, decision: Decision): boolean;
  /**
   * Gives the result of a call whose tool returned `park()`. Returns `false` if no such call waits for one. For a run
   * that is parked, store the result (`store.addAnswer`) and call `resumeRun`.
   */
  giveResult(callId: string, result: GivenResult): boolean;
  /**
   * Resolves when the run was parked: all of its calls wait for something outside, for longer than `limits.parkMs`.
   * Then the run is `waiting` in its store, nothing of it is left in this process, and its events end without `done`;
   * `resumeRun` continues it. Resolves to `undefined` when the run is complete. Never rejects. Only runs with a `store`
   * are parked.
   *
   * @example
   * const parked = await runStored(store, "offline", "Deploy it.").parked()
   * if (parked !== undefined) console.log("waits for", parked.calls)
   */
  parked(): Promise<ParkedRun | undefined>;
  /**
   * The backend's id of the conversation. Throws a `RunError` (`session-id-unknown`) before the backend has reported
   * it.
   */
  sessionId(): string;
  /**
   * What `JSON.stringify` writes for a run. `state` is `running` or `aborting`, and after the end the status of the
   * result.
   */
  toJSON(): HandleJson;
}

/** What a parked run waits for. */
export interface ParkedRun {
  readonly runId: string;
  readonly calls: readonly Wait[];
}

/**
 * What a source can do with its run: write chunks, watch for an abort, ask questions.
 *
 * The run keeps the promises of the event model whatever the source does: it numbers events, answers tool calls that
 * the source left open, passes at most one terminal error, and ends with exactly one `done`.
 */
export interface RunWriter {
  readonly runId: string;
  /** Fires when the run has to end. The source then releases what it holds and returns. */
  readonly signal: AbortSignal;
  /**
   * Searches large chunks for secrets before they are written, in several turns of the event loop; `write` would do it
   * at once. Returns `undefined` if there is nothing large. Omitted by writers that mask nothing.
   */
  readonly prepare?: ((chunks: readonly Chunk[], nextTurn: NextTurn) => Promise<void> | undefined) | undefined;
  /**
   * Turns chunks into events. Returns `undefined` if the source can write on, or a promise if readers lag: await it
   * before writing more. The promise never rejects, and resolves at once when the run is aborted.
   */
  write(chunks: readonly Chunk[], agent?: string): Promise<void> | undefined;
  /**
   * Waits until everything written so far is stored, before something takes effect outside: a tool, an allowed call, a
   * handoff. `false`: it will not be stored, or the run has to end; then nothing may take effect. Absent if the run is
   * not stored.
   */
  readonly commit?: (() => Promise<boolean>) | undefined;
  /** Whether the run ends only here, and another process continues it. */
  readonly isParking?: (() => boolean) | undefined;
  /** Waits for `run.answer(callId, …)`. An abort answers it with a denial. */
  ask(callId: string): Promise<Decision>;
  /**
   * Waits for `run.giveResult(callId, …)`, or for the result of a call that goes on at a time. `undefined`: the run has
   * to end.
   */
  readonly waitForResult?:
    | ((callId: string, until: number | undefined) => Promise<GivenResult | undefined>)
    | undefined;
  /**
   * Whether a question can be answered: the events are read, or there is a listener for `permission` or for all events.
   * Omitted by sources whose questions are always answered.
   */
  readonly canAnswer?: (() => boolean) | undefined;
  /** Sets the value of the output schema if events cannot hold it. `run.output()` returns it. */
  readonly giveOutput?: ((value: unknown) => void) | undefined;
  /**
   * Takes over clean-up work so that the source need not wait for it. `done` does not wait for it either, but
   * `run.closed` and `run.abort()` do. A rejection, or work that takes longer than `maxMs` (default 30 000), is
   * reported as a process warning.
   */
  cleanUp(work: Promise<unknown>, options?: CleanUpOptions): void;
}

/** The same writer, with a signal that fires with another one too. */
export function alsoEndedBy(writer: RunWriter, signal: AbortSignal): RunWriter {
  return { ...writer, signal: createAbortController(writer.signal, signal).signal };
}

/**
 * Whether something may take effect now: what was written before it is stored, and the run goes on. A run without a store
 * has the answer at once, without a promise.
 */
export function mayTakeEffect({ commit, signal }: Pick<RunWriter, "commit" | "signal">): boolean | Promise<boolean> {
  return commit === undefined ? !signal.aborted : commit().then((isStored) => isStored && !signal.aborted);
}

/** A reply may have hundreds of thousands of calls: so many of them are written in one turn of the event loop. */
const CHUNKS_IN_TURN = 512;

/**
 * Writes chunks that may be large or many: they are searched for secrets, and written, in several turns of the event
 * loop.
 */
export function writeInTurns(
  writer: Pick<RunWriter, "prepare" | "write">,
  chunks: readonly Chunk[],
  { agent, nextTurn }: { readonly agent?: string | undefined; readonly nextTurn?: NextTurn | undefined },
): Promise<void> | undefined {
  const prepared = nextTurn && writer.prepare?.(chunks, nextTurn);
  const write = (): Promise<void> | undefined =>
    nextTurn === undefined || chunks.length <= CHUNKS_IN_TURN
      ? writer.write(chunks, agent)
      : writeRows(chunks, (row) => writer.write(row, agent), nextTurn);
  return prepared === undefined ? write() : prepared.then(write);
}

async function writeRows(
  chunks: readonly Chunk[],
  write: (row: readonly Chunk[]) => Promise<void> | undefined,
  nextTurn: NextTurn,
): Promise<void> {
  for (let from = 0; from < chunks.length; from += CHUNKS_IN_TURN) {
    if (from > 0) await nextTurn();
    await write(chunks.slice(from, from + CHUNKS_IN_TURN));
  }
}

export interface CleanUpOptions {
  /** `Infinity` for work that may continue until the caller aborts the run. */
  readonly maxMs?: number | undefined;
}

/**
 * Carries out a run. The promise settles when everything it started is gone or was passed to `cleanUp`. A rejection
 * becomes a terminal error.
 */
export type RunSource = (writer: RunWriter) => Promise<void>;
