/**
 * One part of a message's content.
 *
 * A vendor's block we do not know is kept whole as `unknown`; so is a tool call whose arguments never became
 * complete, because a `tool-call` block is always something that may be run.
 */
export type Block = TextBlock | ThinkingBlock | ToolCallBlock | ToolResultBlock | MediaBlock | UnknownBlock;

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

/**
 * What a model thought. `signature` belongs to the vendor that wrote it and means nothing to another: `vendor` says
 * whose it is, so that it is sent back there and nowhere else.
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

/** A picture, a document or a recording: inline as base64 `data`, or at a `url`. */
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

/** The text of some blocks, joined; what is not text is left out. */
export function textOf(blocks: readonly Block[]): string {
  const texts = blocks.filter((block) => block.type === "text");
  // Mostly there is one: its text is given as it is, not a copy of it.
  return texts.length === 1 ? (texts[0] as { readonly text: string }).text : texts.map(({ text }) => text).join("");
}
