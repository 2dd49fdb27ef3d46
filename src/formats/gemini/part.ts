import type { Chunk, MediaBlock } from "#domain";
import { isRecord, type JsonRecord, ownRecord, ownString } from "#wire";
import { writeJson } from "../json-text.ts";
import { addBlock, addCall, type Reply, signThinking, takeCallId, writeText, writeThinking } from "./reply.ts";

/**
 * Writes one part of a candidate's content into the reply.
 *
 * A `thoughtSignature` must go back to Gemini on the part it came with, or the next request is refused. So:
 * - on a thought, it is the `signature` of that thinking block, and the next thought begins a new one;
 * - on a function call or on media, an empty thinking block with the signature stands right before that block;
 * - on text, where it comes with or after the last piece, an unknown block with the raw part
 *   `{ text: "", thoughtSignature }` follows the text: the form that Gemini itself uses for it.
 */
export function decodePart(reply: Reply, part: unknown, chunks: Chunk[]): void {
  if (!isRecord(part)) {
    addBlock(reply, { type: "unknown", raw: part });
    return;
  }
  // Fields are read by their own names here, not through a reader: text parts are the hot path.
  const { text, thoughtSignature } = part;
  const signature = typeof thoughtSignature === "string" && thoughtSignature !== "" ? thoughtSignature : undefined;
  if (typeof text === "string") {
    if (part.thought === true) writeThought(reply, { text, signature }, chunks);
    else writeAnswer(reply, { text, signature }, chunks);
    return;
  }
  if (signature !== undefined && isBare(part)) return decodePart(reply, { ...part, text: "" }, chunks);

  const call = ownRecord(part, "functionCall");
  if (call !== undefined) return decodeCall(reply, { part, call, signature }, chunks);

  // A picture that belongs to a thought is a draft, and no answer.
  const media = part.thought === true ? undefined : readMedia(part);
  if (media !== undefined) {
    if (signature !== undefined) addBlock(reply, { type: "thinking", text: "", signature, vendor: "google" });
    addBlock(reply, media);
  } else if (!isBare(part)) addBlock(reply, { type: "unknown", raw: part });
}

interface TextPart {
  readonly text: string;
  readonly signature: string | undefined;
}

function writeThought(reply: Reply, { text, signature }: TextPart, chunks: Chunk[]): void {
  writeThinking(reply, text, chunks);
  if (signature !== undefined) signThinking(reply, signature);
}

function writeAnswer(reply: Reply, { text, signature }: TextPart, chunks: Chunk[]): void {
  writeText(reply, text, chunks);
  if (signature !== undefined) addBlock(reply, { type: "unknown", raw: { text: "", thoughtSignature: signature } });
}

interface CallPart {
  readonly part: JsonRecord;
  readonly call: JsonRecord;
  readonly signature: string | undefined;
}

function decodeCall(reply: Reply, { part, call, signature }: CallPart, chunks: Chunk[]): void {
  const name = ownString(call, "name") ?? "";
  const input = call.args ?? {};
  const json = isRecord(input) ? writeJson(input) : undefined;
  // Arguments streamed in pieces are sent only to those who ask for it. A piece is never taken for the whole.
  if (name === "" || json === undefined || call.willContinue === true || call.partialArgs !== undefined) {
    addBlock(reply, { type: "unknown", raw: part });
    reply.warnings.push({
      code: "tool-call-incomplete",
      message: `A call to the tool ${JSON.stringify(name)} came without a name or without whole arguments, so it was not made. Ask again.`,
      context: { functionCall: call },
    });
    return;
  }
  const signed = signature ?? ownString(call, "thoughtSignature");
  if (signed) addBlock(reply, { type: "thinking", text: "", signature: signed, vendor: "google" });
  addCall(reply, { callId: takeCallId(reply, ownString(call, "id")), name, input }, json, chunks);
}

function readMedia(part: JsonRecord): MediaBlock | undefined {
  const inline = ownRecord(part, "inlineData");
  const file = ownRecord(part, "fileData");
  const data = inline === undefined ? undefined : ownString(inline, "data");
  const url = file === undefined ? undefined : ownString(file, "fileUri");
  if (data === undefined && url === undefined) return undefined;
  const mediaType = ownString(inline ?? file ?? {}, "mimeType");
  return {
    type: mediaType?.startsWith("image/") ? "image" : mediaType?.startsWith("audio/") ? "audio" : "document",
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(data === undefined ? {} : { data }),
    ...(url === undefined ? {} : { url }),
  };
}

/** Whether a part carries nothing but marks. */
function isBare(part: JsonRecord): boolean {
  return Object.keys(part).every((key) => key === "thought" || key === "thoughtSignature");
}
