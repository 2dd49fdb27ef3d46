import {
  type AgentEvent,
  type DeltaEvent,
  type ErrorDetail,
  isDelta,
  type MessageItem,
  type Retraction,
} from "#domain";

/** A run's replies together may be so many times as long as one: a loop of many turns is bounded, too. */
const REPLIES_OF_A_RUN = 8;

/**
 * No text of the engine can be longer (2^29 - 24 characters), whatever a caller allows. The reserve is what may still
 * come in the read or the frame that reaches it.
 */
const LONGEST_TEXT = 0x1fffffe8 - 0x2000000;

/** A character of a JavaScript string is at most so many bytes of UTF-8. */
const MOST_BYTES = 3;

interface OpenReply {
  /** Characters, and bytes once they could be too many: fewer than the limit can be told without counting bytes. */
  size: number;
  isExact: boolean;
}

/**
 * Measures what models and agents write: each reply by itself, and all of a run together. Counts characters, which are
 * known anyway, until their bytes could matter.
 */
export class ReplyMeter {
  private readonly _limitBytes: number;
  private readonly _past: () => Iterable<AgentEvent>;
  private readonly _open = new Map<string, OpenReply>();
  private _total = 0;
  private _failure: ErrorDetail | undefined;

  /** `past` gives the events before those that are being added. */
  constructor(limitBytes: number, past: () => Iterable<AgentEvent>) {
    this._limitBytes = limitBytes;
    this._past = past;
  }

  /** Why the run cannot go on, once a reply is too long. */
  get failure(): ErrorDetail | undefined {
    return this._failure;
  }

  /** Deltas of one message that stand in a row, and how many characters they have together. */
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

  /** A finished message. One that no delta has shown is measured now. */
  addMessage(event: MessageItem): void {
    if (event.role !== "assistant") return;
    if (this._open.delete(event.id)) return;
    const reply = { size: 0, isExact: true };
    this._grow(reply, measureMessage(event));
    this._check(reply.size);
  }

  /** Deltas that are void: the reply begins again. What was taken back still counts for the run. */
  retract({ messageId }: Retraction): void {
    this._open.delete(messageId);
  }

  private _grow(reply: OpenReply, size: number): void {
    reply.size += size;
    this._total += size;
  }

  /** Counts the bytes of everything that came of this reply so far. */
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
    // Earlier rows of the same batch are not in the past yet.
    bytes += countRow(row.events, 0, row.end, messageId);
    this._total += bytes - reply.size;
    reply.size = bytes;
    reply.isExact = true;
  }

  private _check(size: number): void {
    if (this._failure !== undefined) return;
    const limit = this._limitBytes;
    if (size > Math.min(limit, LONGEST_TEXT)) this._failure = tooLarge("One reply has", Math.min(limit, LONGEST_TEXT));
    else if (this._total > Math.min(REPLIES_OF_A_RUN * limit, LONGEST_TEXT)) {
      this._failure = tooLarge(
        "The replies of the run have together",
        Math.min(REPLIES_OF_A_RUN * limit, LONGEST_TEXT),
      );
    }
  }
}

function tooLarge(what: string, limitBytes: number): ErrorDetail {
  return {
    code: "reply-too-large",
    message: `${what} more than ${limitBytes} bytes, so the run was ended. What came until then is kept.`,
    terminal: true,
    diagnostic: {
      hint: "A model that writes without end has usually lost its way.",
      troubleshooting: "Ask for a shorter answer, limit it (maxTokens), or allow more (limits.replyBytes).",
      limitBytes,
    },
  };
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

/** About the bytes of a value as JSON. Counted and not written: it may have very many members. */
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

/** The bytes of a text in UTF-8. By the engine's own count: a loop takes twenty times as long, and a text may be megabytes. */
export function measureText(text: string): number {
  return Buffer.byteLength(text);
}
