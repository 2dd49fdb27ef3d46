import { EncodedTranscript } from "../shared/encoded-transcript.ts";
import type { ModelHost } from "../shared/model-host.ts";
import { openAiChat } from "./decode.ts";
import { cannotSendToChat, checkOpenaiOutput, encodeOpenaiRequest, mayThink, thinkingNotice } from "./request.ts";
import type { OpenaiOptions, ProviderProfile } from "./types.ts";

/** The hosts that are known by name. Any other host is reached with `openai` and its base URL. */
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
    // No `outputForm`: hosts that OpenRouter forwards to ignore the field if they do not support it, while requests
    // with tools go only to hosts that support tools.
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
    // Every Modal app has its own address; there is no common one.
    baseUrl: "",
    keyVariable: "MODAL_API_KEY",
    baseUrlVariable: "MODAL_BASE_URL",
    limitField: "max_tokens",
    instructionsRole: "system",
    usageInStream: true,
    parallelToolCalls: false,
  },
} as const satisfies Record<string, ProviderProfile>;

/** A model served by the OpenAI chat completions API, or by any host that imitates it. */
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
    // Most of these hosts have no setting for the amount of thinking, and a guess would be wrong.
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
