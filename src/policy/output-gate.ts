import { type Chunk, describeThrown, type MessageItem, type ResultItem, type Retraction, textOf } from "#domain";
import type { OutputMode } from "./guard.ts";
import { finishInBuffer, finishInWindow, guardHeld } from "./guard-message.ts";
import { type GuardContext, runGuards, type CompiledGuard } from "./guards.ts";
import type { HeldMessage, WordDelta } from "./held-message.ts";
import { OutputQueue } from "./output-queue.ts";
import type { OutputGate } from "./policy.ts";
import { parseJson, rewriteResult } from "./rewrite-result.ts";

export interface GateSettings {
  readonly guards: readonly CompiledGuard[];
  readonly mode: OutputMode;
  readonly ground: GuardContext;
}

/** Creates the gate of one leg. Without guards it lets everything through. */
export function createOutputGate(settings: GateSettings): OutputGate {
  if (settings.guards.length > 0) return new GuardedOutput(settings);
  return { pass: (chunks) => Promise.resolve(chunks), drop: () => undefined, denial: undefined };
}

/** A class, because it is called once per delta: closures are optimised anew for every leg they serve. */
class GuardedOutput implements OutputGate {
  private readonly _guards: readonly CompiledGuard[];
  private readonly _ground: GuardContext;
  /** How many characters may be held; none: the whole message. */
  private readonly _window: number | undefined;
  private readonly _lanes = new Map<string | undefined, OutputQueue>();
  private _tail: Promise<unknown> = Promise.resolve();
  private _denial: OutputGate["denial"];
  /** A guard has replaced something: from here on frames as they came would give it away. */
  private _isChanged = false;
  /** What the last message of the agent itself said, and what of it went out. Results repeat it. */
  private _last = { came: "", passed: "" };

  constructor({ guards, mode, ground }: GateSettings) {
    this._guards = guards;
    this._ground = ground;
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
    for (const lane of this._lanes.values()) lane.drop(messageId);
  }

