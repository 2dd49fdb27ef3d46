import {
  type Block,
  type Chunk,
  TextBuilder,
  textDelta,
  thinkingDelta,
  toolInputDelta,
  type WarningDetail,
} from "#domain";
import { callIdPrefix } from "../shared/tool-call-assembler.ts";

/** A whole call a reply asked for. */
export interface WholeCall {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** One reply being written: finished blocks, and at most one of text or thinking that still grows. */
export interface Reply {
  readonly messageId: string;
  readonly model: string | undefined;
  readonly idPrefix: string;
  readonly blocks: Block[];
  readonly calls: WholeCall[];
  readonly callIds: Set<string>;
  readonly warnings: WarningDetail[];
  growing: GrowingBlock | undefined;
}

interface GrowingBlock {
  readonly kind: "text" | "thinking";
  readonly index: number;
  readonly written: TextBuilder;
}

export function createReply(given: { readonly id: string | undefined; readonly model: string | undefined }): Reply {
  return {
    messageId: given.id ?? "message-1",
    model: given.model,
    idPrefix: callIdPrefix(given.id),
    blocks: [],
    calls: [],
    callIds: new Set(),
    warnings: [],
    growing: undefined,
  };
}

/** Adjacent parts of one kind are one block, whichever frames they came in. */
export function writeText(reply: Reply, text: string, chunks: Chunk[]): void {
  if (text === "") return;
  const block = growingOf(reply, "text");
  block.written.add(text);
  chunks.push(textDelta(reply.messageId, block.index, text));
}

export function writeThinking(reply: Reply, text: string, chunks: Chunk[]): void {
  if (text === "") return;
  const block = growingOf(reply, "thinking");
  block.written.add(text);
  chunks.push(thinkingDelta(reply.messageId, block.index, text));
}

/** Signs the thought that was just written. A thought that is all signature becomes a block of its own. */
export function signThinking(reply: Reply, signature: string): void {
  if (reply.growing?.kind !== "thinking") closeGrowing(reply);
  const text = reply.growing?.written.text() ?? "";
  reply.growing = undefined;
  reply.blocks.push({ type: "thinking", text, signature, vendor: "google" });
}

/** Adds a block that came whole. */
export function addBlock(reply: Reply, block: Block): void {
  closeGrowing(reply);
  reply.blocks.push(block);
}

export function addCall(reply: Reply, call: WholeCall, json: string, chunks: Chunk[]): void {
  closeGrowing(reply);
  chunks.push(toolInputDelta(reply.messageId, reply.blocks.length, call, json));
  reply.blocks.push({ type: "tool-call", ...call });
  reply.calls.push(call);
}

/** Keeps the calls as what was written, and makes none of them: the host says that one of them cannot be read. */
export function dropCalls(reply: Reply): void {
  reply.calls.length = 0;
  for (const [index, block] of reply.blocks.entries()) {
    if (block.type !== "tool-call") continue;
    const { callId: id, name, input: args } = block;
    reply.blocks[index] = { type: "unknown", raw: { functionCall: { id, name, args } } };
  }
}

/** The id of the next call: the vendor's, or one made up when there is none or it was used before. */
export function takeCallId(reply: Reply, given: string | undefined): string {
  let id = given ?? "";
  for (let next = reply.callIds.size; id === "" || reply.callIds.has(id); next++) id = `${reply.idPrefix}_${next}`;
  reply.callIds.add(id);
  return id;
}

/** Ends the block that still grows, if there is one. */
export function closeGrowing(reply: Reply): void {
  const block = reply.growing;
  if (block === undefined) return;
  reply.growing = undefined;
  reply.blocks.push({ type: block.kind, text: block.written.text() });
}

function growingOf(reply: Reply, kind: "text" | "thinking"): GrowingBlock {
  if (reply.growing?.kind === kind) return reply.growing;
  closeGrowing(reply);
  reply.growing = { kind, index: reply.blocks.length, written: new TextBuilder() };
  return reply.growing;
}
