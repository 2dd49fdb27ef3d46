import type { AgentEvent, Chunk, EventOf, EventType, RunResult } from "#domain";
import type { Decision } from "#policy";
import type { LazyAbort } from "#streams";
import type { ReportOptions } from "#views";

/** What `on` may listen to: one type of event, or all of them. */
export type Topic = EventType | "*";

/** The event a topic brings. */
export type TopicEvent<Name extends Topic> = Name extends EventType ? EventOf<Name> : AgentEvent;

/** How a run becomes the answer to a web request. */
export interface ResponseOptions {
  /** The words of the stream: our own events (`millrace`, the default), or those of another vocabulary. */
  readonly events?: "millrace" | "runner" | "chat";
  /** Which tool results are artifacts, and which documents they used, in the words of `runner` and `chat`. */
  readonly reports?: ReportOptions;
  /** Further headers, and others in the place of ours. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is shown of a run or a session: by `JSON.stringify`, and in one line by `console.log`. */
export interface HandleJson {
  readonly id: string;
  /** Who answers. */
  readonly target?: string | undefined;
  readonly state: string;
}

/** The options of `run.toTextResponse`. */
export type TextResponseOptions = Pick<ResponseOptions, "headers">;

/**
 * The one handle on a run: iterate it, listen to it, wait for it, end it.
 *
 * The run goes on whether or not anybody reads. Every reader and listener sees every event from the first one on,
 * in order, however late it comes; one that comes late may get neighbouring deltas merged. While a reader lags, the
 * source is paused. No order of use gives an unhandled rejection.
 *
 * @example
 * const answer = run("offline", "What is 25 + 17?")
 * for await (const event of answer) if (event.type === "text-delta") process.stdout.write(event.text)
 * const { status, usage } = await answer.result()
 */
export interface Run<Output = string> extends AsyncIterable<AgentEvent> {
  readonly id: string;
  /** Every event in order; ends after `done`; never throws. Leaving the loop aborts the run, unless it is detached. */
  [Symbol.asyncIterator](): AsyncIterableIterator<AgentEvent, undefined>;
  /**
   * The text of every message, as it is written, with a blank line between messages. Throws `RunError` at the end if the run did not succeed, and
   * (`text-retracted`) when text already given turns out void and its replacement reads differently.
   */
  text(): AsyncIterableIterator<string, undefined>;
  /** The final value. Never rejects. While somebody waits here, a lagging reader no longer holds the run back. */
  result(): Promise<RunResult>;
  /** The text of the final message, or the value of the `output` schema. Rejects with `RunError` if the run did not succeed. */
  output(): Promise<Output>;
  /**
   * The value of the `output` schema while it is being written: texts may be cut, fields missing, nothing is checked.
   * Not every step is given, only enough to follow; `output()` gives the whole and checked value. Throws as `text()` does.
   */
  partialOutput(): AsyncIterableIterator<unknown, undefined>;
  /**
   * The run as the answer to a web request: its events as server-sent events, or in the words of another vocabulary. It
   * is read as fast as the client reads; a client that leaves aborts the run, unless it is detached.
   *
   * @example
   * app.post("/chat", async (request) => run("offline", await request.text()).toResponse())
   */
  toResponse(options?: ResponseOptions): Response;
  /** The same for the text alone. The body breaks off with an error when the run does not succeed. */
  toTextResponse(options?: TextResponseOptions): Response;
  /** Calls `listener` for every event of the topic from the first one on; what it throws is reported, and hurts nobody. */
  on<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void): this;
  /** Ends what `on` or `once` began. */
  off<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void): this;
  /** As `on`, for the first such event only. */
  once<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void): this;
  /** Resolves after `done`. Never rejects. */
  done(): Promise<void>;
  isComplete(): boolean;
  /**
   * Resolves when `done` was given and nothing that the run started is left. `done` follows the verdict at once; a
   * process that is slow to go is stopped after it. Wait for this before you end your program. Never rejects.
   */
  readonly closed: Promise<void>;
  /**
   * Ends the run. Resolves with `closed`: everything the run started is gone and `done` was given. The result's status
   * is then `aborted`, unless the run had already come to its own verdict. Idempotent. On a complete run it only
   * hurries what is still being stopped.
   */
  abort(reason?: unknown): Promise<void>;
  /** From now on leaving a loop does not abort the run. */
  detach(): this;
  /** Answers a pending permission question. `false`: nobody asks (any more); late answers change nothing. */
  answer(callId: string, decision: Decision): boolean;
  /** The backend's id of the conversation. Throws `RunError` (`session-id-unknown`) before the backend said it. */
  sessionId(): string;
  /** What `JSON.stringify` writes of a run: `state` is `running`, and afterwards the status of its result. */
  toJSON(): HandleJson;
}

/**
 * What a source does with its run: write chunks, mind the signal, ask questions.
 *
 * The run keeps the promises of the event model whatever the source does: it numbers events, answers tool calls the
 * source left open, lets at most one terminal error through, and ends with exactly one `done`.
 */
export interface RunWriter {
  readonly runId: string;
  /** Fires when the run is to end. The source then releases what it holds and returns. */
  readonly latch: LazyAbort;
  /**
   * Takes chunks; from now on they are events. `undefined`: write on. A promise: readers lag, so wait for it before
   * writing more; it never rejects and resolves at once when the run is aborted.
   */
  write(chunks: readonly Chunk[], agent?: string): Promise<void> | undefined;
  /** Waits for `run.answer(callId, …)`. An abort answers it with a denial. */
  ask(callId: string): Promise<Decision>;
  /**
   * Whether anybody could answer a question: somebody reads the events, or listens for `permission` or for all of them.
   * Left out by sources of questions that are always answered.
   */
  readonly canAnswer?: (() => boolean) | undefined;
  /** Takes the value of the output schema where events cannot hold it: `run.output()` gives it. */
  readonly giveOutput?: ((value: unknown) => void) | undefined;
  /**
   * Takes over work that ends what the source has started, so that the source need not wait for it: `done` does not
   * wait either, but `run.closed` and `run.abort()` do. A rejection, or work that takes longer than `maxMs` (default
   * 30 000), is reported as a warning of the process.
   */
  cleanUp(work: Promise<unknown>, options?: CleanUpOptions): void;
}

export interface CleanUpOptions {
  /** `Infinity` for what may stay until the caller aborts the run. */
  readonly maxMs?: number | undefined;
}

/**
 * Carries out a run. Its promise settles when everything it started is gone or was handed to `cleanUp`; a rejection is
 * a terminal error.
 */
export type RunSource = (writer: RunWriter) => Promise<void>;
