import type { Format } from "../format.ts";
import { createOpenAiChatAdapter } from "./decode.ts";

/**
 * The stream of OpenAI's Chat Completions, as OpenAI and the many hosts that imitate it send it.
 *
 * A reply is whole when its `finish_reason` was seen; `[DONE]` alone is not enough, and its absence does no harm.
 *
 * @example
 * const decoder = createDecoder(openAiChat)
 * for (const chunk of decoder.push(bytes)) console.log(chunk.type)
 */
export const openAiChat: Format = {
  name: "openai-chat",
  framing: "sse",
  description: "OpenAI Chat Completions and compatible hosts (OpenRouter, vLLM, DeepSeek, Modal, Ollama …)",
  createAdapter: createOpenAiChatAdapter,
};
