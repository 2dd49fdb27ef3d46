import type { ModelHost } from "#dialects";
import type { Chunk, Fetch } from "#domain";
import { secretsOfAddress, secretsOfHeaders } from "#secrets";
import type { ModelBackend } from "../backend.ts";
import { streamExchange } from "./exchange.ts";

/** A model served by an HTTP API. */
export function createHttpBackend(host: ModelHost, fetch: Fetch): ModelBackend {
  const { url, headers, format, provider, keyHint, address, ignores } = host;
  return {
    kind: "model",
    name: provider,
    model: host.model,
    ...(ignores !== undefined && { ignores }),
    nativeOutput: (schema, hasTools) => host.nativeOutput(schema, hasTools),
    cannotSend: (block) => host.cannotSend(block),
    secrets: () => [address.apiKey, ...secretsOfHeaders(address.headers ?? {}), ...secretsOfAddress(address.baseUrl)],
    stream: (request, signal) => {
      const body = host.encode(request);
      const { keepRaw, replyBytes } = request;
      const exchange = { fetch, url, headers, body, format, provider, keyHint, keepRaw, replyBytes };
      const reply = streamExchange(exchange, signal);
      const notice = host.notice?.(request);
      return notice === undefined ? reply : putBefore(notice, reply);
    },
  };
}

/** Adds a chunk to the first batch: as a separate batch it would look like the host's first sign of life. */
async function* putBefore(chunk: Chunk, batches: AsyncIterable<readonly Chunk[]>): AsyncGenerator<readonly Chunk[]> {
  let isFirst = true;
  for await (const batch of batches) {
    yield isFirst ? [chunk, ...batch] : batch;
    isFirst = false;
  }
}
