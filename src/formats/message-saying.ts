import type { Chunk } from "#domain";
import { isRecord, type JsonRecord, type Saying } from "#wire";
import { blockAt, type OpenMessage, type PieceType, writePiece } from "./message-stream.ts";

/** What a `content_block_delta` says. */
export interface MessageSaying extends Saying {
  readonly vendorIndex: unknown;
  readonly type: PieceType;
}

const PIECE_KEYS: ReadonlyMap<unknown, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["input_json_delta", "partial_json"],
] satisfies [PieceType, string][]);

/** What an event of the Messages API says, if it adds to a block. */
export function findInEvent(event: JsonRecord): MessageSaying | undefined {
  const { delta, index: vendorIndex } = event;
  if (event.type !== "content_block_delta" || !isRecord(delta)) return undefined;
  const key = PIECE_KEYS.get(delta.type);
  const said = key === undefined ? undefined : delta[key];
  if (key === undefined || typeof said !== "string" || said === "") return undefined;
  return { said, key, vendorIndex, type: delta.type as PieceType };
}

/** Writes what a repeat of such an event says. False when the message has no place for it. */
export function writeSaying(message: OpenMessage, like: MessageSaying, said: string, out: Chunk[]): boolean {
  const block = blockAt(message, like.vendorIndex);
  return block !== undefined && writePiece(message, block, like.type, said, out) === "written";
}
