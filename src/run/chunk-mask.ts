import { type Chunk, type DeltaChunk, isDelta, type NextTurn, type Retraction, unreachable } from "#domain";
import type { LineMask, SecretMask, TextMask } from "#secrets";

/**
 * The calls whose arguments are not shown in full. Whoever knows a call from its events alone must not run it: its tool
 * would get the mask instead of the secret. `shown` are the items of `given` after the masking, in the same order.
 */
export function findMaskedCalls(given: readonly Chunk[], shown: readonly Chunk[]): readonly string[] {
  const originals = given.flatMap(argumentsIn);
  const masked = shown.flatMap(argumentsIn).filter(({ input }, at) => input !== originals[at]?.input);
  return masked.map(({ callId }) => callId);
}

/** The arguments in an item, each with the call it belongs to. Calls within a call are not run again by themselves. */
function argumentsIn(chunk: Chunk): readonly { readonly callId: string; readonly input?: unknown }[] {
  if (isDelta(chunk) || chunk.parent !== undefined) return [];
  if (chunk.type === "tool-call" || chunk.type === "permission") return [chunk];
  return chunk.type === "message" ? chunk.blocks.filter((block) => block.type === "tool-call") : [];
}

/** The text of one block of a message, which several deltas add to. */
interface OpenText {
  readonly mask: TextMask;
  /**
   * The first delta of the text. Used to recognize later deltas of the same text, and as the template for the delta
   * that shows the held-back rest.
   */
  readonly first: DeltaChunk;
  /** Whether the other fields of the delta contain no secret. A host may echo a secret in ids and names as well. */
  readonly isPlain: boolean;
  /** What the block before it had held back, until it is shown. A secret may begin in one block and end in another. */
  readonly before: Chunk[];
}

/**
 * Masks the secrets of a run in its chunks before they become events. The given chunks are not modified, because tools
 * and models work with them. If nothing in a batch is masked or held back, `pass` returns the same array.
 */
export class ChunkMask {
  private readonly _secrets: SecretMask;
  /** By message id, then by block, and the last block of each type by its type. */
  private readonly _open = new Map<string, Map<string, OpenText>>();
  /** Masks the raw frames. A secret may be split across frames just as it may be split across deltas. */
  private readonly _frames: LineMask;
  private _last: OpenText | undefined;

  constructor(secrets: SecretMask) {
    this._secrets = secrets;
    this._frames = secrets.lines();
  }

  text(text: string): string {
    return this._secrets.text(text);
  }

  value<Value>(value: Value): Value {
    return this._secrets.value(value);
  }

  /** Searches the large items of a batch in several turns of the event loop. `undefined` if there are none. */
  prepare(chunks: readonly Chunk[], nextTurn: NextTurn): Promise<void> | undefined {
    let searched: Promise<void> | undefined;
    for (const chunk of chunks) {
      if (isDelta(chunk)) continue;
      if (searched === undefined) searched = this._secrets.prepare(chunk, nextTurn);
      else searched = searched.then(() => this._secrets.prepare(chunk, nextTurn));
    }
    return searched;
  }

  /** The same for a value that is no chunk. */
  prepareValue(value: unknown, nextTurn: NextTurn): Promise<void> | undefined {
    return this._secrets.prepare(value, nextTurn);
  }

  pass(chunks: readonly Chunk[]): readonly Chunk[] {
    let passed: Chunk[] | undefined;
    let rowEnd = 0;
    for (let at = 0; at < chunks.length; at += 1) {
      const chunk = chunks[at] as Chunk;
      if (at >= rowEnd && isDelta(chunk)) {
        rowEnd = endOfRow(chunks, at, chunk);
        if (this._takeClean(chunks, at, rowEnd)) {
          passed?.push(...chunks.slice(at, rowEnd));
          at = rowEnd - 1;
          continue;
        }
      }
      const shown = isDelta(chunk) ? this._showDelta(chunk) : this._showItem(chunk);
      if (passed === undefined) {
        if (shown === chunk) continue;
        passed = chunks.slice(0, at);
      }
      if (Array.isArray(shown)) passed.push(...shown);
      else if (shown !== undefined) passed.push(shown as Chunk);
    }
    return passed ?? chunks;
  }

  /** Returns the text that is still held back. Call it when no more chunks follow. */
  end(): readonly Chunk[] {
    return this._releaseAll();
  }

  /**
   * Accepts a row of deltas of one text if all of them can be shown unchanged. Checking the joined text once is cheaper
   * than checking each delta.
   */
  private _takeClean(chunks: readonly Chunk[], from: number, end: number): boolean {
    if (end - from < 2) return false;
    const { mask, isPlain, before } = this._textOf(chunks[from] as DeltaChunk);
    if (!isPlain || before.length > 0) return false;
    let text = "";
    for (let at = from; at < end; at += 1) text += textOf(chunks[at] as DeltaChunk);
    return mask.takeClean(text);
  }

