import { type ChunkOf, type Block, type MessageItem, type TextBlock, type ThinkingBlock } from "#domain";
import { type HeldMessage, heldText, letGo, wordDelta, type WordDelta } from "./held-message.ts";
import type { OutputQueue } from "./output-queue.ts";

/**
 * Asks the guards. Returns the text that may be shown, or `undefined` if nothing may: it was denied, or the run has
 * ended.
 */
export type AskGuards = (text: string, before: string) => Promise<string | undefined>;

type WordBlock = TextBlock | ThinkingBlock;

/** How many characters of released text are kept for the guards' `before` field. */
const REMEMBERED = 4_096;

/** `window`: passes a block's held text to the guards and releases it if they allow it. */
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

/** `window`: the finished message; the text of each block is what was released of it. */
export async function finishInWindow(
  item: ChunkOf<MessageItem>,
  message: HeldMessage,
  { queue, ask }: { readonly queue: OutputQueue; readonly ask: AskGuards },
): Promise<ChunkOf<MessageItem> | undefined> {
  for (const index of [...message.blocks.keys()]) await guardHeld(message, index, ask);
  const texts = new Map<number, string>();
  for (const [index, block] of item.blocks.entries()) {
    if (message.isDropped || !isWords(block)) continue;
    const text = await finishBlock(block, index, { message, queue, ask });
    if (text === undefined) return undefined;
    texts.set(index, text);
  }
  return withTexts(item, texts);
}

async function finishBlock(
  block: WordBlock,
  index: number,
  { message, queue, ask }: { readonly message: HeldMessage; readonly queue: OutputQueue; readonly ask: AskGuards },
): Promise<string | undefined> {
  const type = deltaType(block);
  const held = message.blocks.get(index);
  const came = held?.type === type ? held.came.text() : "";
  // The guards have checked the deltas. If the message contradicts them, its text is not used.
  if (!block.text.startsWith(came)) return held?.passed.text() ?? "";
  const rest = block.text.slice(came.length);
  const passed = rest === "" ? "" : await ask(rest, message.before[type]);
  if (passed === undefined || held === undefined || held.type !== type) return passed;
  if (passed !== "") {
    queue.queue(wordDelta(message, index, type, passed));
    held.passed.add(passed);
    remember(message, type, passed);
  }
  return held.passed.text();
}

/**
 * `buffer`: the finished message, once the guards have passed its whole text and its whole thinking. A replacement goes
 * into the first block of its kind; the other blocks of that kind become empty.
 */
export async function finishInBuffer(
  item: ChunkOf<MessageItem>,
  message: HeldMessage,
  ask: AskGuards,
): Promise<ChunkOf<MessageItem> | undefined> {
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

/**
 * The message with these texts. A changed message loses the fields that would reveal the old text or vouch for it: the
 * raw frame, and the signatures of its changed blocks.
 */
function withTexts(item: ChunkOf<MessageItem>, texts: ReadonlyMap<number, string>): ChunkOf<MessageItem> {
  const isChanged = item.blocks.some((block, index) => isWords(block) && texts.get(index) !== block.text);
  if (!isChanged) return item;
  const blocks = item.blocks.map((block, index): Block => {
    const text = texts.get(index);
    if (text === undefined || !isWords(block) || text === block.text) return block;
    return { type: block.type, text };
  });
  const { raw: _, ...kept } = item;
  return { ...kept, blocks };
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
