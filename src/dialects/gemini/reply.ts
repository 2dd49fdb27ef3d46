import {
  type Block,
  type Chunk,
  LONG_JSON,
  TextBuilder,
  textDelta,
  thinkingDelta,
  toolInputDelta,
  type WarningDetail,
} from "#domain";
import { encodeInSlices, measureJson } from "#wire";
import { writeJson } from "../shared/json-text.ts";
import { callIdPrefix } from "../shared/tool-call-assembler.ts";

/** A complete call in a reply. */
export interface WholeCall {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** A reply that is being written: finished blocks, and at most one block of text or thinking that still grows. */
export interface Reply {
  readonly messageId: string;
  readonly model: string | undefined;
  readonly idPrefix: string;
  readonly blocks: Block[];
  readonly calls: WholeCall[];
  readonly callIds: Set<string>;
  readonly warnings: WarningDetail[];
  /** Whether a call came without a name or without all of its arguments. */
  isAnyCut: boolean;
  /** Long arguments in the current frames: their deltas are written one at a time. */
  long: LongInput[];
  growing: GrowingBlock | undefined;
}

/** The arguments of a call in slices, and the place of their deltas among the chunks. */
export interface LongInput {
  readonly at: number;
  readonly json: Iterable<string>;
  deltaOf(piece: string): Chunk;
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
    isAnyCut: false,
    long: [],
    growing: undefined,
  };
}

/** Adjacent parts of one kind form one block, regardless of their frames. */
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

/** Signs the last thought. A thought that consists of a signature alone becomes a separate block. */
export function signThinking(reply: Reply, signature: string): void {
  if (reply.growing?.kind !== "thinking") closeGrowing(reply);
  const text = reply.growing?.written.text() ?? "";
  reply.growing = undefined;
  reply.blocks.push({ type: "thinking", text, signature, vendor: "google" });
}

/** Adds a block that arrived whole. */
export function addBlock(reply: Reply, block: Block): void {
  closeGrowing(reply);
  reply.blocks.push(block);
}

/** The arguments of a call as JSON, at once or in slices; `undefined` if they cannot be written. */
export function writeInput(input: unknown): string | Iterable<string> | undefined {
  return measureJson(input, LONG_JSON) < LONG_JSON ? writeJson(input) : encodeInSlices(input);
}

export function addCall(reply: Reply, call: WholeCall, json: string | Iterable<string>, chunks: Chunk[]): void {
  closeGrowing(reply);
  const index = reply.blocks.length;
  const deltaOf = (piece: string): Chunk => toolInputDelta(reply.messageId, index, call, piece);
  if (typeof json === "string") chunks.push(deltaOf(json));
  else reply.long.push({ at: chunks.length, json, deltaOf });
  reply.blocks.push({ type: "tool-call", ...call });
  reply.calls.push(call);
}

/** Chunks with the deltas of long arguments in their places, one delta in each step. */
export function* inSteps(chunks: readonly Chunk[], long: readonly LongInput[]): Generator<Chunk[], undefined> {
  let from = 0;
  for (const { at, json, deltaOf } of long) {
    for (const piece of json) {
      yield [...chunks.slice(from, at), deltaOf(piece)];
      from = at;
    }
  }
  if (from < chunks.length) yield chunks.slice(from);
  return undefined;
}

/** Keeps the calls as unknown blocks and makes none of them. */
export function dropCalls(reply: Reply): void {
  reply.calls.length = 0;
  for (const [index, block] of reply.blocks.entries()) {
    if (block.type !== "tool-call") continue;
    const { callId: id, name, input: args } = block;
    reply.blocks[index] = { type: "unknown", raw: { functionCall: { id, name, args } } };
  }
}

/** The id of the next call: the vendor's, or a new one if that is missing or already used. */
export function takeCallId(reply: Reply, given: string | undefined): string {
  let id = given ?? "";
  for (let next = reply.callIds.size; id === "" || reply.callIds.has(id); next++) id = `${reply.idPrefix}_${next}`;
  reply.callIds.add(id);
  return id;
}

/** Ends the block that still grows, if any. */
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
