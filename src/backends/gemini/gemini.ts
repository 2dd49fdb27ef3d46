import type { Fetch } from "#domain";
import { gemini } from "#formats";
import type { ModelBackend } from "../backend.ts";
import { streamExchange } from "../exchange.ts";
import { hostSecrets } from "../host-secrets.ts";
import { writeValues } from "../request-text.ts";
import { cannotSendToGemini, encodeGeminiRequest } from "./encode.ts";
import { checkGeminiOutput } from "./output.ts";

export interface GeminiOptions {
  readonly model: string;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A model behind Google's Gemini API. The key goes in a header, never into the address. */
export function createGeminiBackend(options: GeminiOptions): ModelBackend {
  return {
    kind: "model",
    name: "google",
    model: options.model,
    ignores: ["parallelToolCalls"],
    nativeOutput: (schema, hasTools) => checkGeminiOutput(options.model, schema, hasTools),
    cannotSend: cannotSendToGemini,
    secrets: () => hostSecrets(options),
    stream: (request, signal) =>
      streamExchange(
        {
          fetch: options.fetch,
          url: `${options.baseUrl}/v1beta/models/${encodeURIComponent(options.model)}:streamGenerateContent?alt=sse`,
          headers: { "x-goog-api-key": options.apiKey, ...options.headers },
          body: writeValues([encodeGeminiRequest(options.model, request)]),
          format: gemini,
          provider: "google",
          keyHint: "GEMINI_API_KEY",
          keepRaw: request.keepRaw,
        },
        signal,
      ),
  };
}
