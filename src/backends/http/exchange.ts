import { type Chunk, describeThrown, errorItem, type Fetch, type HttpResponse } from "#domain";
import { createReplyDecoder, type Decoder, finishText, type Format, type RequestText } from "#dialects";
import { createSecretMask, type SecretMask, secretsOfAddress, secretsOfHeaders } from "#secrets";
import { systemTurn } from "#transports";
import { describeRefusal, describeWebPage } from "./refusal.ts";

/** One request to a model host, ready to be sent. */
export interface Exchange {
  readonly fetch: Fetch;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestText;
  readonly format: Format;
  /** The provider's name, for messages: `anthropic`, `openrouter` … */
  readonly provider: string;
  /** Where the key came from, for the remedy of an authentication error. */
  readonly keyHint: string;
  /** Each chunk keeps the frame it was read from. */
  readonly keepRaw?: boolean | undefined;
  /** The most bytes of the reply. */
  readonly replyBytes?: number | undefined;
}

/** The maximum size of an error body: it is shown to people. */
const MAX_ERROR_BODY = 64 * 1024;

type Taken = IteratorResult<readonly Chunk[], undefined>;

const END: Taken = { done: true, value: undefined };

/**
 * Sends a request and decodes the streamed reply. Failures are terminal `error` chunks without keys; an aborted
 * exchange just ends. The usage of a failed reply is reported all the same (a notice of kind `usage`).
 *
 * The request is sent when the first batch is requested. Leaving the loop closes the connection.
 */
export function streamExchange(exchange: Exchange, signal: AbortSignal): AsyncIterableIterator<readonly Chunk[]> {
  return new ReplyStream(exchange, signal);
}

class ReplyStream implements AsyncIterableIterator<readonly Chunk[], undefined> {
  private readonly _exchange: Exchange;
  private readonly _signal: AbortSignal;
  private _mask: SecretMask | undefined;
  private readonly _decoder: Decoder;
  private _pieces: AsyncIterator<Uint8Array> | undefined;
  /** Reading has ended; the decoder's last chunks are not emitted yet. */
  private _isRead = false;
  private _isOver = false;

  constructor(exchange: Exchange, signal: AbortSignal) {
    this._exchange = exchange;
    this._signal = signal;
    this._decoder = createReplyDecoder(exchange.format, exchange);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Taken> {
    if (this._isOver) return Promise.resolve(END);
    if (this._isRead) return this._end();
    return this._pieces === undefined ? this._open() : this._read(this._pieces);
  }

  async return(): Promise<Taken> {
    this._isOver = true;
    await this._pieces?.return?.();
    return END;
  }

  private async _open(): Promise<Taken> {
    const { url, headers, body, fetch } = this._exchange;
    try {
      const response = await fetch({
        method: "POST",
        url,
        headers: { "content-type": "application/json", accept: "text/event-stream", ...headers },
        body: await finishText(body, systemTurn),
        signal: this._signal,
      });
      const isWebPage = /^text\/html\b/i.test(response.headers["content-type"] ?? "");
      if (response.status !== 200 || isWebPage) return await this._refuse(response);
      this._pieces = response.body[Symbol.asyncIterator]();
      return await this._read(this._pieces);
    } catch (error) {
      return this._break(error);
    }
  }

  private async _refuse({ status, headers, body }: HttpResponse): Promise<Taken> {
    this._isOver = true;
    const text = this._cover(await readText(body));
    if (this._signal.aborted) return END;
    const error =
      status === 200
        ? describeWebPage(this._exchange, text)
        : describeRefusal(this._exchange, { status, headers, body: text });
    return { done: false, value: [error] };
  }

  private async _read(pieces: AsyncIterator<Uint8Array>): Promise<Taken> {
    try {
      const rest = this._decoder.rest();
      if (rest.length > 0) {
        await systemTurn();
        return { done: false, value: await this._coverErrors(rest) };
      }
      for (;;) {
        const { done, value } = await pieces.next();
        if (done === true) this._pieces = undefined;
        if (done === true || this._signal.aborted) return await this._end();
        const taken = this._take(value);
        const chunks = taken instanceof Promise ? await taken : taken;
        if (chunks.length > 0) return { done: false, value: chunks };
        if (this._isRead) return await this._end();
      }
    } catch (error) {
      return this._break(error);
    }
  }

  private _take(bytes: Uint8Array): readonly Chunk[] | Promise<readonly Chunk[]> {
    const chunks = this._decoder.push(bytes);
    this._isRead = this._decoder.isOver || this._signal.aborted;
    return this._coverErrors(chunks);
  }

  private async _end(): Promise<Taken> {
    try {
      this._isOver = true;
      await this._pieces?.return?.();
      const value = this._signal.aborted ? spentBy(this._decoder) : await this._coverErrors(this._decoder.end());
      return { done: false, value };
    } catch (error) {
      return this._break(error);
    }
  }

  private _break(error: unknown): Taken {
    this._isOver = true;
    const chunks = spentBy(this._decoder);
    if (!this._signal.aborted) chunks.push(describeBreak(this._exchange, this._cover(describeThrown(error))));
    return { done: false, value: chunks };
  }

  /** A host may also report an error in the middle of a stream. */
  private _coverErrors(chunks: readonly Chunk[]): readonly Chunk[] | Promise<readonly Chunk[]> {
    return chunks.some((chunk) => chunk.type === "error") ? this._coverInTurns(chunks) : chunks;
  }

  /** A frame that could not be read is part of its error, and may be very large. */
  private async _coverInTurns(chunks: readonly Chunk[]): Promise<readonly Chunk[]> {
    const shown: Chunk[] = [];
    for (const chunk of chunks) {
      if (chunk.type === "error") await this._secretMask()?.prepare(chunk, systemTurn);
      shown.push(chunk.type === "error" ? this._cover(chunk) : chunk);
    }
    return shown;
  }

  /** Hosts repeat the key that they refuse. The mask is created for the first error: most exchanges have none. */
  private _cover<Shown>(shown: Shown): Shown {
    return this._secretMask()?.value(shown) ?? shown;
  }

  private _secretMask(): SecretMask | undefined {
    const { headers, url } = this._exchange;
    this._mask ??= createSecretMask([...secretsOfHeaders(headers), ...secretsOfAddress(url)]);
    return this._mask;
  }
}

/** The usage of an unfinished reply, as far as its host has reported it. */
function spentBy(decoder: Decoder): Chunk[] {
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
    // The status matters; whatever could be read of the body is shown.
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
