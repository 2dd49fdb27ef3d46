import type { Chunk, Fetch } from "#domain";
import { openAiChat } from "#formats";
import type { ModelBackend, ModelRequest } from "../backend.ts";
import { EncodedTranscript } from "../encoded-transcript.ts";
import { streamExchange } from "../exchange.ts";
import { cannotSendToChat, encodeOpenaiRequest } from "./encode.ts";
import { hostSecrets } from "../host-secrets.ts";
import { checkOpenaiOutput } from "./output.ts";
import type { ProviderProfile } from "./profiles.ts";
import { mayThink, thinkingNotice } from "./thinking.ts";

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
  const known = new EncodedTranscript();
  return {
    kind: "model",
    name: options.provider,
    model: options.model,
    // Most of these hosts cannot be told how much to think, and a guess would be no answer.
    ignores: [
      ...(mayThink(options.model, options.profile) ? [] : (["thinkingTokens"] as const)),
      ...(options.profile.parallelToolCalls ? [] : (["parallelToolCalls"] as const)),
    ],
    nativeOutput: (schema) => checkOpenaiOutput(options, schema),
    cannotSend: cannotSendToChat,
    secrets: () => hostSecrets(options),
    stream: (request, signal) => {
      const reply = askHost(options, request, known, signal);
      const notice = thinkingNotice(options.model, request, options.profile);
      return notice === undefined ? reply : putBefore(notice, reply);
    },
  };
}

function askHost(options: OpenaiOptions, request: ModelRequest, known: EncodedTranscript, signal: AbortSignal) {
  return streamExchange(
    {
      fetch: options.fetch,
      url: `${options.baseUrl}/chat/completions`,
      headers: { ...(options.apiKey !== "" && { authorization: `Bearer ${options.apiKey}` }), ...options.headers },
      body: encodeOpenaiRequest(options.model, request, options.profile, known),
      format: openAiChat,
      provider: options.provider,
      keyHint: options.profile.keyVariable ?? "the apiKey option",
      keepRaw: request.keepRaw,
    },
    signal,
  );
}

/** Puts a chunk into the first batch: alone, it would look like the host's first sign of life. */
async function* putBefore(chunk: Chunk, batches: AsyncIterable<readonly Chunk[]>): AsyncGenerator<readonly Chunk[]> {
  let isFirst = true;
  for await (const batch of batches) {
    yield isFirst ? [chunk, ...batch] : batch;
    isFirst = false;
  }
}
