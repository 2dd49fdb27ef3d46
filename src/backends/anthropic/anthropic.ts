import type { Fetch } from "#domain";
import { anthropicMessages } from "#formats";
import type { ModelBackend } from "../backend.ts";
import { EncodedTranscript } from "../encoded-transcript.ts";
import { streamExchange } from "../exchange.ts";
import { cannotSendToAnthropic } from "../media.ts";
import { hostSecrets } from "../host-secrets.ts";
import { encodeAnthropicRequest, type Written } from "./encode.ts";
import { checkAnthropicOutput } from "./output.ts";

export interface AnthropicOptions {
  readonly model: string;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** The name shown in events and messages; another one when a host imitates this API. */
  readonly provider?: string;
  readonly keyHint?: string;
  /** Sent with every request, e.g. `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest reply of the model, thinking included, where it is known. */
  readonly maxOutputTokens?: number | undefined;
}

/** A model behind Anthropic's Messages API, or a host that imitates it. */
export function createAnthropicBackend(options: AnthropicOptions): ModelBackend {
  const provider = options.provider ?? "anthropic";
  const known = new EncodedTranscript<Written | undefined>();
  return {
    kind: "model",
    name: provider,
    model: options.model,
    nativeOutput: (schema) => checkAnthropicOutput(options.model, schema),
    cannotSend: cannotSendToAnthropic,
    secrets: () => hostSecrets(options),
    stream: (request, signal) =>
      streamExchange(
        {
          fetch: options.fetch,
          url: `${options.baseUrl}/v1/messages`,
          headers: { "x-api-key": options.apiKey, "anthropic-version": "2023-06-01", ...options.headers },
          body: encodeAnthropicRequest(options, request, known),
          format: anthropicMessages,
          provider,
          keyHint: options.keyHint ?? "ANTHROPIC_API_KEY",
          keepRaw: request.keepRaw,
        },
        signal,
      ),
  };
}
