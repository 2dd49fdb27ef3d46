import { isRecord, type JsonRecord, ownValue } from "#wire";
import {
  anObject,
  aText,
  type Block,
  type Check,
  describeThrown,
  expects,
  giveInstead,
  type Message,
  oneOf,
  shape,
} from "#domain";
import { ApiError } from "./api-error.ts";
import type { ServerLimits } from "./limits.ts";

/**
 * Reads a request's body as a JSON object. An empty body counts as `{}` if `isOptional`.
 *
 * @throws ApiError 415 for another type or a compressed body, 413 for too much, 400 for anything but an object.
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
  // Checked before parsing, to protect the parser itself.
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

/** The nesting depth of brackets outside strings. Linear in the text. */
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

/** Rejects unknown fields: a mistyped one would otherwise be ignored silently. */
export function requireFields(body: JsonRecord, known: readonly string[]): void {
  const anything: Check = () => undefined;
  refuseFault(shape(Object.fromEntries(known.map((name) => [name, anything])), { what: "field " })(body, ""));
}

/** A text field; `undefined` if it is missing. */
export function readTextField(body: JsonRecord, name: string, maxLength: number): string | undefined {
  const value = ownValue(body, name);
  if (value === undefined) return undefined;
  const isText = (given: unknown): boolean => typeof given === "string" && given.length <= maxLength;
  refuseFault(expects(isText, `a string of at most ${maxLength} characters`)(value, name));
  return value as string;
}

function refuseFault(fault: string | undefined): void {
  if (fault !== undefined) throw new ApiError("invalid-request", fault);
}

const aBlockType = oneOf(["text", "image", "document"]);
const aMediaType = oneOf(["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"]);
// URLs are not accepted: others would fetch them in our name.
const inBase64 = expects(
  (value) => typeof value === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(value),
  "the bytes as base64",
);

/** A person's input: a text, or blocks of text and media. Nothing else is accepted from outside. */
export function readInputField(body: JsonRecord, id: string): Message {
  const input = ownValue(body, "input");
  if (typeof input === "string") {
    if (input.trim() === "") throw new ApiError("invalid-request", "input is empty. Say something.");
    return { id, role: "user", blocks: [{ type: "text", text: input }] };
  }
  const isList = Array.isArray(input) && input.length > 0;
  if (!isList) throw new ApiError("invalid-request", giveInstead("input", input, "a string or a list of blocks"));
  return { id, role: "user", blocks: input.map((block, index) => readBlock(block, `input[${index}]`)) };
}

function readBlock(value: unknown, field: string): Block {
  refuseFault(anObject(value, field));
  const { type, text, mediaType, data, title } = value as JsonRecord;
  refuseFault(aBlockType(type, `${field}.type`));
  if (type === "text") {
    refuseFault(aText(text, `${field}.text`));
    return { type, text: text as string };
  }
  refuseFault(aMediaType(mediaType, `${field}.mediaType`) ?? inBase64(data, `${field}.data`));
  return {
    type: type as "image" | "document",
    mediaType: mediaType as string,
    data: data as string,
    ...(typeof title === "string" && { title: title.slice(0, 200) }),
  };
}
