import {
  type Chunk,
  describeThrown,
  type Diagnostic,
  type ErrorCode,
  errorItem,
  type Fetch,
  isStartError,
} from "#domain";
import { createDecoder, type Format } from "#formats";
import { parseJson } from "#wire";

/** One request to a model host, ready to be sent. */
export interface Exchange {
  readonly fetch: Fetch;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly format: Format;
  /** Who answers, for messages: `anthropic`, `openrouter` … */
  readonly provider: string;
  /** Where the key came from, for the remedy of an authentication error. */
  readonly keyHint: string;
}

/** An error body is read up to here; it is shown to people, not parsed for ever. */
const MAX_ERROR_BODY = 64 * 1024;

/**
 * Sends a request and decodes the streamed reply. Failures are terminal `error` chunks; an aborted exchange just ends.
 */
export async function* streamExchange(exchange: Exchange, signal: AbortSignal): AsyncGenerator<readonly Chunk[], void> {
  try {
    const response = await exchange.fetch({
      method: "POST",
      url: exchange.url,
      headers: { "content-type": "application/json", accept: "text/event-stream", ...exchange.headers },
      body: JSON.stringify(exchange.body),
      signal,
    });
    if (response.status !== 200) {
      yield [describeRefusal(exchange, response.status, response.headers, await readText(response.body))];
      return;
    }
    const decoder = createDecoder(exchange.format);
    for await (const bytes of response.body) {
      const chunks = decoder.push(bytes);
      if (chunks.length > 0) yield chunks;
      if (decoder.isOver || signal.aborted) break;
    }
    if (!signal.aborted) yield decoder.end();
  } catch (error) {
    if (signal.aborted) return;
    yield [describeBreak(exchange, error)];
  }
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

function describeRefusal(
  exchange: Exchange,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): Chunk {
  const { message, vendorCode } = readVendorError(body);
  const retryAfterMs = readRetryAfter(headers);
  const said = message === "" ? body.slice(0, 300).trim() : message;
  const diagnostic: Diagnostic = {
    status,
    ...(vendorCode !== "" && { vendorCode }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...hintFor(exchange, status),
    seen: body.slice(0, 2048),
  };
  return errorItem({
    code: codeOf(status),
    message: `${exchange.provider} answered ${status}${said === "" ? "" : `: ${said}`}`,
    terminal: true,
    diagnostic,
  });
}

function describeBreak(exchange: Exchange, error: unknown): Chunk {
  const where = hostOf(exchange.url);
  return errorItem({
    code: isStartError(error) ? "provider-error" : "provider-unreachable",
    message: `The connection to ${exchange.provider} (${where}) failed: ${describeThrown(error)}`,
    terminal: true,
    diagnostic: {
      hint: `${where} could not be reached, or broke the connection off.`,
      troubleshooting: "Check the base URL and the network, and whether the host is up.",
    },
  });
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return "provider-auth";
  if (status === 429) return "provider-rate-limited";
  if (status === 503 || status === 529) return "provider-overloaded";
  return status >= 400 && status < 500 ? "provider-invalid-request" : "provider-error";
}

function hintFor(exchange: Exchange, status: number): Pick<Diagnostic, "hint" | "troubleshooting"> {
  if (status === 401 || status === 403) {
    return { hint: "The key was not accepted.", troubleshooting: `Check ${exchange.keyHint}.` };
  }
  if (status === 404) {
    return {
      hint: "The host knows no such model or address.",
      troubleshooting: "Check the model's name and the base URL.",
    };
  }
  if (status === 429)
    return { hint: "The host limits how much may be asked.", troubleshooting: "Wait, or raise the limit there." };
  if (status >= 300 && status < 400) {
    return {
      hint: "The host redirects; that is not followed, because the key would go along.",
      troubleshooting: "Set the base URL to the final address.",
    };
  }
  return {};
}

/** The three vendors' error bodies differ in wording only: `{ error: { message, type | code | status } }`, Gemini's perhaps in a list. */
function readVendorError(body: string): { readonly message: string; readonly vendorCode: string } {
  const parsed = parseJson(body);
  const value = "value" in parsed ? parsed.value : undefined;
  const first = Array.isArray(value) ? value[0] : value;
  const error = field(first, "error");
  const message = field(error, "message");
  const code = field(error, "type") ?? field(error, "status") ?? field(error, "code");
  return {
    message: typeof message === "string" ? message : typeof error === "string" ? error : "",
    vendorCode: typeof code === "string" ? code : "",
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/**
 * `retry-after-ms`, or `retry-after` in seconds or as a date. A date is measured against the host's own `date` header:
 * our clock may be wrong, the host's is the one it means. Anything else is nothing to go by.
 */
function readRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = readNumber(headers["retry-after-ms"]);
  if (ms !== undefined) return ms;
  const value = headers["retry-after"];
  const seconds = readNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const wait = Date.parse(value ?? "") - Date.parse(headers.date ?? "");
  return Number.isFinite(wait) && wait >= 0 ? wait : undefined;
}

function readNumber(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
