import type { Block, Message, ToolCallBlock } from "#domain";

/** What all vendors take as a tool's name. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * The transcript with tool calls every host takes: ids that fit its pattern and are used once, names without odd
 * characters. A conversation may come from another vendor, and a model may have made up the name of a tool; one host
 * that refuses such a thing would refuse the conversation for ever. What fits stays as it is.
 */
export function fitCalls(messages: readonly Message[], idPattern: RegExp): readonly Message[] {
  if (fitAsTheyAre(messages, idPattern)) return messages;
  const used = new Set<string>();
  for (const { blocks } of messages) {
    for (const block of blocks) if (block.type === "tool-call" && idPattern.test(block.callId)) used.add(block.callId);
  }
  const sent = new Set<string>();
  /** Ids of the message before: results stand right behind their calls. */
  let renamed = new Map<string, string>();
  let made = 0;

  const makeId = (): string => {
    do made += 1;
    while (used.has(`call_${made}`));
    return `call_${made}`;
  };
  const fitCall = (call: ToolCallBlock, names: Map<string, string>): Block[] => {
    // Two calls of one message under one id cannot both be answered.
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

/** The ids of transcripts whose calls all fit, by vendor. Each message is looked at once. */
const fitting = new WeakMap<RegExp, PrefixMemory<Set<string>>>();

/** The usual case: every call fits, and every id is used once. */
function fitAsTheyAre(messages: readonly Message[], idPattern: RegExp): boolean {
  let memory = fitting.get(idPattern);
  if (memory === undefined) {
    memory = new PrefixMemory();
    fitting.set(idPattern, memory);
  }
  const begun = memory.take(messages);
  const seen = begun?.value ?? new Set<string>();
  for (let at = begun?.count ?? 0; at < messages.length; at += 1) {
    const ids = idsOf(messages[at] as Message, idPattern);
    if (ids === "unfit" || !addAll(seen, ids)) return false;
  }
  memory.keep(messages, seen);
  return true;
}

/** `false`: one of them is there already. */
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

/** The message itself when nothing of it changed: what was made of it before can then be used again. */
function withBlocks(message: Message, blocks: readonly Block[]): Message {
  const isSame = blocks.length === message.blocks.length && blocks.every((block, at) => block === message.blocks[at]);
  return isSame ? message : { ...message, blocks };
}

function fitName(name: string): string {
  if (NAME.test(name)) return name;
  const fitting = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 63);
  return NAME.test(fitting) ? fitting : `_${fitting}`;
}

/** Results first: vendors want them right behind the calls, and the user may have said something in the same message. */
export function resultsFirst(blocks: readonly Block[]): readonly Block[] {
  const results = blocks.filter((block) => block.type === "tool-result");
  return results.length === 0 ? blocks : [...results, ...blocks.filter((block) => block.type !== "tool-result")];
}

/** Neighbours of one role, in a vendor's words. */
interface Turn<Part> {
  readonly role: Message["role"];
  readonly parts: Part[];
}

/** Said when a conversation begins with the assistant, which vendors with strict turns refuse. */
export const BEGINNING = "(The conversation begins with the assistant.)";

/**
 * The transcript as turns that alternate and begin with the user. Messages of which nothing is left in a vendor's
 * words are left out, so that their neighbours meet.
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

/** A turn adds two or three messages; whoever goes further back has another conversation before him. */
const LOOK_BACK = 16;

/** The beginning of a transcript, and what was made of it. */
interface Beginning<Value> {
  readonly messages: readonly Message[];
  readonly value: Value;
}

/**
 * What was made of the beginning of a transcript. A model is shown the whole conversation in every turn; with this, a
 * turn costs what is new in it, beside one comparison per message. Nothing is kept longer than its last message lives.
 */
export class PrefixMemory<Value> {
  private readonly _kept = new WeakMap<Message, Beginning<Value>>();

  /** Takes out what was kept for a beginning of these messages, and how many of them it covers. */
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

  /** Keeps what was made of these messages, for a transcript that goes on from here. */
  keep(messages: readonly Message[], value: Value): void {
    const last = messages.at(-1);
    if (last !== undefined) this._kept.set(last, { messages: messages.slice(), value });
  }
}

/** A loop of its own: it alone runs once per message. */
function isBeginning(beginning: readonly Message[], messages: readonly Message[]): boolean {
  if (beginning.length > messages.length) return false;
  for (let at = 0; at < beginning.length; at += 1) if (beginning[at] !== messages[at]) return false;
  return true;
}
