import type { Block, Chunk, ChunkOf, MessageItem, NoticeItem, Retraction } from "#domain";

/** Makes the ids of one reply's messages and calls different from those of all other replies of the run. */
export interface Renamer {
  /** Returns the same chunk, or a copy with new ids if one of its ids was used by an earlier reply. */
  rename(chunk: Chunk): Chunk;
  /** The id that a call of this reply has in the run. */
  call(callId: string): string;
  /** Renames a batch. Returns the same array if nothing was renamed. */
  renameAll(chunks: readonly Chunk[]): readonly Chunk[];
}

/**
 * Keeps the ids of a run's messages and calls unique, whatever ids its hosts use. Vendors' ids are globally unique, but
 * some hosts that imitate them name every reply `chatcmpl-1` and every first call `call_0`, while readers replace
 * messages and match results by id.
 */
export class UniqueIds {
  private readonly _messages = new Set<string>();
  private readonly _calls = new Set<string>();
  private _made = 0;

  /** Ids that the run has already used, in an earlier process. */
  reserve({
    messageIds,
    callIds,
  }: {
    readonly messageIds: Iterable<string>;
    readonly callIds: Iterable<string>;
  }): void {
    for (const id of messageIds) this._messages.add(id);
    for (const id of callIds) this._calls.add(id);
  }

  forReply(): Renamer {
    return new ReplyRenamer(new Names(this._messages), new Names(this._calls));
  }

  /** Returns an id for a message that Millrace itself writes. */
  create(prefix: string): string {
    this._made += 1;
    return new Names(this._messages).of(`${prefix}-${this._made}`);
  }
}

/** Maps the ids of one reply to unique ids. */
class Names {
  private readonly _used: Set<string>;
  // Created for the second id, because a reply is nearly always one message.
  private _names: Map<string, string> | undefined;
  // Deltas come in long rows of one message, so the id is nearly always the same as the last one.
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

class ReplyRenamer implements Renamer {
  private readonly _messages: Names;
  private readonly _calls: Names;

  constructor(messages: Names, calls: Names) {
    this._messages = messages;
    this._calls = calls;
  }

  call(callId: string): string {
    return this._calls.of(callId);
  }

  renameAll(chunks: readonly Chunk[]): readonly Chunk[] {
    let renamed: Chunk[] | undefined;
    for (const [at, chunk] of chunks.entries()) {
      const named = this.rename(chunk);
      if (named !== chunk) renamed ??= chunks.slice(0, at);
      renamed?.push(named);
    }
    return renamed ?? chunks;
  }

  rename(chunk: Chunk): Chunk {
    switch (chunk.type) {
      case "text-delta":
      case "thinking-delta": {
        const messageId = this._messages.of(chunk.messageId);
        return messageId === chunk.messageId ? chunk : { ...chunk, messageId };
      }
      case "tool-input-delta": {
        const messageId = this._messages.of(chunk.messageId);
        const callId = this._calls.of(chunk.callId);
        return messageId === chunk.messageId && callId === chunk.callId ? chunk : { ...chunk, messageId, callId };
      }
      case "message":
        return this._renameMessage(chunk);
      case "tool-call":
      case "tool-result": {
        const callId = this._calls.of(chunk.callId);
        return callId === chunk.callId ? chunk : { ...chunk, callId };
      }
      case "notice":
        return chunk.kind === "retract" ? this._renameRetraction(chunk) : chunk;
      default:
        return chunk;
    }
  }

  private _renameMessage(chunk: ChunkOf<MessageItem>): Chunk {
    const id = this._messages.of(chunk.id);
    const blocks = chunk.blocks.map((block) => this._renameBlock(block));
    const isSame = id === chunk.id && blocks.every((block, at) => block === chunk.blocks[at]);
    return isSame ? chunk : { ...chunk, id, blocks };
  }

  private _renameRetraction(chunk: ChunkOf<NoticeItem>): Chunk {
    const data = chunk.data as Retraction;
    const messageId = this._messages.of(data.messageId);
    return messageId === data.messageId ? chunk : { ...chunk, data: { ...data, messageId } };
  }

  private _renameBlock(block: Block): Block {
    if (block.type !== "tool-call") return block;
    const callId = this._calls.of(block.callId);
    return callId === block.callId ? block : { ...block, callId };
  }
}
