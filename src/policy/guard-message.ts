import { type Block, type MessageItem, messageItem, type TextBlock, type ThinkingBlock } from "#domain";
import { type HeldMessage, heldText, letGo, wordDelta, type WordDelta } from "./held-message.ts";
import type { OutputQueue } from "./output-queue.ts";

/** Asks the guards. The text that may go out, or `undefined` when none may: it was denied, or the run is over. */
export type AskGuards = (text: string, before: string) => Promise<string | undefined>;

type WordBlock = TextBlock | ThinkingBlock;

/** How much of what went out is remembered for guards to look back on. */
const REMEMBERED = 4_096;

/** `window`: shows the guards what is held of a block, and lets it go if they pass it. */
export async function guardHeld(message: HeldMessage, index: number, ask: AskGuards): Promise<void> {
  const block = message.blocks.get(index);
  if (block === undefined || block.held.length === 0) return;
  const text = heldText(block);
  const passed = await ask(text, message.before[block.type]);
  if (passed === undefined || message.isDropped) return;
  block.passed.add(passed);
  remember(message, block.type, passed);
  letGo(message, index, passed === text ? undefined : passed);
}

/** `window`: the finished message, with what went out of its blocks as their text. */
export async function finishInWindow(
  item: MessageItem,
  message: HeldMessage,
  { lane, ask }: { readonly lane: OutputQueue; readonly ask: AskGuards },
): Promise<MessageItem | undefined> {
  for (const index of [...message.blocks.keys()]) await guardHeld(message, index, ask);
  const texts = new Map<number, string>();
  for (const [index, block] of item.blocks.entries()) {
    if (message.isDropped || !isWords(block)) continue;
    const text = await finishBlock(block, index, { message, lane, ask });
    if (text === undefined) return undefined;
    texts.set(index, text);
  }
  return withTexts(item, texts);
}

async function finishBlock(
  block: WordBlock,
  index: number,
  { message, lane, ask }: { readonly message: HeldMessage; readonly lane: OutputQueue; readonly ask: AskGuards },
): Promise<string | undefined> {
  const type = deltaType(block);
  const held = message.blocks.get(index);
  const came = held?.type === type ? held.came.text() : "";
  // The guards have seen the deltas. A message that says something else is not believed.
  if (!block.text.startsWith(came)) return held?.passed.text() ?? "";
  const rest = block.text.slice(came.length);
  const passed = rest === "" ? "" : await ask(rest, message.before[type]);
  if (passed === undefined || held === undefined || held.type !== type) return passed;
  if (passed !== "") {
    lane.queue(wordDelta(message, index, type, passed));
    held.passed.add(passed);
    remember(message, type, passed);
  }
  return held.passed.text();
}

/**
 * `buffer`: the finished message, once the guards have passed its whole text, and its whole thinking. A replacement
 * stands in the first block of its kind; the others are empty then.
 */
export async function finishInBuffer(
  item: MessageItem,
  message: HeldMessage,
  ask: AskGuards,
): Promise<MessageItem | undefined> {
  const texts = new Map<number, string>();
  for (const type of ["thinking", "text"] as const) {
    const blocks = [...item.blocks.entries()].filter((entry): entry is [number, WordBlock] => entry[1].type === type);
    const whole = blocks.map(([, { text }]) => text).join("");
    const passed = whole === "" ? "" : await ask(whole, "");
    if (passed === undefined || message.isDropped) return undefined;
    for (const [at, [index, { text }]] of blocks.entries()) {
      texts.set(index, passed === whole ? text : at === 0 ? passed : "");
    }
  }
  for (const [index, held] of message.blocks) {
    const block = item.blocks[index];
    const isShown = block !== undefined && isWords(block) && deltaType(block) === held.type;
    const text = isShown ? (texts.get(index) ?? "") : "";
    letGo(message, index, held.came.text() === text ? undefined : text);
  }
  return withTexts(item, texts);
}

/** The message with these texts. One that is changed loses what would give the old text away, or vouch for it. */
function withTexts(item: MessageItem, texts: ReadonlyMap<number, string>): MessageItem {
  const isChanged = item.blocks.some((block, index) => isWords(block) && texts.get(index) !== block.text);
  if (!isChanged) return item;
  const blocks = item.blocks.map((block, index): Block => {
    const text = texts.get(index);
    if (text === undefined || !isWords(block) || text === block.text) return block;
    return { type: block.type, text };
  });
  const { seq: _seq, ts: _ts, runId: _runId, type: _type, raw: _raw, ...kept } = item;
  return messageItem({ ...kept, blocks });
}

function remember(message: HeldMessage, type: WordDelta["type"], passed: string): void {
  message.before[type] = (message.before[type] + passed).slice(-REMEMBERED);
}

function isWords(block: Block): block is WordBlock {
  return block.type === "text" || block.type === "thinking";
}

function deltaType(block: WordBlock): WordDelta["type"] {
  return block.type === "text" ? "text-delta" : "thinking-delta";
}
