import { type AgentEvent, RunError, type RunResult, watchesOnly } from "#domain";
import type { Decision } from "#policy";
import { callSafely, handled } from "#streams";
import type { HandleJson, ResponseOptions, Run, RunSource, TextResponseOptions, Topic, TopicEvent } from "./run.ts";
import { RunState, type RunHandleOptions } from "./run-state.ts";
import { readPartials } from "./run-partial.ts";
import { eventResponse, textResponse } from "./run-response.ts";
import { createTextReader, failureOf } from "./run-text.ts";

export { RUN_LIMITS, type RunHandleOptions } from "./run-state.ts";

/**
 * Starts a source and gives the handle on its run. The source begins in a microtask: a listener attached in the
 * same turn misses nothing.
 *
 * @example
 * const run = createRun(async (writer) => { writer.write([resultItem({ subtype: "success", isError: false, usage: {} })]) }, world)
 */
export function createRun<Output = string>(source: RunSource, options: RunHandleOptions): Run<Output> {
  const core = new RunState(options);
  queueMicrotask(() => void core.carryOut(source));
  return new RunHandle<Output>(core);
}

/** What `console.log` asks for, as a symbol that needs no import of Node's. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

/** A handle in one line: its kind, and what is known of it. */
export function describeHandle(kind: string, fields: HandleJson): string {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return `${kind} { ${known.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ")} }`;
}

type AnyListener = (event: never) => void;

/** A run from outside. */
class RunHandle<Output> implements Run<Output> {
  readonly id: string;
  private readonly _core: RunState;
  private _isDetached = false;
  /** What ends each listener, by topic. Made for the first one. */
  private _listeners: Map<AnyListener, Map<Topic, () => void>> | undefined;

  constructor(core: RunState) {
    this.id = core.id;
    this._core = core;
  }

  /** One line for `console.log`. What a run holds inside is nobody's concern, and seventy lines long. */
  [INSPECT](): string {
    return describeHandle("Run", this.toJSON());
  }

  toJSON(): HandleJson {
    const { id, options, state } = this._core;
    return { id, target: options.target, state };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<AgentEvent, undefined> {
    return this._read(this._core.addAnswerer());
  }

  text(): AsyncIterableIterator<string, undefined> {
    return readText(this._events());
  }

  result(): Promise<RunResult> {
    return this._core.waitForEnd();
  }

  output(): Promise<Output> {
    const output = this._core.waitForEnd().then((result) => {
      const failure = failureOf(result);
      if (failure !== undefined) throw failure;
      if (this._core.output !== undefined) return this._core.output.value as Output;
      return (result.structured === undefined ? result.text : result.structured) as Output;
    });
    return handled(output);
  }

  partialOutput(): AsyncIterableIterator<unknown, undefined> {
    return readPartials(this._events(), this._core.options.isOutputWrapped === true);
  }

  toResponse(options?: ResponseOptions): Response {
    return eventResponse(this, this._core.options.clock, options);
  }

  toTextResponse(options?: TextResponseOptions): Response {
    return textResponse({ id: this.id, ...this._events() }, this._core.options.clock, options);
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
    return this._core.waitForEnd().then(() => undefined);
  }

  get closed(): Promise<void> {
    return this._core.closed;
  }

  isComplete(): boolean {
    return this._core.isComplete;
  }

  abort(reason?: unknown): Promise<void> {
    return this._core.abort(reason);
  }

  detach(): this {
    this._isDetached = true;
    return this;
  }

  answer(callId: string, decision: Decision): boolean {
    return this._core.answer(callId, decision);
  }

  sessionId(): string {
    const { sessionId, isComplete } = this._core;
    if (sessionId !== undefined) return sessionId;
    throw new RunError(
      "session-id-unknown",
      isComplete
        ? "The backend never said a session id, so this conversation cannot be resumed."
        : "The backend has not said its session id yet. Wait for the 'start' event.",
    );
  }

  /** The events for a reader that shows none of them to anybody: nobody learns of a question there. */
  private _events(): AsyncIterable<AgentEvent> {
    return { [Symbol.asyncIterator]: () => this._read(() => undefined) };
  }

  private _read(onLeave: () => void): AsyncIterableIterator<AgentEvent, undefined> {
    return this._core.broadcast.read(async () => {
      onLeave();
      if (!this._isDetached && !this._core.isComplete) await this._core.abort("The reader left the loop.");
    });
  }

  private _listen<Name extends Topic>(topic: Name, listener: (event: TopicEvent<Name>) => void, once: boolean): void {
    this._stopListening(topic, listener);
    let reported = false;
    const report = (error: unknown): void => {
      if (reported) return;
      reported = true;
      // Whoever hears of errors is a listener too.
      callSafely(
        () => this._core.options.onListenerError(error),
        () => undefined,
      );
    };
    const stop = this._core.broadcast.listen((event) => {
      if (topic !== "*" && event.type !== topic) return;
      if (once) this._stopListening(topic, listener);
      callSafely(() => listener(event as TopicEvent<Name>), report);
    }, report);
    const isTold = topic === "permission" || topic === "*";
    const leave = isTold && !watchesOnly(listener) ? this._core.addAnswerer() : undefined;
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
