import { EncodedTranscript } from "../shared/encoded-transcript.ts";
import { cannotSendToAnthropic } from "../shared/media.ts";
import type { HostAddress, ModelHost } from "../shared/model-host.ts";
import { anthropicMessages } from "./decode.ts";
import { checkAnthropicOutput, encodeAnthropicRequest, type Written } from "./request.ts";

export interface AnthropicOptions extends HostAddress {
  readonly model: string;
  /** The name shown in events and messages. Hosts that imitate this API set their own. */
  readonly provider?: string;
  readonly keyHint?: string;
  /** The longest reply of the model, thinking included, if known. */
  readonly maxOutputTokens?: number | undefined;
}

/** A model served by Anthropic's Messages API, or by a host that imitates it. */
export function anthropicHost(options: AnthropicOptions): ModelHost {
  const known = new EncodedTranscript<Written | undefined>();
  return {
    provider: options.provider ?? "anthropic",
    model: options.model,
    address: options,
    url: `${options.baseUrl}/v1/messages`,
    headers: { "x-api-key": options.apiKey, "anthropic-version": "2023-06-01", ...options.headers },
    keyHint: options.keyHint ?? "ANTHROPIC_API_KEY",
    format: anthropicMessages,
    nativeOutput: (schema) => checkAnthropicOutput(options.model, schema),
    cannotSend: cannotSendToAnthropic,
    encode: (request) => encodeAnthropicRequest(options, request, known),
  };
}
