import { isRecord, type JsonRecord, ownString, ownValue } from "#wire";
import { type Block, type Check, describeThrown, expects, type Message, shape } from "#domain";
import { ApiError } from "./api-error.ts";
import type { ServerLimits } from "./limits.ts";

/**
 * Reads a request's body as a JSON object. Nothing at all counts as `{}` where `isOptional`.
 *
 * @throws ApiError 415 for another type or a packed body, 413 for too much, 400 for what is no object.
 */
export async function readBody(request: Request, limits: ServerLimits, isOptional = false): Promise<JsonRecord> {
  const type = request.headers.get("content-type");
  if (request.headers.get("content-encoding") !== null) {
    throw new ApiError("unsupported-media-type", "Send the body as it is, without a content-encoding.");
  }
  if (isOptional && type === null && (request.body === null || request.headers.get("content-length") === "0"))
    return {};
  if (type === null || !/^application\/json\s*(;|$)/i.test(type)) {
    throw new ApiError("unsupported-media-type", "Send JSON, with the content-type application/json.");
  }
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > limits.bodyBytes) throw tooLarge(limits);
  return parseBody(await readText(request, limits), limits, isOptional);
}

async function readText(request: Request, limits: ServerLimits): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      size += part.length;
      if (size > limits.bodyBytes) throw tooLarge(limits);
      parts.push(part);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("invalid-request", `The body did not arrive whole: ${describeThrown(error)}`);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(whole);
  } catch {
    throw new ApiError("invalid-request", "The body is not UTF-8.");
  }
}

function parseBody(text: string, limits: ServerLimits, isOptional: boolean): JsonRecord {
  if (isOptional && text === "") return {};
  // Looked at before it is parsed: the parser itself would be the one to suffer.
  if (depthOf(text) > limits.bodyDepth) {
    throw new ApiError("invalid-request", `The body is nested deeper than ${limits.bodyDepth} levels.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError("invalid-request", "The body is not JSON.");
  }
  if (!isRecord(value)) throw new ApiError("invalid-request", "The body must be a JSON object.");
  return value;
}

/** How deep brackets go outside of strings. Linear, whatever the text. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === 0x5c) at += 1;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x5b || character === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (character === 0x5d || character === 0x7d) depth -= 1;
  }
  return deepest;
}

function tooLarge(limits: ServerLimits): ApiError {
  return new ApiError("body-too-large", `The body has more than ${limits.bodyBytes} bytes.`, { connection: "close" });
}

/** Refuses fields that are not known: a mistyped one would otherwise be left out without a word. */
export function requireFields(body: JsonRecord, known: readonly string[]): void {
  const anything: Check = () => undefined;
  refuseFault(shape(Object.fromEntries(known.map((name) => [name, anything])), { what: "field " })(body, ""));
}

/** A text field; `undefined` when it is missing. */
export function readTextField(body: JsonRecord, name: string, maxLength: number): string | undefined {
  const value = ownValue(body, name);
  if (value === undefined) return undefined;
  const isText = (given: unknown): boolean => typeof given === "string" && given.length <= maxLength;
  refuseFault(expects(isText, `a text of at most ${maxLength} characters`)(value, name));
  return value as string;
}

function refuseFault(fault: string | undefined): void {
  if (fault !== undefined) throw new ApiError("invalid-request", fault);
}

const MEDIA_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"];

/** What a person says: a text, or blocks of text and pictures. Nothing else may come from outside. */
export function readInputField(body: JsonRecord, id: string): Message {
  const input = ownValue(body, "input");
  if (typeof input === "string") {
    if (input.trim() === "") throw new ApiError("invalid-request", "input is empty. Say something.");
    return { id, role: "user", blocks: [{ type: "text", text: input }] };
  }
  if (!Array.isArray(input) || input.length === 0) {
    throw new ApiError("invalid-request", "input must be a text or a list of blocks.");
  }
  return { id, role: "user", blocks: input.map(readBlock) };
}

function readBlock(value: unknown, index: number): Block {
  const field = `input[${index}]`;
  const type = isRecord(value) ? ownString(value, "type") : undefined;
  if (isRecord(value) && type === "text") {
    const text = ownString(value, "text");
    if (text === undefined) throw new ApiError("invalid-request", `${field}.text must be a text.`);
    return { type: "text", text };
  }
  if (isRecord(value) && (type === "image" || type === "document")) {
    const mediaType = ownString(value, "mediaType") ?? "";
    const encoded = ownString(value, "data") ?? "";
    // A URL would be fetched by others in our name.
    if (!MEDIA_TYPES.includes(mediaType) || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
      throw new ApiError(
        "invalid-request",
        `${field} must have a mediaType (${MEDIA_TYPES.join(", ")}) and its bytes as base64 in data.`,
      );
    }
    const title = ownString(value, "title");
    return { type, mediaType, data: encoded, ...(title !== undefined && { title: title.slice(0, 200) }) };
  }
  throw new ApiError("invalid-request", `${field} must be a block of type text, image or document.`);
}
