import {
  type ChunkOf,
  type Chunk,
  describeThrown,
  type MessageItem,
  type ResultItem,
  resultItem,
  type Retraction,
  textOf,
} from "#domain";
import { finishInBuffer, finishInWindow, guardHeld } from "./guard-message.ts";
import type { OutputMode } from "./guard.ts";
import { type CompiledGuard, type GuardContext, runGuards } from "./guards.ts";
import type { HeldMessage, WordDelta } from "./held-message.ts";
import { OutputQueue } from "./output-queue.ts";
import type { OutputGate } from "./policy.ts";

export interface GateSettings {
  readonly guards: readonly CompiledGuard[];
  readonly mode: OutputMode;
  readonly context: GuardContext;
}

/** Creates the gate of one leg. Without guards, everything passes. */
export function createOutputGate(settings: GateSettings): OutputGate {
  if (settings.guards.length > 0) return new GuardedOutput(settings);
  return { pass: (chunks) => Promise.resolve(chunks), drop: () => undefined, denial: undefined };
}

class GuardedOutput implements OutputGate {
  private readonly _guards: readonly CompiledGuard[];
  private readonly _context: GuardContext;
  /** How many characters may be held back; `undefined`: the whole message. */
  private readonly _window: number | undefined;
  private readonly _queues = new Map<string | undefined, OutputQueue>();
  private _tail: Promise<unknown> = Promise.resolve();
  private _denial: OutputGate["denial"];
  /** A guard has replaced something: from now on, raw frames are dropped, because they would reveal the original. */
  private _isChanged = false;
  /** The text of the agent's own last message as received, and the part that was released. Results repeat it. */
  private _last = { came: "", passed: "" };

  constructor({ guards, mode, context }: GateSettings) {
    this._guards = guards;
    this._context = context;
    this._window = mode === "buffer" ? undefined : mode.windowCharacters;
  }

  get denial(): OutputGate["denial"] {
    return this._denial;
  }

  pass(chunks: readonly Chunk[]): Promise<readonly Chunk[]> {
    const passed = this._tail.then(() => this._passAll(chunks));
    this._tail = passed;
    return passed;
  }

  drop(messageId: string): void {
    for (const queue of this._queues.values()) queue.drop(messageId);
  }

  private async _passAll(chunks: readonly Chunk[]): Promise<readonly Chunk[]> {
    const out: Chunk[] = [];
    try {
      for (const queue of this._queues.values()) queue.release(out);
      for (const chunk of chunks) {
        if (this._denial !== undefined) break;
        const pending = this._take(chunk, out);
        if (pending !== undefined) await pending;
      }
    } catch (thrown) {
      this._deny({ guard: this._guards[0]?.name ?? "", reason: `It could not be asked: ${describeThrown(thrown)}` });
    }
    return out;
  }

  private _take(chunk: Chunk, out: Chunk[]): Promise<void> | undefined {
    if (this._context.place.signal.aborted) return this._takeAborted(chunk, out);
    const queue = this._queueOf(chunk.parent);
    switch (chunk.type) {
      case "text-delta":
      case "thinking-delta":
        return this._takeWords(queue, chunk, out);
      case "tool-input-delta": {
        const message = queue.messages.get(chunk.messageId);
        if (this._window !== undefined && message?.current !== undefined) {
          return this._endBlock(queue, message, out).then(() => this._queue(queue, chunk, out));
        }
        return this._queue(queue, chunk, out);
      }
      case "message":
        return chunk.role === "assistant" ? this._takeMessage(queue, chunk, out) : this._queue(queue, chunk, out);
      case "result":
        return this._takeResult(queue, chunk, out);
      case "notice":
        if (chunk.kind === "retract") this._retract(chunk.data as Partial<Retraction> | null);
        return this._queue(queue, chunk, out);
      case "error":
        if (chunk.terminal) this._giveUp(out);
        return this._queue(queue, chunk, out);
      default:
        return this._queue(queue, chunk, out);
    }
  }

  private _takeWords(queue: OutputQueue, delta: WordDelta, out: Chunk[]): Promise<void> | undefined {
    if (this._denial !== undefined) return undefined;
    const message = queue.open(delta.messageId);
    if (this._window === undefined) {
      queue.hold(message, delta);
      return undefined;
    }
    if (message.current !== undefined && message.current !== delta.index) {
      return this._endBlock(queue, message, out).then(() => this._takeWords(queue, delta, out));
    }
    message.current = delta.index;
    const block = queue.hold(message, delta);
    return block.heldCharacters > this._window ? this._guardHeld(queue, message, out) : undefined;
  }

  /** `window`: the next block of the message begins. */
  private async _endBlock(queue: OutputQueue, message: HeldMessage, out: Chunk[]): Promise<void> {
    await this._guardHeld(queue, message, out);
    message.current = undefined;
  }

