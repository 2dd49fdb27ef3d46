import { type Chunk, describeThrown, errorItem, type Fetch } from "#domain";
import { createDecoder, type Decoder, type Format } from "#formats";
import { readUtf8 } from "#transports";
import { joinArrived } from "./arrived.ts";
import { describeRefusal, describeWebPage } from "./refusal.ts";
import { createRedaction, redactErrors } from "./redact.ts";

/** One request to a model host, ready to be sent. */
export interface Exchange {
  readonly fetch: Fetch;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly format: Format;
  /** Who answers, for messages: `anthropic`, `openrouter` … */
  readonly provider: string;
  /** Where the key came from, for the remedy of an authentication error. */
  readonly keyHint: string;
}

/** An error body is read up to here; it is shown to people, not parsed for ever. */
const MAX_ERROR_BODY = 64 * 1024;

/**
 * Sends a request and decodes the streamed reply. Failures are terminal `error` chunks, in which no key occurs; an
 * aborted exchange just ends. What a reply that came to nothing has used is told all the same (a notice of kind `usage`).
 */
export async function* streamExchange(exchange: Exchange, signal: AbortSignal): AsyncGenerator<readonly Chunk[], void> {
  const redact = createRedaction(exchange.headers);
  const decoder = createDecoder(exchange.format, { readText: readUtf8 });
  try {
    const response = await exchange.fetch({
      method: "POST",
      url: exchange.url,
      headers: { "content-type": "application/json", accept: "text/event-stream", ...exchange.headers },
      body: exchange.body,
      signal,
    });
    const isWebPage = /^text\/html\b/i.test(response.headers["content-type"] ?? "");
    if (response.status !== 200 || isWebPage) {
      const body = redact(await readText(response.body));
      if (signal.aborted) return;
      const { status, headers } = response;
      yield [status === 200 ? describeWebPage(exchange, body) : describeRefusal(exchange, { status, headers, body })];
      return;
    }
    for await (const bytes of response.body) {
      if (signal.aborted) break;
      const chunks = decoder.push(joinArrived(bytes, response.body));
      if (chunks.length > 0) yield redactErrors(chunks, redact);
      if (decoder.isOver || signal.aborted) break;
    }
    yield signal.aborted ? spentBy(decoder) : redactErrors(decoder.end(), redact);
  } catch (error) {
    yield spentBy(decoder);
    if (!signal.aborted) yield [describeBreak(exchange, redact(describeThrown(error)))];
  }
}

/** What an unfinished reply has used, as far as its host has said it. */
function spentBy(decoder: Decoder): readonly Chunk[] {
  return decoder.end().filter((chunk) => chunk.type === "notice" && chunk.kind === "usage");
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length >= MAX_ERROR_BODY) break;
    }
  } catch {
    // The status is what counts; what could be read of the body is shown.
  }
  return text.slice(0, MAX_ERROR_BODY);
}

function describeBreak(exchange: Exchange, why: string): Chunk {
  const where = hostOf(exchange.url);
  return errorItem({
    code: "provider-unreachable",
    message: `The connection to ${exchange.provider} (${where}) failed: ${why}`,
    terminal: true,
    diagnostic: {
      hint: `${where} could not be reached, or broke the connection off.`,
      troubleshooting: "Check the base URL and the network, and whether the host is up.",
    },
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "an address that cannot be read";
}
