import type { Block, MediaBlock, TextBlock } from "#domain";
import type { JsonSchema } from "#tools";

/** A tool's output as text, for vendors that accept nothing else. */
export function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  return JSON.stringify(output) ?? "";
}

/**
 * A tool call's arguments as an object, which vendors require. Invalid arguments (kept as text) become an empty one.
 */
export function inputObject(input: unknown): object {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
}

/** A tool's schema with an explicit `type`, which vendors require even if it only refers to other schemas. */
export function objectSchema(schema: JsonSchema): JsonSchema {
  return Object.hasOwn(schema, "type") ? schema : { type: "object", ...schema };
}

/** What a tool may return instead of a value. */
export type ContentBlock = TextBlock | MediaBlock;

/** The blocks of a tool's output, if it is content and not a value. */
export function contentBlocks(output: unknown): readonly ContentBlock[] | undefined {
  if (!Array.isArray(output) || output.length === 0) return undefined;
  return output.every(isContentBlock) ? (output as ContentBlock[]) : undefined;
}

function isContentBlock(value: unknown): value is ContentBlock {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  if (value.type === "text") return "text" in value && typeof value.text === "string";
  return (
    (value.type === "image" || value.type === "document" || value.type === "audio") &&
    ("data" in value || "url" in value)
  );
}

/** Splits a tool's output, for vendors that accept only text in the result and media next to it. */
export function splitContent(output: unknown): {
  readonly value: unknown;
  readonly media: readonly MediaBlock[];
} {
  const content = contentBlocks(output);
  if (content === undefined) return { value: output, media: [] };
  const media = content.filter(isMedia);
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  // An empty result would look like a failure.
  return { value: text === "" ? "The result is in what follows." : text, media };
}

/**
 * The media type of a block, without parameters such as `charset`, in lower case: hosts compare it letter by letter. If the
 * block has none, it is the one of its address, or the default for its type.
 */
export function mediaTypeOf(block: MediaBlock): string {
  const named = block.mediaType?.split(";", 1)[0]?.trim().toLowerCase();
  return named ?? mediaTypeOfAddress(block.url) ?? DEFAULT_TYPES[block.type];
}

/** The media type that the ending of an address names; `undefined` if it names none. */
export function mediaTypeOfAddress(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  return TYPES_BY_ENDING.get(/\.([a-z0-9]+)$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? "");
}

const TYPES_BY_ENDING: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["heic", "image/heic"],
  ["pdf", "application/pdf"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["json", "application/json"],
  ["wav", "audio/wav"],
  ["mp3", "audio/mpeg"],
  ["ogg", "audio/ogg"],
  ["flac", "audio/flac"],
  ["aac", "audio/aac"],
]);

const DEFAULT_TYPES = { image: "image/png", document: "application/pdf", audio: "audio/wav" } as const;

export function isMedia(block: Block): block is MediaBlock {
  return block.type === "image" || block.type === "document" || block.type === "audio";
}