  private async _guardHeld(queue: OutputQueue, message: HeldMessage, out: Chunk[]): Promise<void> {
    if (message.current !== undefined) await guardHeld(message, message.current, this._ask);
    if (this._denial === undefined) queue.release(out);
  }

  private async _takeMessage(queue: OutputQueue, item: ChunkOf<MessageItem>, out: Chunk[]): Promise<void> {
    const message = queue.open(item.id);
    const finished =
      this._window === undefined
        ? await finishInBuffer(item, message, this._ask)
        : await finishInWindow(item, message, { queue, ask: this._ask });
    if (finished === undefined || message.isDropped || this._denial !== undefined) return;
    queue.messages.delete(item.id);
    if (item.parent === undefined) this._last = { came: textOf(item.blocks), passed: textOf(finished.blocks) };
    this._queue(queue, finished, out);
  }

  /** A result repeats the text of the reply; it must not reveal more than was released. */
  private async _takeResult(queue: OutputQueue, item: ChunkOf<ResultItem>, out: Chunk[]): Promise<void> {
    queue.dropAll();
    const text = item.text === this._last.came ? this._last.passed : await this._askAbout(item.text);
    const structured = item.structured === undefined ? undefined : JSON.stringify(item.structured);
    const passed = await this._askAbout(structured);
    if (this._denial !== undefined) return;
    const isSame = text === item.text && passed === structured;
    const given = { ...item, text, structured: passed === structured ? item.structured : parseJson(passed) };
    this._queue(queue, isSame ? item : rewriteResult(given), out);
  }

  private async _askAbout(text: string | undefined): Promise<string | undefined> {
    return text === undefined ? undefined : this._ask(text, "");
  }

  /** An arrow function because it is passed on as a callback. */
  private readonly _ask = async (text: string, before: string): Promise<string | undefined> => {
    if (this._denial !== undefined) return undefined;
    if (text === "") return text;
    const verdict = await runGuards(this._guards, { value: text, before }, this._context);
    switch (verdict.kind) {
      case "passed":
        if (verdict.isReplaced) this._isChanged = true;
        return String(verdict.value);
      case "denied":
        this._deny(verdict);
        return undefined;
      case "aborted":
        for (const queue of this._queues.values()) queue.dropAll();
        return undefined;
    }
  };

  private _deny({ guard, reason }: { readonly guard: string; readonly reason: string }): void {
    this._denial ??= { guard, reason };
    this._queues.clear();
  }

  private _retract(retraction: Partial<Retraction> | null): void {
    const { messageId, fromIndex } = retraction ?? {};
    if (messageId === undefined) return;
    for (const queue of this._queues.values()) queue.drop(messageId, fromIndex);
  }

  /** Unfinished messages will never be finished: drops their text and releases what was queued after it. */
  private _giveUp(out: Chunk[]): void {
    for (const queue of this._queues.values()) {
      queue.dropAll();
      queue.release(out);
    }
  }

  /** After an abort no guard is asked, so content that would need one is dropped. */
  private _takeAborted(chunk: Chunk, out: Chunk[]): undefined {
    this._giveUp(out);
    switch (chunk.type) {
      case "text-delta":
      case "thinking-delta":
      case "tool-input-delta":
        return;
      case "message":
        if (chunk.role === "user") out.push(chunk);
        return;
      case "result":
        out.push(rewriteResult({ ...chunk, text: undefined, structured: undefined }));
        return;
      default:
        out.push(this._clean(chunk));
    }
  }

  private _queue(queue: OutputQueue, chunk: Chunk, out: Chunk[]): undefined {
    if (this._denial !== undefined) return;
    const clean = this._clean(chunk);
    if (queue.isEmpty) out.push(clean);
    else {
      queue.queue(clean);
      queue.release(out);
    }
  }

  private _clean(chunk: Chunk): Chunk {
    if (!this._isChanged || chunk.raw === undefined) return chunk;
    const { raw: _raw, ...kept } = chunk;
    return kept as Chunk;
  }

  private _queueOf(parent: string | undefined): OutputQueue {
    let queue = this._queues.get(parent);
    if (queue === undefined) {
      queue = new OutputQueue(parent);
      this._queues.set(parent, queue);
    }
    return queue;
  }
}

type ResultFields = { readonly [Name in keyof ChunkOf<ResultItem>]: ResultItem[Name] | undefined };

/** A result with other text, and without the raw frame, which holds the original. */
function rewriteResult(fields: ResultFields): ChunkOf<ResultItem> {
  const { type: _type, raw: _raw, ...kept } = fields;
  const present = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return resultItem(present as unknown as Parameters<typeof resultItem>[0]);
}

/** The parsed JSON, or `undefined` if it is not valid. */
function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
