import type { Fetch } from "#domain";
import { openAiChat } from "#formats";
import type { ModelBackend } from "../backend.ts";
import { streamExchange } from "../exchange.ts";
import { encodeOpenaiRequest } from "./encode.ts";
import type { ProviderProfile } from "./profiles.ts";

export interface OpenaiOptions {
  readonly model: string;
  /** Empty when the host needs none. */
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly provider: string;
  readonly profile: ProviderProfile;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A model behind the OpenAI chat completions API, or any host that imitates it. */
export function createOpenaiBackend(options: OpenaiOptions): ModelBackend {
  return {
    kind: "model",
    name: options.provider,
    model: options.model,
    // This API takes an effort, not a number of tokens; guessing one from the other would be no answer.
    ignores: ["thinkingTokens"],
    stream: (request, signal) =>
      streamExchange(
        {
          fetch: options.fetch,
          url: `${options.baseUrl}/chat/completions`,
          headers: { ...(options.apiKey !== "" && { authorization: `Bearer ${options.apiKey}` }), ...options.headers },
          body: encodeOpenaiRequest(options.model, request, options.profile),
          format: openAiChat,
          provider: options.provider,
          keyHint: options.profile.keyVariable ?? "the apiKey option",
        },
        signal,
      ),
  };
}
