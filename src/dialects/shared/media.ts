import { type Block, decodeBase64, type MediaBlock } from "#domain";
import { contentBlocks, mediaTypeOf } from "./content.ts";

/** Media types other than `text/…` whose bytes are text. */
const TEXT_TYPE =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|typescript|sql)\b|[^;]+\+(?:json|xml)\b)/i;

/** The text of a text document; `undefined` for any other block and for undecodable data. */
export function documentText(block: MediaBlock): string | undefined {
  if (block.type !== "document" || block.data === undefined || !TEXT_TYPE.test(mediaTypeOf(block))) return undefined;
  const bytes = decodeBase64(block.data);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** A short description of a block: `audio/ogg audio`, `application/pdf document at an address`. */
export function describeMedia(block: MediaBlock): string {
  const place = block.url === undefined ? "" : " at an address";
  return block.mediaType === undefined ? `${block.type}${place}` : `${block.mediaType} ${block.type}${place}`;
}

/**
 * The note that replaces a block that cannot be sent. Such input is refused before a run starts, but a tool or another
 * agent may produce one later.
 */
export function noteOf(block: MediaBlock, why: string): string {
  return `[${describeMedia(block)} left out: ${why}]`;
}

/** Why a picture that another vendor's model has drawn is not sent as a part of a reply. */
export const TEXT_REPLIES = "this host takes replies of text and calls alone.";

/** Returns why a block cannot be sent to a backend, or `undefined` if it can. */
export type CannotSend = (block: Block) => string | undefined;

/** URL schemes that every host can fetch. */
const WEB: readonly string[] = ["http:", "https:"];

function addressProblem({ url }: MediaBlock, schemes: readonly string[]): string | undefined {
  if (url === undefined) return undefined;
  const scheme = URL.canParse(url) ? new URL(url).protocol : undefined;
  if (scheme !== undefined && schemes.includes(scheme)) return undefined;
  const what = scheme === undefined ? "its url is not an address" : `it cannot fetch ${scheme} addresses`;
  return `${what}. Give the bytes as base64 in data, with their mediaType.`;
}

/**
 * Extends the check to the URL of a block, and to each part of a tool's result. `schemes` are accepted in addition to
 * those of the web.
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
        return addressProblem(block, [...WEB, ...schemes]) ?? cannotSend(block);
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

/** The blocks that the Messages API accepts: pictures, PDF and text. Claude Code accepts the same. */
export const cannotSendToAnthropic: CannotSend = withResults((block) => {
  const mediaType = mediaTypeOf(block);
  if (block.type === "audio") return "it takes no audio. Give a transcript of it as text.";
  if (block.type === "image") {
    return block.url !== undefined || PICTURES.has(mediaType)
      ? undefined
      : `it takes no ${mediaType}. Give PNG, JPEG, GIF or WebP.`;
  }
  if (block.url !== undefined || mediaType === "application/pdf" || documentText(block) !== undefined) return undefined;
  return `it takes no ${mediaType}. Give a PDF or text.`;
});

/** A content block of the Messages API. */
export interface Part {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * Encodes a picture or a document for the Messages API and Claude Code; a block that they do not accept becomes a note.
 */
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
