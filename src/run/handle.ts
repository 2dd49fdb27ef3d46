import { type AgentEvent, RunError, type RunResult, watchesOnly } from "#domain";
import type { Decision } from "#policy";
import { callSafely, handled } from "#streams";
import type { GivenResult } from "./open-waits.ts";
import type {
  HandleJson,
  ParkedRun,
  ResponseOptions,
  Run,
  RunSource,
  TextResponseOptions,
  Topic,
  TopicEvent,
} from "./run.ts";
import { RunState, type RunHandleOptions } from "./state.ts";
import { readPartials } from "./partial-output.ts";
import { eventResponse, textResponse } from "./response.ts";
import { createTextReader, failureOf } from "./text.ts";

export type { RunHandleOptions } from "./state.ts";

/**
 * Starts a source and returns the handle of its run. The source starts in a microtask, so a listener attached
 * synchronously misses no event.
 *
 * @example
 * const run = createRun(async (writer) => { writer.write([resultItem({ subtype: "success", isError: false, usage: {} })]) }, world)
 */
export function createRun<Output = string>(source: RunSource, options: RunHandleOptions): Run<Output> {
  const core = new RunState(options);
  queueMicrotask(() => void core.carryOut(source));
  return new RunHandle<Output>(core);
}

/**
 * The symbol `console.log` looks up. Taken from the global symbol registry so that `node:util` need not be imported.
 */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

/** Describes a handle in one line: its kind and its known fields. */
export function describeHandle(kind: string, fields: HandleJson): string {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return `${kind} { ${known.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ")} }`;
}

type AnyListener = (event: never) => void;

/** The caller's side of a run. */
class RunHandle<Output> implements Run<Output> {
  readonly id: string;
  private readonly _state: RunState;
  private _isDetached = false;
  /** The function that removes each listener, by topic. Created for the first listener. */
  private _listeners: Map<AnyListener, Map<Topic, () => void>> | undefined;

  constructor(core: RunState) {
    this.id = core.id;
    this._state = core;
  }

  /** One line for `console.log`, instead of seventy lines of internal state. */
  [INSPECT](): string {
    return describeHandle("Run", this.toJSON());
  }

  toJSON(): HandleJson {
    const { id, options, state } = this._state;
    return { id, target: options.target, state };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<AgentEvent, undefined> {
    return this._read(this._state.addAnswerer());
  }

  text(): AsyncIterableIterator<string, undefined> {
    return readText(this._events());
  }

  result(): Promise<RunResult> {
    return this._state.waitForEnd();
  }

  output(): Promise<Output> {
    const output = this._state.waitForEnd().then((result) => {
      const failure = failureOf(result);
      if (failure !== undefined) throw failure;
      if (this._state.output !== undefined) return this._state.output.value as Output;
      return (result.structured === undefined ? result.text : result.structured) as Output;
    });
    return handled(output);
  }

  partialOutput(): AsyncIterableIterator<unknown, undefined> {
    return readPartials(this._events(), this._state.options.isOutputWrapped === true);
  }

  toResponse(options?: ResponseOptions): Response {
    return eventResponse(this, this._state.options.clock, options);
  }

  toTextResponse(options?: TextResponseOptions): Response {
    return textResponse({ id: this.id, ...this._events() }, this._state.options.clock, options);
  }

  on<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void): this {
    this._listen(topic, listener, false);
    return this;
  }

  off<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void): this {
    this._stopListening(topic, listener);
    return this;
  }

  once<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void): this {
    this._listen(topic, listener, true);
    return this;
  }

  done(): Promise<void> {
    return this._state.waitForEnd().then(() => undefined);
  }

  get closed(): Promise<void> {
    return this._state.closed;
  }

  isComplete(): boolean {
    return this._state.isComplete;
  }

  abort(reason?: unknown): Promise<void> {
    return this._state.abort(reason);
  }

  detach(): this {
    this._isDetached = true;
    return this;
  }

  answer(callId: string, decision: Decision): boolean {
    return this._state.answer(callId, decision);
  }

  giveResult(callId: string, result: GivenResult): boolean {
    return this._state.giveResult(callId, result);
  }

  parked(): Promise<ParkedRun | undefined> {
    return this._state.parked;
  }

  sessionId(): string {
    const { sessionId, isComplete } = this._state;
    if (sessionId !== undefined) return sessionId;
    throw new RunError(
      "session-id-unknown",
      isComplete
        ? "The backend reported no session id, so this conversation cannot be resumed."
        : "The backend has not reported its session id yet. Wait for the 'start' event.",
    );
  }

  /**
   * The events for a reader that does not pass them on. Such a reader does not count as one that can answer questions.
   */
  private _events(): AsyncIterable<AgentEvent> {
    return { [Symbol.asyncIterator]: () => this._read(() => undefined) };
  }

  private _read(onLeave: () => void): AsyncIterableIterator<AgentEvent, undefined> {
    return this._state.broadcast.read(async () => {
      onLeave();
      if (!this._isDetached && !this._state.isComplete) await this._state.abort("The reader left the loop.");
    });
  }

  private _listen<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void, once: boolean): void {
    this._stopListening(topic, listener);
    let reported = false;
    const report = (error: unknown): void => {
      if (reported) return;
      reported = true;
      // The callback itself may throw as well.
      callSafely(
        () => this._state.options.onListenerError(error),
        () => undefined,
      );
    };
    const stop = this._state.broadcast.listen((event) => {
      if (topic !== "*" && event.type !== topic) return;
      if (once) this._stopListening(topic, listener);
      callSafely(() => listener(event as TopicEvent<Name>), report);
    }, report);
    const receivesQuestions = topic === "permission" || topic === "*";
    const leave = receivesQuestions && !watchesOnly(listener) ? this._state.addAnswerer() : undefined;
    this._listeners ??= new Map();
    const topics = this._listeners.get(listener) ?? new Map<Topic, () => void>();
    topics.set(topic, () => {
      stop();
      leave?.();
    });
    this._listeners.set(listener, topics);
  }

  private _stopListening(topic: Topic, listener: AnyListener): void {
    const topics = this._listeners?.get(listener);
    topics?.get(topic)?.();
    topics?.delete(topic);
    if (topics?.size === 0) this._listeners?.delete(listener);
  }
}

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
