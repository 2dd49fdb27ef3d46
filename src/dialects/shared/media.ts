import type { Block, MediaBlock } from "#domain";
import { decodeBase64 } from "#wire";
import { contentBlocks, mediaTypeOf } from "./content.ts";

/** Types beside `text/…` whose bytes are text. */
const TEXT_TYPE =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|typescript|sql)\b|[^;]+\+(?:json|xml)\b)/i;

/** The text of a document that is text; `undefined` for any other, and for what cannot be decoded. */
export function documentText(block: MediaBlock): string | undefined {
  if (block.type !== "document" || block.data === undefined || !TEXT_TYPE.test(mediaTypeOf(block))) return undefined;
  const bytes = decodeBase64(block.data);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** A block in a few words: `audio/ogg audio`, `application/pdf document at an address`. */
export function describeMedia(block: MediaBlock): string {
  const place = block.url === undefined ? "" : " at an address";
  return block.mediaType === undefined ? `${block.type}${place}` : `${block.mediaType} ${block.type}${place}`;
}

/**
 * What a model reads in place of a block that cannot be sent: input like that is refused before a run starts, but a tool
 * or another agent may bring one in the middle of it.
 */
export function noteOf(block: MediaBlock, why: string): string {
  return `[${describeMedia(block)} left out: ${why}]`;
}

/** Why a backend cannot be sent a block. `undefined`: it can. */
export type CannotSend = (block: Block) => string | undefined;

/** Addresses that every host can fetch. */
const WEB: readonly string[] = ["http:", "https:"];

function addressProblem({ url }: MediaBlock, schemes: readonly string[]): string | undefined {
  if (url === undefined) return undefined;
  const scheme = URL.canParse(url) ? new URL(url).protocol : undefined;
  if (scheme !== undefined && schemes.includes(scheme)) return undefined;
  const what = scheme === undefined ? "its url is no address" : `it cannot fetch ${scheme} addresses`;
  return `${what}. Give the bytes as base64 in data, with their mediaType.`;
}

/**
 * The same for the address of a block, and for a tool's result: each part of its content has to be sendable. `schemes`
 * are the addresses that are taken beside those of the web.
 */
export function withResults(
  cannotSend: (block: MediaBlock) => string | undefined,
  schemes: readonly string[] = [],
): CannotSend {
  const check: CannotSend = (block) => {
    switch (block.type) {
      case "image":
      case "document":
      case "audio":
        return cannotSend(block) ?? addressProblem(block, [...WEB, ...schemes]);
      case "tool-result":
        return contentBlocks(block.output)
          ?.map(check)
          .find((why) => why !== undefined);
      default:
        return undefined;
    }
  };
  return check;
}

const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The blocks the Messages API takes: pictures, PDF and text. Claude Code takes the same. */
export const cannotSendToAnthropic: CannotSend = withResults((block) => {
  const mediaType = mediaTypeOf(block);
  if (block.type === "audio") return "it takes no audio. Give a transcript of it as text.";
  if (block.type === "image") {
    return block.url !== undefined || PICTURES.has(mediaType)
      ? undefined
      : `it takes no ${mediaType}. Give PNG, JPEG, GIF or WebP.`;
  }
  if (block.url !== undefined || mediaType === "application/pdf" || documentText(block) !== undefined) return undefined;
  return `it takes no ${mediaType}. Give a PDF or a text.`;
});

/** A block in the Messages API's words. */
export interface Part {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A picture or a document as the Messages API and Claude Code take it; a note in place of what they do not take. */
export function encodeMessagesMedia(block: MediaBlock): Part {
  const why = cannotSendToAnthropic(block);
  if (why !== undefined) return { type: "text", text: noteOf(block, why) };
  const hasTitle = block.type === "document" && block.title !== undefined;
  return { type: block.type, source: encodeSource(block), ...(hasTitle && { title: block.title }) };
}

function encodeSource(block: MediaBlock): unknown {
  if (block.url !== undefined) return { type: "url", url: block.url };
  const text = documentText(block);
  if (text !== undefined) return { type: "text", media_type: "text/plain", data: text };
  return { type: "base64", media_type: mediaTypeOf(block), data: block.data ?? "" };
}
