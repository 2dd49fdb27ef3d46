import type { Block, Chunk } from "#domain";

/** Makes the ids of one reply's messages and calls differ from those of all other replies of the run. */
export interface Renamer {
  /** Changes a chunk that nobody has numbered yet, and only where an id was used before. */
  rename(chunk: Chunk): void;
}

/**
 * Makes the ids of one run's messages and calls differ, whatever its hosts call them. Vendors' ids are unique over their
 * whole service; hosts that imitate them are known to call every reply `chatcmpl-1` and every first call `call_0`, and
 * readers replace messages and pair results by id.
 */
export class UniqueIds {
  private readonly _messages = new Set<string>();
  private readonly _calls = new Set<string>();
  private _made = 0;

  forReply(): Renamer {
    return new ReplyRenamer(new Names(this._messages), new Names(this._calls));
  }

  /** An id for a message of our own. */
  fresh(prefix: string): string {
    this._made += 1;
    return new Names(this._messages).of(`${prefix}-${this._made}`);
  }
}

/** The names of one reply's ids. */
class Names {
  private readonly _used: Set<string>;
  // Made for the second id: a reply is nearly always one message.
  private _names: Map<string, string> | undefined;
  // Deltas come in long rows of one message: the last answer is nearly always the next one.
  private _last: string | undefined;
  private _lastName = "";

  constructor(used: Set<string>) {
    this._used = used;
  }

  of(id: string): string {
    if (id === this._last) return this._lastName;
    if (this._last !== undefined) {
      this._names ??= new Map();
      this._names.set(this._last, this._lastName);
    }
    this._last = id;
    this._lastName = this._names?.get(id) ?? this._choose(id);
    return this._lastName;
  }

  private _choose(id: string): string {
    let name = id;
    for (let times = 2; this._used.has(name); times += 1) name = `${id}-${times}`;
    this._used.add(name);
    return name;
  }
}

/** A chunk that nobody has numbered yet may still be changed. */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

class ReplyRenamer implements Renamer {
  private readonly _messages: Names;
  private readonly _calls: Names;

  constructor(messages: Names, calls: Names) {
    this._messages = messages;
    this._calls = calls;
  }

  rename(chunk: Chunk): void {
    switch (chunk.type) {
      case "text-delta":
      case "thinking-delta": {
        const name = this._messages.of(chunk.messageId);
        if (name !== chunk.messageId) (chunk as Writable<typeof chunk>).messageId = name;
        return;
      }
      case "tool-input-delta": {
        const delta = chunk as Writable<typeof chunk>;
        delta.messageId = this._messages.of(chunk.messageId);
        delta.callId = this._calls.of(chunk.callId);
        return;
      }
      case "message": {
        const message = chunk as Writable<typeof chunk>;
        message.id = this._messages.of(chunk.id);
        message.blocks = chunk.blocks.map((block) => this._renameBlock(block));
        return;
      }
      case "tool-call":
      case "tool-result":
        (chunk as Writable<typeof chunk>).callId = this._calls.of(chunk.callId);
        return;
      case "notice":
        if (chunk.kind === "retract") {
          const data = chunk.data as { readonly messageId: string };
          (chunk as Writable<typeof chunk>).data = { ...data, messageId: this._messages.of(data.messageId) };
        }
        return;
      default:
        return;
    }
  }

  private _renameBlock(block: Block): Block {
    if (block.type !== "tool-call") return block;
    const callId = this._calls.of(block.callId);
    return callId === block.callId ? block : { ...block, callId };
  }
}
