import { type Chunk, type DeltaEvent, isDelta, type Retraction, unreachable } from "#domain";
import type { LineMask, SecretMask, TextMask } from "#secrets";

/** One text that deltas write on: a block of a message. */
interface OpenText {
  readonly mask: TextMask;
  /** The delta it began with: for those that go on with it, and the one that shows the rest of it. */
  readonly first: DeltaEvent;
  /** A host may write a secret into its ids and names as well. */
  readonly isPlain: boolean;
}

/**
 * Covers the secrets of a run in its chunks, before they become events. The chunks that go in stay as they are: tools and
 * models work with those. A batch in which nothing is covered or held back comes out as the very same.
 */
export class ChunkMask {
  private readonly _secrets: SecretMask;
  /** By message, then by block. */
  private readonly _open = new Map<string, Map<string, OpenText>>();
  /** Frames hold the pieces of a text as deltas do. */
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

  /** What is still held back when nothing more comes. */
  end(): readonly Chunk[] {
    return this._tearAll();
  }

  /** Takes deltas that write on one text if all can be shown as they are: one look at all is cheaper than many. */
  private _takeClean(chunks: readonly Chunk[], from: number, end: number): boolean {
    if (end - from < 2) return false;
    const { mask, isPlain } = this._textOf(chunks[from] as DeltaEvent);
    if (!isPlain) return false;
    let text = "";
    for (let at = from; at < end; at += 1) text += textOf(chunks[at] as DeltaEvent);
    return mask.takeClean(text);
  }

  private _showDelta(delta: DeltaEvent): Chunk | undefined {
    const text = textOf(delta);
    const { mask, isPlain } = this._textOf(delta);
    const shown = mask.push(text);
    if (shown === text && isPlain && delta.raw === undefined) return delta;
    const framed = delta.raw === undefined ? delta : { ...delta, raw: this._frames.coverFrame(delta.raw) };
    return shown === "" ? undefined : withText(this._secrets.value(framed), shown);
  }

  private _textOf(delta: DeltaEvent): OpenText {
    if (this._last !== undefined && isSameText(this._last.first, delta)) return this._last;
    let known = this._open.get(delta.messageId);
    if (known === undefined) this._open.set(delta.messageId, (known = new Map()));
    const block = `${delta.index} ${delta.type}`;
    let open = known.get(block);
    if (open === undefined) {
      const bare = withText(delta, "");
      open = { mask: this._secrets.stream(), first: delta, isPlain: this._secrets.value(bare) === bare };
      known.set(block, open);
    }
    this._last = open;
    return open;
  }

  private _showItem(chunk: Chunk): Chunk | readonly Chunk[] {
    const before = this._before(chunk);
    const shown = this._secrets.value(chunk);
    return before.length === 0 ? shown : [...before, shown];
  }

  /** The deltas that have to be shown before an item, because nothing can be added to their texts after it. */
  private _before(chunk: Chunk): readonly Chunk[] {
    if (this._open.size === 0) return [];
    if (chunk.type === "message") return this._finish(chunk.id);
    if (chunk.type === "notice" && chunk.kind === "retract") this._forget(chunk.data as Retraction);
    const isLast = chunk.type === "result" || chunk.type === "handoff" || (chunk.type === "error" && chunk.terminal);
    return isLast ? this._tearAll() : [];
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

  /** The texts stay known: should one go on all the same, no secret can be joined from what was shown of it. */
  private _tearAll(): readonly Chunk[] {
    return [...this._open.values()]
      .flatMap((texts) => [...texts.values()])
      .flatMap(({ mask, first }) => this._rest(first, mask.tear()));
  }

  private _rest(first: DeltaEvent, text: string): readonly Chunk[] {
    return text === "" ? [] : [withText(this._secrets.value(first), text)];
  }
}

/** Where the deltas end that go on with the text of the first one. One with its frame is looked at by itself. */
function endOfRow(chunks: readonly Chunk[], from: number, first: DeltaEvent): number {
  let end = from;
  for (; end < chunks.length; end += 1) {
    const delta = chunks[end] as Chunk;
    if (!isDelta(delta) || delta.raw !== undefined || !isSameText(first, delta)) break;
  }
  return end;
}

function textOf(delta: DeltaEvent): string {
  return delta.type === "tool-input-delta" ? delta.json : delta.text;
}

function isSameText(first: DeltaEvent, delta: DeltaEvent): boolean {
  return first.messageId === delta.messageId && first.index === delta.index && first.type === delta.type;
}

function withText(delta: DeltaEvent, text: string): DeltaEvent {
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
