import {
  type Chunk,
  type DeltaEvent,
  type ErrorItem,
  isDelta,
  type MessageItem,
  type ToolCallItem,
  type ToolResultBlock,
  type Usage,
} from "#domain";
import type { Renamer, Writable } from "./unique-ids.ts";

type DeltaItem = Extract<Chunk, DeltaEvent>;
type CallDelta = Extract<Chunk, { readonly type: "tool-input-delta" }>;

/**
 * Looks at one reply while it passes: remembers what the loop needs, and leaves out what readers get from us.
 *
 * A class, because it is called once per delta: closures are optimised anew for every reply they serve.
 */
export class ReplyObserver {
  private readonly _renamer: Renamer;
  private readonly _onSpent: (usage: Usage) => void;
  private readonly _shown = new Set<string>();
  private readonly _calls: ToolCallItem[] = [];
  private _answers: Map<string, ToolResultBlock> | undefined;
  private _message: MessageItem | undefined;
  private _error: ErrorItem | undefined;

  /** `renamer` sees to it that no id of the run comes twice; `onSpent` hears what a reply has used that came to nothing. */
  constructor(renamer: Renamer, onSpent: (usage: Usage) => void) {
    this._renamer = renamer;
    this._onSpent = onSpent;
  }

  /** Messages of which deltas were shown and which are not finished. */
  get shown(): ReadonlySet<string> {
    return this._shown;
  }

  get message(): MessageItem | undefined {
    return this._message;
  }

  /** A terminal error. It is held back: the turn may be tried again, and whoever gives up on it writes it. */
  get error(): ErrorItem | undefined {
    return this._error;
  }

  /** The calls nobody has answered yet. A format answers those itself whose arguments are not JSON. */
  openCalls(): readonly ToolCallItem[] {
    return this._answers === undefined
      ? this._calls
      : this._calls.filter((call) => this._answers?.has(call.callId) !== true);
  }

  /** What the format has answered itself. */
  answers(): readonly ToolResultBlock[] {
    return this._answers === undefined ? [] : [...this._answers.values()];
  }

  /** The chunks readers are to see. */
  pass(batch: readonly Chunk[]): Chunk[] {
    const passed: Chunk[] = [];
    for (let at = 0; at < batch.length; ) {
      const chunk = batch[at] as Chunk;
      at += 1;
      if (isDelta(chunk)) {
        at = this._passRow(chunk, batch, at, passed);
      } else {
        this._renamer.rename(chunk);
        if (this._passItem(chunk)) passed.push(chunk);
      }
    }
    return passed;
  }

  /** Passes a delta and those behind it that go on where it leaves off; returns where they end. */
  private _passRow(first: DeltaItem, batch: readonly Chunk[], from: number, passed: Chunk[]): number {
    const vendor = {
      messageId: first.messageId,
      callId: first.type === "tool-input-delta" ? first.callId : undefined,
    };
    this._renamer.rename(first);
    this._shown.add(first.messageId);
    passed.push(first);
    return passRow(first, vendor, batch, from, passed);
  }

  private _passItem(chunk: Chunk): boolean {
    switch (chunk.type) {
      case "start":
        return false;
      case "message":
        this._message = chunk;
        this._shown.delete(chunk.id);
        return true;
      case "tool-call":
        this._calls.push(chunk);
        return true;
      case "tool-result":
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
        return !chunk.terminal;
      default:
        return true;
    }
  }
}

/**
 * Passes deltas that bear the ids the host gave to the first one of their row. A loop of its own: it alone runs once
 * per delta.
 */
function passRow(
  first: DeltaItem,
  vendor: { readonly messageId: string; readonly callId: string | undefined },
  batch: readonly Chunk[],
  from: number,
  passed: Chunk[],
): number {
  const { messageId, callId } = vendor;
  let at = from;
  for (; at < batch.length; at += 1) {
    const next = batch[at] as Writable<DeltaItem>;
    if (next.type !== first.type || next.messageId !== messageId) break;
    if (next.type === "tool-input-delta") {
      if (next.callId !== callId) break;
      next.callId = (first as CallDelta).callId;
    }
    next.messageId = first.messageId;
    passed.push(next);
  }
  return at;
}
