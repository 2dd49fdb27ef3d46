import {
  type AgentEvent,
  type DeltaEvent,
  type ErrorDetail,
  isDelta,
  LONGEST_TEXT,
  type MessageItem,
  replyTooLarge,
  type Retraction,
} from "#domain";

/**
 * The replies of a run together may be this many times as long as one reply, so that a loop of many turns is bounded as
 * well.
 */
const REPLIES_OF_A_RUN = 8;

/** The largest number of UTF-8 bytes per UTF-16 code unit. */
const MOST_BYTES = 3;

interface OpenReply {
  /**
   * Characters at first; bytes once the limit could be exceeded. Below a third of the limit, the characters alone prove
   * that the reply fits.
   */
  size: number;
  isExact: boolean;
}

/**
 * Measures what models and agents write: each reply by itself, and all replies of a run together. It counts characters,
 * which are known anyway, and counts bytes only when they could exceed the limit.
 */
export class ReplySize {
  private readonly _limitBytes: number;
  private readonly _past: () => Iterable<AgentEvent>;
  private readonly _open = new Map<string, OpenReply>();
  /** The last finished message. Claude Code and commands report it again when it has got another block. */
  private _last = { id: "", size: 0 };
  private _total = 0;
  private _failure: ErrorDetail | undefined;

  /** `past` returns the events before the batch that is being added. */
  constructor(limitBytes: number, past: () => Iterable<AgentEvent>) {
    this._limitBytes = limitBytes;
    this._past = past;
  }

  /** The error that ends the run, once a reply is too long. */
  get failure(): ErrorDetail | undefined {
    return this._failure;
  }

  /** Adds consecutive deltas of one message; `characters` is their total length. */
  addRow(
    row: { readonly events: readonly AgentEvent[]; readonly from: number; readonly end: number },
    characters: number,
  ) {
    const { messageId } = row.events[row.from] as DeltaEvent;
    let reply = this._open.get(messageId);
    if (reply === undefined) this._open.set(messageId, (reply = { size: 0, isExact: false }));
    if (reply.isExact) this._grow(reply, countRow(row.events, row.from, row.end, messageId));
    else {
      this._grow(reply, characters);
      if (MOST_BYTES * reply.size > this._limitBytes) this._countExactly(reply, messageId, row);
    }
    this._check(reply.size);
  }

  /** Adds a finished message. A message without deltas is measured now. */
  addMessage(event: MessageItem): void {
    if (event.role !== "assistant") return;
    const streamed = this._open.get(event.id);
    if (streamed !== undefined) {
      this._open.delete(event.id);
      this._last = { id: event.id, size: streamed.size };
      return;
    }
    const size = measureMessage(event);
    this._total += event.id === this._last.id ? Math.max(0, size - this._last.size) : size;
    this._last = { id: event.id, size };
    this._check(size);
  }

  /** Handles a retraction: the reply starts over. The retracted text still counts towards the total of the run. */
  retract({ messageId }: Retraction): void {
    this._open.delete(messageId);
  }

  private _grow(reply: OpenReply, size: number): void {
    reply.size += size;
    this._total += size;
  }

  /** Counts the bytes of everything that has arrived of this reply. */
  private _countExactly(
    reply: OpenReply,
    messageId: string,
    row: { readonly events: readonly AgentEvent[]; readonly from: number; readonly end: number },
  ): void {
    let bytes = 0;
    for (const event of this._past()) {
      if (isDelta(event)) bytes += event.messageId === messageId ? measureText(textOf(event)) : 0;
      else if (isRetraction(event, messageId)) bytes = 0;
    }
    // Earlier rows of the same batch are not in `_past()` yet.
    bytes += countRow(row.events, 0, row.end, messageId);
    this._total += bytes - reply.size;
    reply.size = bytes;
    reply.isExact = true;
  }

  private _check(size: number): void {
    if (this._failure !== undefined) return;
    const limit = this._limitBytes;
    if (size > Math.min(limit, LONGEST_TEXT)) this._failure = tooLarge("one reply has", limit);
    else if (this._total > Math.min(REPLIES_OF_A_RUN * limit, LONGEST_TEXT)) {
      this._failure = tooLarge("the replies of the run have together", REPLIES_OF_A_RUN * limit);
    }
  }
}

function tooLarge(what: string, askedBytes: number): ErrorDetail {
  const fixedBy = askedBytes <= LONGEST_TEXT ? undefined : "the longest text that Node.js can hold";
  return replyTooLarge({ what, limitBytes: Math.min(askedBytes, LONGEST_TEXT), fixedBy });
}

function isRetraction(event: AgentEvent, messageId: string): boolean {
  return event.type === "notice" && event.kind === "retract" && (event.data as Retraction).messageId === messageId;
}

function countRow(events: readonly AgentEvent[], from: number, end: number, messageId: string): number {
  let bytes = 0;
  for (let at = from; at < end; at += 1) {
    const event = events[at] as DeltaEvent;
    if (event.messageId === messageId) bytes += measureText(textOf(event));
  }
  return bytes;
}

function textOf(event: DeltaEvent): string {
  return event.type === "tool-input-delta" ? event.json : event.text;
}

function measureMessage({ blocks }: MessageItem): number {
  let bytes = 0;
  for (const block of blocks) {
    if (block.type === "text" || block.type === "thinking") bytes += measureText(block.text);
    else if (block.type === "tool-call") bytes += measureValue(block.input);
  }
  return bytes;
}

/**
 * Returns the approximate size of a value as JSON. It does not build the JSON text, because the value may have very
 * many members.
 */
function measureValue(value: unknown): number {
  if (typeof value === "string") return measureText(value) + 2;
  if (typeof value !== "object" || value === null) return String(value).length;
  let bytes = 2;
  const isList = Array.isArray(value);
  for (const key of Object.keys(value)) {
    bytes += (isList ? 1 : measureText(key) + 4) + measureValue((value as Record<string, unknown>)[key]);
  }
  return bytes;
}

/**
 * Returns the length of a text in UTF-8 bytes. `Buffer.byteLength` is twenty times as fast as a loop in JavaScript, and
 * a text may have megabytes.
 */
export function measureText(text: string): number {
  return Buffer.byteLength(text);
}
