import {
  type ChunkOf,
  type Chunk,
  callNotMade,
  type DeltaChunk,
  type ErrorItem,
  isCompleteReply,
  isDelta,
  type MessageItem,
  type ToolCallItem,
  type ToolInputDelta,
  type ToolResultBlock,
  type Usage,
  warningItem,
} from "#domain";
import type { Renamer } from "./unique-ids.ts";

/**
 * Observes one reply while it passes: records what the loop needs, and removes the chunks that the loop writes itself.
 */
export class ReplyObserver {
  private readonly _renamer: Renamer;
  private readonly _onSpent: (usage: Usage) => void;
  private readonly _shown = new Set<string>();
  private readonly _calls: ChunkOf<ToolCallItem>[] = [];
  private _answers: Map<string, ToolResultBlock> | undefined;
  private _message: ChunkOf<MessageItem> | undefined;
  private _error: ChunkOf<ErrorItem> | undefined;
  private _hasLostFrame = false;
  /** Calls of an incomplete reply. The formats drop them; a backend of a caller may not. */
  private _dropped: ReadonlySet<string> | undefined;

  /** `renamer` keeps ids unique within the run. `onSpent` receives the usage of a discarded reply. */
  constructor(renamer: Renamer, onSpent: (usage: Usage) => void) {
    this._renamer = renamer;
    this._onSpent = onSpent;
  }

  /** Messages that deltas were shown of and that are not finished. */
  get shown(): ReadonlySet<string> {
    return this._shown;
  }

  get message(): ChunkOf<MessageItem> | undefined {
    return this._message;
  }

  /**
   * A terminal error. It is held back, because the turn may be retried. The code that gives up on the turn writes it.
   */
  get error(): ChunkOf<ErrorItem> | undefined {
    return this._error;
  }

  /** Whether nothing of the reply is left, because the frames with its content could not be read. */
  get isLost(): boolean {
    return this._hasLostFrame && this._message?.blocks.length === 0;
  }

  /** The unanswered calls. A format itself answers calls whose arguments are not JSON. */
  openCalls(): readonly ChunkOf<ToolCallItem>[] {
    return this._answers === undefined
      ? this._calls
      : this._calls.filter((call) => this._answers?.has(call.callId) !== true);
  }

  /** The answers that the format gave itself. */
  answers(): readonly ToolResultBlock[] {
    return this._answers === undefined ? [] : [...this._answers.values()];
  }

  /** Returns the chunks that readers see. */
  pass(batch: readonly Chunk[]): Chunk[] {
    const passed: Chunk[] = [];
    for (let at = 0; at < batch.length; ) {
      const chunk = batch[at] as Chunk;
      const named = this._renamer.rename(chunk);
      at += 1;
      if (isDelta(named)) {
        this._shown.add(named.messageId);
        passed.push(named);
        // Most deltas continue the previous one. If its ids were not renamed, theirs need not be either.
        if (named === chunk) at = passRow(named, batch, at, passed);
      } else this._passItem(named, passed);
    }
    return passed;
  }

  private _passItem(chunk: Chunk, passed: Chunk[]): void {
    if (chunk.type === "message") passed.push(this._takeMessage(chunk));
    else if (chunk.type === "tool-call" && this._dropped?.has(chunk.callId) === true) {
      const { callId, name, input } = chunk;
      passed.push(warningItem(callNotMade({ callId, name, input }, reasonOf(this._message))));
    } else if (this._takeItem(chunk)) passed.push(chunk);
  }

  private _takeMessage(given: ChunkOf<MessageItem>): ChunkOf<MessageItem> {
    const calls = isCompleteReply(given.stopReason) ? [] : given.blocks.filter((block) => block.type === "tool-call");
    const message = calls.length === 0 ? given : withoutCalls(given);
    if (calls.length > 0) this._dropped = new Set(calls.map(({ callId }) => callId));
    this._message = message;
    this._shown.delete(message.id);
    return message;
  }

  /** Returns whether readers see the chunk. */
  private _takeItem(chunk: Chunk): boolean {
    switch (chunk.type) {
      case "start":
        return false;
      case "tool-call":
        this._calls.push(chunk);
        return true;
      case "tool-result":
        if (this._dropped?.has(chunk.callId) === true) return false;
        this._answers ??= new Map();
        this._answers.set(chunk.callId, {
          type: "tool-result",
          callId: chunk.callId,
          output: chunk.output,
          isError: chunk.isError,
        });
        return true;
      case "notice":
        if (chunk.kind === "usage") this._onSpent((chunk.data as { readonly usage: Usage }).usage);
        return true;
      case "error":
        if (chunk.terminal) this._error = chunk;
        else if (chunk.code === "json-decode") this._hasLostFrame = true;
        return !chunk.terminal;
      default:
        return true;
    }
  }
}

function reasonOf(message: ChunkOf<MessageItem> | undefined): string {
  return message?.vendorStopReason ?? message?.stopReason ?? "unknown";
}

/** An incomplete reply with its calls as unknown blocks. If it gives no other reason, the model must be told. */
function withoutCalls(message: ChunkOf<MessageItem>): ChunkOf<MessageItem> {
  return {
    ...message,
    blocks: message.blocks.map((block) => (block.type === "tool-call" ? { type: "unknown", raw: block } : block)),
    ...(message.stopReason === "unknown" && { stopReason: "malformed-call" }),
  };
}

/** Passes the deltas that have the same ids as `first` and returns where they end. The loop runs once per delta. */
function passRow(first: DeltaChunk, batch: readonly Chunk[], from: number, passed: Chunk[]): number {
  const { type, messageId } = first;
  let at = from;
  for (; at < batch.length; at += 1) {
    const next = batch[at] as Chunk;
    if (next.type !== type || (next as DeltaChunk).messageId !== messageId) break;
    if (next.type === "tool-input-delta" && next.callId !== (first as ChunkOf<ToolInputDelta>).callId) break;
    passed.push(next);
  }
  return at;
}
