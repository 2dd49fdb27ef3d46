import { EncodedTranscript } from "../shared/encoded-transcript.ts";
import type { ModelHost } from "../shared/model-host.ts";
import { openAiChat } from "./decode.ts";
import { cannotSendToChat, checkOpenaiOutput, encodeOpenaiRequest, mayThink, thinkingNotice } from "./request.ts";
import type { OpenaiOptions, ProviderProfile } from "./types.ts";

/** The hosts that are known by name. Any other is reached with `openai` and a base URL of its own. */
export const PROFILES = {
  openai: {
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    baseUrlVariable: "OPENAI_BASE_URL",
    limitField: "max_completion_tokens",
    instructionsRole: "developer",
    usageInStream: true,
    parallelToolCalls: true,
    outputForm: { strict: true, except: /^(gpt-3|gpt-4(-|$)|gpt-4o-2024-05-13|chatgpt-|o1-(mini|preview))/ },
    thinking: { kind: "effort", models: /^(gpt-5(?!.*chat)|gpt-[6-9](?!.*chat)|o1(?!-mini|-preview)|o[3-9])/ },
  },
  openrouter: {
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    baseUrlVariable: "OPENROUTER_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: true,
    // No `outputForm`: hosts behind it that do not understand the field ignore it, while tools are only sent to hosts
    // that have them.
    thinking: { kind: "tokens" },
  },
  deepseek: {
    baseUrl: "https://api.deepseek.com/v1",
    keyVariable: "DEEPSEEK_API_KEY",
    baseUrlVariable: "DEEPSEEK_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: false,
  },
  vllm: {
    baseUrl: "http://127.0.0.1:8000/v1",
    keyVariable: undefined,
    baseUrlVariable: "VLLM_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: false,
    outputForm: { strict: false },
  },
  modal: {
    // Every Modal app has an address of its own; there is no common one.
    baseUrl: "",
    keyVariable: "MODAL_API_KEY",
    baseUrlVariable: "MODAL_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: false,
  },
} as const satisfies Record<string, ProviderProfile>;

/** A model behind the OpenAI chat completions API, or any host that imitates it. */
export function openaiHost(options: OpenaiOptions): ModelHost {
  const { model, profile } = options;
  const known = new EncodedTranscript();
  return {
    provider: options.provider,
    model,
    address: options,
    url: `${options.baseUrl}/chat/completions`,
    headers: { ...(options.apiKey !== "" && { authorization: `Bearer ${options.apiKey}` }), ...options.headers },
    keyHint: profile.keyVariable ?? "the apiKey option",
    format: openAiChat,
    // Most of these hosts cannot be told how much to think, and a guess would be no answer.
    ignores: [
      ...(mayThink(model, profile) ? [] : (["thinkingTokens"] as const)),
      ...(profile.parallelToolCalls ? [] : (["parallelToolCalls"] as const)),
    ],
    nativeOutput: (schema) => checkOpenaiOutput(options, schema),
    cannotSend: cannotSendToChat,
    encode: (request) => encodeOpenaiRequest(model, request, profile, known),
    notice: (request) => thinkingNotice(model, request, profile),
  };
}
