import type { Block, Message } from "../../../src/domain/index.ts";
import { changeTool, type Item, makeNote, type ToolItem } from "./items.ts";

const MEDIA_NAMES = { image: "Image", document: "Document", audio: "Audio" } as const;

/** Stored messages as items of the page. */
export function itemsOf(messages: readonly Message[]): readonly Item[] {
  let items: readonly Item[] = [];
  for (const message of messages) {
    // Messages that Millrace itself sent to the model are not the person's.
    if (message.source === "millrace" && message.role === "user") continue;
    if (message.role === "user") items = addUserMessage(items, message);
    else for (const [index, block] of message.blocks.entries()) items = addBlock(items, message, block, index);
  }
  return items;
}

/**
 * The messages before some runs: all before the first one that is the input of one of these runs. The input of a failed
 * run may not be among the messages.
 */
export function messagesBefore(
  messages: readonly Message[],
  inputIds: readonly (string | undefined)[],
): readonly Message[] {
  const inputs = new Set(inputIds);
  const at = messages.findIndex(({ id }) => inputs.has(id));
  return at === -1 ? messages : messages.slice(0, at);
}

function addUserMessage(items: readonly Item[], message: Message): readonly Item[] {
  const text = message.blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  let all = items;
  for (const [index, block] of message.blocks.entries()) {
    if (block.type !== "text") all = addBlock(all, message, block, index);
  }
  const last = all.at(-1);
  // The handoff row already shows the message of one agent to the next.
  if (text === "" || (last?.kind === "handoff" && text.startsWith(last.message))) return all;
  return [...all, { kind: "user", key: `${message.id}:user`, text }];
}

function addBlock(items: readonly Item[], message: Message, block: Block, index: number): readonly Item[] {
  const key = `${message.id}:${index}`;
  switch (block.type) {
    case "text":
    case "thinking": {
      if (block.text === "") return items;
      const place = { messageId: message.id, index, agent: undefined, parent: undefined };
      return [...items, { kind: block.type, key, ...place, text: block.text, isOpen: false }];
    }
    case "tool-call":
      return changeTool(items, block, (tool) => ({ ...tool, input: block.input, state: "done" }));
    case "tool-result":
      return addResult(items, block);
    case "image":
    case "document":
    case "audio": {
      const text = `${MEDIA_NAMES[block.type]}${block.title === undefined ? "" : `: ${block.title}`}`;
      return [...items, makeNote(key, "info", { title: "", text })];
    }
    case "unknown":
      return items;
  }
}

function addResult(items: readonly Item[], block: Extract<Block, { type: "tool-result" }>): readonly Item[] {
  const { callId, output, isError } = block;
  const at = items.findLastIndex((item) => item.kind === "tool" && item.callId === callId);
  const call = items[at];
  const known = call?.kind === "tool" ? call : undefined;
  const handoff = known === undefined || isError ? undefined : readHandoff(known);
  if (handoff !== undefined) return items.with(at, handoff);
  const change = (tool: ToolItem): ToolItem => ({ ...tool, output, isError, state: "done" });
  return changeTool(items, { callId, name: known?.name ?? "tool" }, change);
}

function readHandoff({ name, input, key }: ToolItem): Item | undefined {
  if (name !== "handoff" || typeof input !== "object" || input === null) return undefined;
  const { to, message } = input as Record<string, unknown>;
  if (typeof to !== "string" || typeof message !== "string") return undefined;
  return { kind: "handoff", key, from: undefined, to, message };
}
