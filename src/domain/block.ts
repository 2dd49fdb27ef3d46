/**
 * One part of a message's content.
 *
 * An unknown block of a vendor is kept whole as `unknown`; so is a tool call whose arguments never became complete,
 * because a `tool-call` block can always be run.
 */
export type Block = TextBlock | ThinkingBlock | ToolCallBlock | ToolResultBlock | MediaBlock | UnknownBlock;

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

/**
 * A model's thinking. `signature` is only valid for the vendor that wrote it; `vendor` names it, so that the signature
 * is sent back there and nowhere else.
 */
export interface ThinkingBlock {
  readonly type: "thinking";
  readonly text: string;
  readonly signature?: string;
  readonly vendor?: string;
}

export interface ToolCallBlock {
  readonly type: "tool-call";
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResultBlock {
  readonly type: "tool-result";
  readonly callId: string;
  readonly output: unknown;
  readonly isError: boolean;
}

/** An image, a document or an audio recording: inline as base64 `data`, or at a `url`. */
export interface MediaBlock {
  readonly type: "image" | "document" | "audio";
  readonly mediaType?: string;
  readonly data?: string;
  readonly url?: string;
  readonly title?: string;
}

export interface UnknownBlock {
  readonly type: "unknown";
  readonly raw: unknown;
}

/** The text of some blocks, joined; other blocks are left out. */
export function textOf(blocks: readonly Block[]): string {
  const texts = blocks.filter((block) => block.type === "text");
  // Usually there is one, whose text is returned without copying.
  return texts.length === 1 ? (texts[0] as { readonly text: string }).text : texts.map(({ text }) => text).join("");
}