  private async _passAll(chunks: readonly Chunk[]): Promise<readonly Chunk[]> {
    const out: Chunk[] = [];
    try {
      for (const lane of this._lanes.values()) lane.release(out);
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
    if (this._ground.place.signal.aborted) return this._takeAborted(chunk, out);
    const lane = this._laneOf(chunk.parent);
    switch (chunk.type) {
      case "text-delta":
      case "thinking-delta":
        return this._takeWords(lane, chunk, out);
      case "tool-input-delta": {
        const message = lane.messages.get(chunk.messageId);
        if (this._window !== undefined && message?.current !== undefined) {
          return this._endBlock(lane, message, out).then(() => this._queue(lane, chunk, out));
        }
        return this._queue(lane, chunk, out);
      }
      case "message":
        return chunk.role === "assistant" ? this._takeMessage(lane, chunk, out) : this._queue(lane, chunk, out);
      case "result":
        return this._takeResult(lane, chunk, out);
      case "notice":
        if (chunk.kind === "retract") this._retract(chunk.data as Partial<Retraction> | null);
        return this._queue(lane, chunk, out);
      case "error":
        if (chunk.terminal) this._giveUp(out);
        return this._queue(lane, chunk, out);
      default:
        return this._queue(lane, chunk, out);
    }
  }

  private _takeWords(lane: OutputQueue, delta: WordDelta, out: Chunk[]): Promise<void> | undefined {
    if (this._denial !== undefined) return undefined;
    const message = lane.open(delta.messageId);
    if (this._window === undefined) {
      lane.hold(message, delta);
      return undefined;
    }
    if (message.current !== undefined && message.current !== delta.index) {
      return this._endBlock(lane, message, out).then(() => this._takeWords(lane, delta, out));
    }
    message.current = delta.index;
    const block = lane.hold(message, delta);
    return block.heldCharacters > this._window ? this._guardHeld(lane, message, out) : undefined;
  }

  /** `window`: another block of the message begins. */
  private async _endBlock(lane: OutputQueue, message: HeldMessage, out: Chunk[]): Promise<void> {
    await this._guardHeld(lane, message, out);
    message.current = undefined;
  }

  private async _guardHeld(lane: OutputQueue, message: HeldMessage, out: Chunk[]): Promise<void> {
    if (message.current !== undefined) await guardHeld(message, message.current, this._ask);
    if (this._denial === undefined) lane.release(out);
  }

  private async _takeMessage(lane: OutputQueue, item: MessageItem, out: Chunk[]): Promise<void> {
    const message = lane.open(item.id);
    const finished =
      this._window === undefined
        ? await finishInBuffer(item, message, this._ask)
        : await finishInWindow(item, message, { lane, ask: this._ask });
    if (finished === undefined || message.isDropped || this._denial !== undefined) return;
    lane.messages.delete(item.id);
    if (item.parent === undefined) this._last = { came: textOf(item.blocks), passed: textOf(finished.blocks) };
    this._queue(lane, finished, out);
  }

  /** A verdict repeats what was said; it must not say more. */
  private async _takeResult(lane: OutputQueue, item: ResultItem, out: Chunk[]): Promise<void> {
    lane.dropAll();
    const text = item.text === this._last.came ? this._last.passed : await this._askAbout(item.text);
    const structured = item.structured === undefined ? undefined : JSON.stringify(item.structured);
    const passed = await this._askAbout(structured);
    if (this._denial !== undefined) return;
    const isSame = text === item.text && passed === structured;
    const given = { ...item, text, structured: passed === structured ? item.structured : parseJson(passed) };
    this._queue(lane, isSame ? item : rewriteResult(given), out);
  }

  private async _askAbout(text: string | undefined): Promise<string | undefined> {
    return text === undefined ? undefined : this._ask(text, "");
  }

  /** A field, not a method: it is handed on. */
  private readonly _ask = async (text: string, before: string): Promise<string | undefined> => {
    if (this._denial !== undefined) return undefined;
    if (text === "") return text;
    const verdict = await runGuards(this._guards, { value: text, before }, this._ground);
    switch (verdict.kind) {
      case "passed":
        if (verdict.isReplaced) this._isChanged = true;
        return String(verdict.value);
      case "denied":
        this._deny(verdict);
        return undefined;
      case "aborted":
        for (const lane of this._lanes.values()) lane.dropAll();
        return undefined;
    }
  };

  private _deny({ guard, reason }: { readonly guard: string; readonly reason: string }): void {
    this._denial ??= { guard, reason };
    this._lanes.clear();
  }

  private _retract(retraction: Partial<Retraction> | null): void {
    const { messageId, fromIndex } = retraction ?? {};
    if (messageId === undefined) return;
    for (const lane of this._lanes.values()) lane.drop(messageId, fromIndex);
  }

  /** What is not finished will not be: its text is let go of, and what waited behind it comes. */
  private _giveUp(out: Chunk[]): void {
    for (const lane of this._lanes.values()) {
      lane.dropAll();
      lane.release(out);
    }
  }

  /** No guard is asked any more, so nothing comes that one would have to see. */
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

  private _queue(lane: OutputQueue, chunk: Chunk, out: Chunk[]): undefined {
    if (this._denial !== undefined) return;
    const clean = this._clean(chunk);
    if (lane.isEmpty) out.push(clean);
    else {
      lane.queue(clean);
      lane.release(out);
    }
  }

  private _clean(chunk: Chunk): Chunk {
    if (!this._isChanged || chunk.raw === undefined) return chunk;
    const { raw: _raw, ...kept } = chunk;
    return kept as Chunk;
  }

  private _laneOf(parent: string | undefined): OutputQueue {
    let lane = this._lanes.get(parent);
    if (lane === undefined) {
      lane = new OutputQueue(parent);
      this._lanes.set(parent, lane);
    }
    return lane;
  }
}
