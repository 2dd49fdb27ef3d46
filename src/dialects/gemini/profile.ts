import type { HostAddress, ModelHost } from "../shared/model-host.ts";
import { writeValues } from "../shared/request-text.ts";
import { gemini } from "./decode.ts";
import { cannotSendToGemini, checkGeminiOutput, encodeGeminiRequest } from "./request.ts";

export interface GeminiOptions extends HostAddress {
  readonly model: string;
}

/** A model served by Google's Gemini API. The key is sent in a header, never in the URL. */
export function geminiHost(options: GeminiOptions): ModelHost {
  const { model } = options;
  return {
    provider: "google",
    model,
    address: options,
    url: `${options.baseUrl}/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    headers: { "x-goog-api-key": options.apiKey, ...options.headers },
    keyHint: "GEMINI_API_KEY",
    format: gemini,
    ignores: ["parallelToolCalls"],
    nativeOutput: (schema, hasTools) => checkGeminiOutput(model, schema, hasTools),
    cannotSend: cannotSendToGemini,
    encode: (request) => writeValues([encodeGeminiRequest(model, request)]),
  };
}