  private _showDelta(delta: DeltaChunk): Chunk | readonly Chunk[] | undefined {
    const text = textOf(delta);
    const { mask, isPlain, before } = this._textOf(delta);
    const shown = mask.push(text);
    if (before.length > 0) return [...before.splice(0), ...this._deltaOf(delta, shown)];
    if (shown === text && isPlain && delta.raw === undefined) return delta;
    return this._deltaOf(delta, shown);
  }

  private _deltaOf(delta: DeltaChunk, shown: string): readonly Chunk[] {
    const framed = delta.raw === undefined ? delta : { ...delta, raw: this._frames.coverFrame(delta.raw) };
    return shown === "" ? [] : [withText(this._secrets.value(framed), shown)];
  }

  private _textOf(delta: DeltaChunk): OpenText {
    if (this._last !== undefined && isSameText(this._last.first, delta)) return this._last;
    let known = this._open.get(delta.messageId);
    if (known === undefined) this._open.set(delta.messageId, (known = new Map()));
    const block = `${delta.index} ${delta.type}`;
    let open = known.get(block);
    if (open === undefined) {
      const bare = withText(delta, "");
      const isPlain = this._secrets.value(bare) === bare;
      // Arguments of parallel calls are no continuations of each other.
      const last = delta.type === "tool-input-delta" ? undefined : known.get(delta.type);
      const before = last === undefined ? [] : [...this._rest(last.first, last.mask.tear())];
      open = { mask: last?.mask.next() ?? this._secrets.stream(), first: delta, isPlain, before };
      known.set(block, open);
      known.set(delta.type, open);
    }
    this._last = open;
    return open;
  }

  private _showItem(chunk: Chunk): Chunk | readonly Chunk[] {
    const before = this._before(chunk);
    const shown = this._secrets.value(chunk);
    return before.length === 0 ? shown : [...before, shown];
  }

  /** Returns the held-back deltas that must be shown before an item, because no text may be added to them after it. */
  private _before(chunk: Chunk): readonly Chunk[] {
    if (this._open.size === 0) return [];
    if (chunk.type === "message") return this._finish(chunk.id);
    if (chunk.type === "notice" && chunk.kind === "retract") this._forget(chunk.data as Retraction);
    const isLast = chunk.type === "result" || chunk.type === "handoff" || (chunk.type === "error" && chunk.terminal);
    return isLast ? this._releaseAll() : [];
  }

  private _finish(messageId: string): readonly Chunk[] {
    const texts = this._open.get(messageId);
    this._open.delete(messageId);
    this._last = undefined;
    return [...(texts?.values() ?? [])].flatMap(({ mask, first }) => this._rest(first, mask.end()));
  }

  private _forget({ messageId, fromIndex = 0 }: Retraction): void {
    const texts = this._open.get(messageId);
    for (const [block, { first }] of texts ?? []) if (first.index >= fromIndex) texts?.delete(block);
    this._last = undefined;
  }

  /**
   * Releases the held-back end of every text, masked where it may be part of a secret. The texts stay in the map: if
   * one of them continues after all, a secret still cannot be put together from what was shown.
   */
  private _releaseAll(): readonly Chunk[] {
    return [...this._open.values()]
      .flatMap((texts) => [...texts.values()])
      .flatMap(({ mask, first }) => this._rest(first, mask.tear()));
  }

  private _rest(first: DeltaChunk, text: string): readonly Chunk[] {
    return text === "" ? [] : [withText(this._secrets.value(first), text)];
  }
}

/**
 * Returns the end of the row of deltas that continue the text of the first one. A delta with a raw frame ends the row:
 * its frame has to be masked separately.
 */
function endOfRow(chunks: readonly Chunk[], from: number, first: DeltaChunk): number {
  let end = from;
  for (; end < chunks.length; end += 1) {
    const delta = chunks[end] as Chunk;
    if (!isDelta(delta) || delta.raw !== undefined || !isSameText(first, delta)) break;
  }
  return end;
}

function textOf(delta: DeltaChunk): string {
  return delta.type === "tool-input-delta" ? delta.json : delta.text;
}

function isSameText(first: DeltaChunk, delta: DeltaChunk): boolean {
  return first.messageId === delta.messageId && first.index === delta.index && first.type === delta.type;
}

function withText(delta: DeltaChunk, text: string): DeltaChunk {
  switch (delta.type) {
    case "text-delta":
    case "thinking-delta":
      return { ...delta, text };
    case "tool-input-delta":
      return { ...delta, json: text };
    default:
      return unreachable(delta);
  }
}
