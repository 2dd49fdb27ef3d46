import type { Backend } from "#backends";
import { type Block, decodeBase64, describeValue, type Message, nearestName, StartError } from "#domain";
import type { Leg } from "./leg.ts";

type Fields = { readonly [name: string]: unknown };

const BLOCK_TYPES = ["text", "thinking", "tool-call", "tool-result", "image", "document", "audio", "unknown"] as const;

/**
 * Checks the blocks of a caller's message. `field` is the path of the message, such as `input[0]`; `name` is the field
 * that contains the blocks.
 *
 * @throws StartError `invalid-input` naming the block, its value and the remedy.
 */
export function checkBlocks(
  blocks: readonly unknown[],
  field: string,
  name = "blocks",
): asserts blocks is readonly Block[] {
  for (const [index, block] of blocks.entries()) checkBlock(block, `${field}.${name}[${index}]`);
}

function checkBlock(block: unknown, field: string): void {
  if (typeof block !== "object" || block === null) throw invalid(`${field} is ${describeValue(block)}, not a block.`);
  const given = block as Fields;
  checkFields(given, field);
  switch (given["type"]) {
    case "text":
    case "thinking":
      return requireText(given, "text", field);
    case "tool-call":
      requireText(given, "callId", field);
      return requireText(given, "name", field);
    case "tool-result":
      return requireText(given, "callId", field);
    case "image":
    case "document":
    case "audio":
      return checkMedia(given, field);
    case "unknown":
      return;
    default:
      throw invalid(`${field}.type is ${describeValue(given["type"])}. Use one of ${BLOCK_TYPES.join(", ")}.`);
  }
}

const MEDIA_FIELDS = ["mediaType", "data", "url", "title"] as const;

/** The fields of the blocks that callers write. The others come from a transcript, which may be a vendor's. */
const FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map<string, readonly string[]>([
  ["text", ["text"]],
  ["image", MEDIA_FIELDS],
  ["document", MEDIA_FIELDS],
  ["audio", MEDIA_FIELDS],
]);

/** Rejects fields that would not be sent, such as those of a vendor's own blocks (`cache_control`, `source`). */
function checkFields(given: Fields, field: string): void {
  const known = FIELDS.get(given["type"]);
  if (known === undefined) return;
  const unknown = Object.keys(given).find(
    (name) => given[name] !== undefined && name !== "type" && !known.includes(name),
  );
  if (unknown === undefined) return;
  const near = nearestName(unknown, known);
  const remedy = near === undefined ? `It has ${known.join(", ")}` : `Did you mean ${near}`;
  throw invalid(
    `${field}.${unknown} is not a field of a block of type "${String(given["type"])}". ${remedy}${near === undefined ? "." : "?"}`,
  );
}

function checkMedia(given: Fields, field: string): void {
  const { data, url } = given;
  const mediaType = readMediaType(given, field);
  if (typeof url === "string" && data === undefined) return;
  if (typeof data === "string" && url === undefined && isBase64(data)) {
    if (mediaType === undefined) {
      throw invalid(`${field}.mediaType is missing. Say what the bytes are, such as "image/png".`);
    }
    if (given["type"] !== "document" || !TEXT_TYPE.test(mediaType) || isEncodedText(data)) return;
    throw invalid(`${field}.data is not a UTF-8 text in base64. Write Buffer.from(text).toString("base64").`);
  }
  throw invalid(`${field} needs its bytes as base64 in data, or its address in url: one of them.`);
}

function readMediaType({ type, mediaType }: Fields, field: string): string | undefined {
  if (mediaType === undefined) return undefined;
  if (typeof mediaType !== "string" || !mediaType.includes("/")) {
    throw invalid(`${field}.mediaType is ${describeValue(mediaType)}. Give a string such as "image/png".`);
  }
  const [family = ""] = mediaType.toLowerCase().split("/", 1);
  // Anything may be a document.
  if (type === "document" || family === type) return mediaType;
  const other = family === "image" || family === "audio" ? family : "document";
  throw invalid(`${field}.mediaType is "${mediaType}", which is no ${String(type)}. Use a block of type "${other}".`);
}

/** Checks only the beginning and the end, because the data may be large. */
function isBase64(data: string): boolean {
  return data !== "" && !data.startsWith("data:") && /^[A-Za-z0-9+/=\s_-]+$/.test(data.slice(0, 64) + data.slice(-64));
}

const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|yaml)\b)/i;

/** A text that was not encoded looks like base64 and would be sent as bytes that mean nothing. */
function isEncodedText(data: string): boolean {
  const bytes = decodeBase64(data);
  try {
    return bytes !== undefined && new TextDecoder("utf-8", { fatal: true }).decode(bytes) !== "";
  } catch {
    return false;
  }
}

function requireText(given: Fields, name: string, field: string): void {
  if (typeof given[name] === "string") return;
  throw invalid(`${field}.${name} is ${describeValue(given[name])}. Give a string.`);
}

/**
 * Checks that every block of the input can be sent to the backend that answers it and to its fallbacks, so that nothing
 * is left out silently.
 *
 * @throws StartError `invalid-input` naming the block, the backend and what to do.
 */
export function checkSendable(
  messages: readonly Message[],
  { legs, start }: { readonly legs: readonly Leg[]; readonly start?: string | undefined },
): void {
  const leg = legs.find((one) => one.agent === (start ?? legs[0]?.agent));
  const backends: readonly Backend[] = leg === undefined ? [] : [leg.backend, ...leg.fallback];
  for (const [at, message] of messages.entries()) {
    if (message.role !== "user") continue;
    for (const [index, block] of message.blocks.entries()) {
      const isNew = at === messages.length - 1;
      for (const backend of backends) checkBackend(backend, block, { field: `input[${at}].blocks[${index}]`, isNew });
    }
  }
}

function checkBackend(
  backend: Backend,
  block: Block,
  { field, isNew }: { readonly field: string; readonly isNew: boolean },
): void {
  // A transcript may contain unknown blocks from another vendor; the new message comes from the caller.
  const why =
    block.type === "unknown" && isNew ? "it is a block of an unknown kind. Leave it out." : backend.cannotSend?.(block);
  if (why !== undefined) throw invalid(`${field} (${block.type}) cannot be sent to ${backend.name}: ${why}`);
}

function invalid(message: string): StartError {
  return new StartError("invalid-input", message);
}
