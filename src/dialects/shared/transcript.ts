import type { Block, Message, ToolCallBlock } from "#domain";

/** The tool names that all vendors accept. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * Adapts the tool calls of a transcript to what every host accepts: ids that match its pattern and are used once, names
 * without special characters. A conversation may come from another vendor, and a model may invent a tool name; a host
 * that refuses one of them would refuse the conversation for ever. Valid calls stay as they are. `checked` keeps the
 * ids of valid transcripts, so that each message is checked once.
 */
export function fitCalls(
  messages: readonly Message[],
  idPattern: RegExp,
  checked?: PrefixMemory<Set<string>>,
): readonly Message[] {
  if (fitAsTheyAre(messages, idPattern, checked)) return messages;
  const used = new Set<string>();
  for (const { blocks } of messages) {
    for (const block of blocks) if (block.type === "tool-call" && idPattern.test(block.callId)) used.add(block.callId);
  }
  const sent = new Set<string>();
  /** The renamed ids of the previous message: results directly follow their calls. */
  let renamed = new Map<string, string>();
  let made = 0;

  const makeId = (): string => {
    do made += 1;
    while (used.has(`call_${made}`));
    return `call_${made}`;
  };
  const fitCall = (call: ToolCallBlock, names: Map<string, string>): Block[] => {
    // Two calls with one id in one message cannot both be answered.
    if (names.has(call.callId)) return [];
    const callId = idPattern.test(call.callId) && !sent.has(call.callId) ? call.callId : makeId();
    sent.add(callId);
    names.set(call.callId, callId);
    const name = fitName(call.name);
    return [callId === call.callId && name === call.name ? call : { ...call, callId, name }];
  };

  return messages.map((message) => {
    if (message.role === "assistant") {
      const names = new Map<string, string>();
      const blocks = message.blocks.flatMap((block) => (block.type === "tool-call" ? fitCall(block, names) : [block]));
      renamed = names;
      return withBlocks(message, blocks);
    }
    const blocks = message.blocks.map((block) => {
      const callId = block.type === "tool-result" ? renamed.get(block.callId) : undefined;
      return callId === undefined || block.type !== "tool-result" || callId === block.callId
        ? block
        : { ...block, callId };
    });
    return withBlocks(message, blocks);
  });
}

/** The usual case: every call is valid, and every id is used once. */
function fitAsTheyAre(messages: readonly Message[], idPattern: RegExp, checked?: PrefixMemory<Set<string>>): boolean {
  const begun = checked?.take(messages);
  const seen = begun?.value ?? new Set<string>();
  for (let at = begun?.count ?? 0; at < messages.length; at += 1) {
    const ids = idsOf(messages[at] as Message, idPattern);
    if (ids === "unfit" || !addAll(seen, ids)) return false;
  }
  checked?.keep(messages, seen);
  return true;
}

/** Returns `false` if one of them is already present. */
function addAll(seen: Set<string>, ids: readonly string[]): boolean {
  for (const id of ids) {
    if (seen.has(id)) return false;
    seen.add(id);
  }
  return true;
}

function idsOf({ role, blocks }: Message, idPattern: RegExp): readonly string[] | "unfit" {
  const calls = role === "assistant" ? blocks.filter((block) => block.type === "tool-call") : [];
  const fit = calls.every(({ callId, name }) => idPattern.test(callId) && fitName(name) === name);
  return fit ? calls.map(({ callId }) => callId) : "unfit";
}

/** The message itself if nothing changed, so that its cached encoding can be reused. */
function withBlocks(message: Message, blocks: readonly Block[]): Message {
  const isSame = blocks.length === message.blocks.length && blocks.every((block, at) => block === message.blocks[at]);
  return isSame ? message : { ...message, blocks };
}

function fitName(name: string): string {
  if (NAME.test(name)) return name;
  const fitting = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 63);
  return NAME.test(fitting) ? fitting : `_${fitting}`;
}

/**
 * Results first: vendors require them directly after the calls, and the user may have added text in the same message.
 */
export function resultsFirst(blocks: readonly Block[]): readonly Block[] {
  const results = blocks.filter((block) => block.type === "tool-result");
  return results.length === 0 ? blocks : [...results, ...blocks.filter((block) => block.type !== "tool-result")];
}

/** Neighbouring messages of one role, encoded for a vendor. */
interface Turn<Part> {
  readonly role: Message["role"];
  readonly parts: Part[];
}

/** Inserted if a conversation begins with the assistant, which vendors with strict turns refuse. */
export const BEGINNING = "(The conversation begins with the assistant.)";

/**
 * The transcript as turns that alternate and begin with the user. Messages without any part left are skipped, so that
 * their neighbours merge.
 */
export function joinTurns<Part>(
  messages: readonly Message[],
  encode: (message: Message) => readonly Part[],
  beginning: Part,
): readonly Turn<Part>[] {
  const turns: Turn<Part>[] = [];
  for (const message of messages) {
    const parts = encode(message);
    if (parts.length === 0) continue;
    if (turns.length === 0 && message.role === "assistant") turns.push({ role: "user", parts: [beginning] });
    const last = turns.at(-1);
    if (last?.role === message.role) last.parts.push(...parts);
    else turns.push({ role: message.role, parts: [...parts] });
  }
  return turns;
}

/** A turn adds two or three messages; a prefix that ends further back belongs to another conversation. */
const LOOK_BACK = 16;

/** The beginning of a transcript, and the value computed from it. */
interface Beginning<Value> {
  readonly messages: readonly Message[];
  readonly value: Value;
}

/**
 * Caches what was computed from the beginning of a transcript. Every request contains the whole conversation; with
 * this, a turn costs only what is new in it, plus one comparison per message. An entry lives as long as its last
 * message.
 */
export class PrefixMemory<Value> {
  private readonly _kept = new WeakMap<Message, Beginning<Value>>();

  /** Removes and returns the value kept for a prefix of these messages, and how many of them it covers. */
  take(messages: readonly Message[]): { readonly count: number; readonly value: Value } | undefined {
    const first = Math.max(0, messages.length - LOOK_BACK);
    for (let at = messages.length - 1; at >= first; at -= 1) {
      const last = messages[at] as Message;
      const kept = this._kept.get(last);
      if (kept === undefined || !isBeginning(kept.messages, messages)) continue;
      this._kept.delete(last);
      return { count: kept.messages.length, value: kept.value };
    }
    return undefined;
  }

  /** Keeps the value for these messages, for a transcript that continues them. */
  keep(messages: readonly Message[], value: Value): void {
    const last = messages.at(-1);
    if (last !== undefined) this._kept.set(last, { messages: messages.slice(), value });
  }
}

function isBeginning(beginning: readonly Message[], messages: readonly Message[]): boolean {
  if (beginning.length > messages.length) return false;
  for (let at = 0; at < beginning.length; at += 1) if (beginning[at] !== messages[at]) return false;
  return true;
}
