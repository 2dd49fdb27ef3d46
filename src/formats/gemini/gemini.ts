import type { Format } from "../format.ts";
import { createGeminiAdapter } from "./decode.ts";

/**
 * The stream of Gemini's `streamGenerateContent?alt=sse`.
 *
 * A reply is whole when a `finishReason` was seen and the stream is over. There is no mark for the end, and some
 * versions put a reason on every frame, so the `message` comes with `flush`.
 *
 * @example
 * const decoder = createDecoder(gemini)
 * for (const chunk of decoder.push(bytes)) console.log(chunk.type)
 */
export const gemini: Format = {
  name: "gemini",
  framing: "sse",
  description: "Google Gemini, streamGenerateContent with alt=sse",
  createAdapter: createGeminiAdapter,
};
