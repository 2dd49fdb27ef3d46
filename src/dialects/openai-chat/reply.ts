import { type Block, type Chunk, TextBuilder, textDelta, thinkingDelta, toolInputDelta } from "#domain";
import {
  callIdPrefix,
  createToolCallAssembler,
  type LooseFragment,
  type OpenCall,
  type ToolCallAssembler,
} from "../shared/tool-call-assembler.ts";

/**
 * A reply that is being written: its blocks in order of first appearance.
 *
 * Chat Completions has one text and one thinking block per reply, however they alternate, and any number of calls.
 */
export interface Reply {
  readonly messageId: string;
  readonly model: string | undefined;
  readonly slots: Slot[];
  readonly assembler: ToolCallAssembler;
  /** The slot of each call, by the call's position. */
  readonly callSlots: CallSlot[];
  /** The id of the one call in the older `function_call` form, which has no id. */
  readonly legacyCallId: string;
  text: WrittenSlot | undefined;
  thinking: WrittenSlot | undefined;
  /** The model sent an explicit refusal. */
  hasRefused: boolean;
}

export type Slot = WrittenSlot | CallSlot | UnknownSlot;

interface WrittenSlot {
  readonly kind: "text" | "thinking";
  readonly index: number;
  readonly written: TextBuilder;
}

interface CallSlot {
  readonly kind: "call";
  readonly index: number;
  readonly call: OpenCall;
  /** Argument text not shown yet, because the call's id or name is still unknown: a delta must carry the final ones. */
  withheld: string[];
}

interface UnknownSlot {
  readonly kind: "unknown";
  readonly index: number;
  readonly raw: unknown;
}

export function createReply(given: { readonly id: string | undefined; readonly model: string | undefined }): Reply {
  const idPrefix = callIdPrefix(given.id);
  return {
    messageId: given.id ?? "message-1",
    model: given.model,
    slots: [],
    assembler: createToolCallAssembler({ idPrefix }),
    callSlots: [],
    legacyCallId: `${idPrefix}_0`,
    text: undefined,
    thinking: undefined,
    hasRefused: false,
  };
}

export function writeText(reply: Reply, text: string, chunks: Chunk[]): void {
  if (text === "") return;
  reply.text ??= openWritten(reply, "text");
  reply.text.written.add(text);
  chunks.push(textDelta(reply.messageId, reply.text.index, text));
}

export function writeThinking(reply: Reply, text: string, chunks: Chunk[]): void {
  if (text === "") return;
  reply.thinking ??= openWritten(reply, "thinking");
  reply.thinking.written.add(text);
  chunks.push(thinkingDelta(reply.messageId, reply.thinking.index, text));
}

/** Keeps a part of the content that this dialect does not know. */
export function keepUnknown(reply: Reply, raw: unknown): void {
  reply.slots.push({ kind: "unknown", index: reply.slots.length, raw });
}

export function writeFragment(reply: Reply, fragment: LooseFragment, chunks: Chunk[]): void {
  const call = reply.assembler.feed(fragment);
  let slot = reply.callSlots[call.position];
  if (slot === undefined) {
    slot = { kind: "call", index: reply.slots.length, call, withheld: [] };
    reply.slots.push(slot);
    reply.callSlots.push(slot);
  }
  if (fragment.argumentsDelta) slot.withheld.push(fragment.argumentsDelta);
  if (call.id !== "") showArguments(reply, slot, call.id, chunks);
}

/** Shows withheld arguments of a call once its name is known. */
export function showArguments(reply: Reply, slot: CallSlot, callId: string, chunks: Chunk[]): void {
  if (slot.withheld.length === 0 || slot.call.name === "") return;
  const json = slot.withheld.length === 1 ? (slot.withheld[0] ?? "") : slot.withheld.join("");
  slot.withheld = [];
  chunks.push(toolInputDelta(reply.messageId, slot.index, { callId, name: slot.call.name }, json));
}

/** The finished block of a slot that is not a call. */
export function blockOf(slot: WrittenSlot | UnknownSlot): Block {
  return slot.kind === "unknown" ? { type: "unknown", raw: slot.raw } : { type: slot.kind, text: slot.written.text() };
}

function openWritten(reply: Reply, kind: "text" | "thinking"): WrittenSlot {
  const slot: WrittenSlot = { kind, index: reply.slots.length, written: new TextBuilder() };
  reply.slots.push(slot);
  return slot;
}
