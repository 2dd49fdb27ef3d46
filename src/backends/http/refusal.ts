import { type Chunk, type Diagnostic, type ErrorCode, errorItem } from "#domain";
import { isRecord, ownString, ownValue, parseJson } from "#wire";

/** The refusing provider, for messages. */
interface Asked {
  readonly provider: string;
  readonly keyHint: string;
}

/** A response that is not a model's reply. */
interface Refused {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The maximum length of a host's own message. */
const MAX_MESSAGE = 1000;
const MAX_SEEN = 2048;

/** The terminal error for an unsuccessful status: its meaning, the host's message, and the remedy. */
export function describeRefusal(asked: Asked, { status, headers, body }: Refused): Chunk {
  const { message, vendorCode, details } = readVendorError(body);
  const retryAfterMs = readRetryAfter(headers) ?? readRetryDelay(details);
  const said = (message === "" ? plainWords(body) : message).slice(0, MAX_MESSAGE);
  const diagnostic: Diagnostic = {
    status,
    ...(vendorCode !== "" && { vendorCode: vendorCode.slice(0, 100) }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...hintFor(asked, status),
    seen: body.slice(0, MAX_SEEN),
  };
  return errorItem({
    code: codeOf(status),
    message: `${asked.provider} answered ${status}${said === "" ? "" : `: ${said}`}`,
    terminal: true,
    diagnostic,
  });
}

/** A web page instead of a stream: a login page, a proxy, or a wrong address. */
export function describeWebPage(asked: Asked, body: string): Chunk {
  const title = plainWords(body);
  return errorItem({
    code: "provider-invalid-request",
    message: `${asked.provider} answered with a web page${title === "" ? "" : ` (${title})`} instead of a stream`,
    terminal: true,
    diagnostic: {
      status: 200,
      hint: "Something other than the model's API answers at this address.",
      troubleshooting: "Check the base URL, and whether it leads to a proxy or a login page.",
      seen: body.slice(0, MAX_SEEN),
    },
  });
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return "provider-auth";
  if (status === 429) return "provider-rate-limited";
  if (status === 503 || status === 529) return "provider-overloaded";
  // A time-out or a conflict at the host: nothing is wrong with the request.
  if (status === 408 || status === 409) return "provider-error";
  return status >= 400 && status < 500 ? "provider-invalid-request" : "provider-error";
}

function hintFor(asked: Asked, status: number): Pick<Diagnostic, "hint" | "troubleshooting"> {
  if (status === 401 || status === 403) {
    return { hint: "The key was not accepted.", troubleshooting: `Check ${asked.keyHint}.` };
  }
  if (status === 404) {
    return {
      hint: "The host knows no such model or address.",
      troubleshooting: "Check the model's name and the base URL.",
    };
  }
  if (status === 429) {
    return { hint: "The host limits how much may be asked.", troubleshooting: "Wait, or raise the limit there." };
  }
  if (status >= 300 && status < 400) {
    return {
      hint: "The host redirects; that is not followed, because the key would go along.",
      troubleshooting: "Set the base URL to the final address.",
    };
  }
  if (status === 408 || status === 409 || status >= 500) {
    return { hint: "Something went wrong at the host.", troubleshooting: "Try again later, or ask another backend." };
  }
  return {
    hint: "The host does not accept the request.",
    troubleshooting: "Correct what it names: an option, the input, or the model, which may not be able to do this.",
  };
}

/**
 * The three vendors' error bodies differ only in names: `{ error: { message, type | code | status } }`, Gemini's
 * sometimes in a list.
 */
function readVendorError(body: string): {
  readonly message: string;
  readonly vendorCode: string;
  readonly details: unknown;
} {
  const parsed = parseJson(body);
  const value = parsed.fault === undefined ? parsed.value : undefined;
  const first = Array.isArray(value) ? value[0] : value;
  const error = field(first, "error");
  // Hosts that imitate an API may deviate: some put the message at the top level, or call it `detail`.
  const message = field(error, "message") ?? field(first, "message") ?? field(first, "detail");
  const code = field(error, "type") ?? field(error, "status") ?? field(error, "code");
  return {
    message: typeof message === "string" ? message : typeof error === "string" ? error : "",
    vendorCode: typeof code === "string" ? code : "",
    details: field(error, "details"),
  };
}

/** The text of a body without an error object: the title of a page, or the beginning of the text. */
function plainWords(body: string): string {
  if (!/^\s*</.test(body)) return body.slice(0, 300).trim();
  const title = /<title[^>]{0,200}>([^<]{0,300})/i.exec(body)?.[1] ?? "";
  return title.replace(/\s+/g, " ").trim();
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? ownValue(value as Record<string, unknown>, name) : undefined;
}

/**
 * Reads `retry-after-ms`, or `retry-after` in seconds or as a date. A date is compared with the host's own `date`
 * header, because our clock may be wrong. Anything else is ignored. A number of any size counts: one that is too large
 * means a very long wait, not none.
 */
function readRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = readNumber(headers["retry-after-ms"]);
  if (ms !== undefined) return Math.min(ms, LONGEST_WAIT_MS);
  const value = headers["retry-after"];
  const seconds = readNumber(value);
  if (seconds !== undefined) return Math.min(seconds * 1000, LONGEST_WAIT_MS);
  const wait = readDate(value) - readDate(headers.date);
  return Number.isFinite(wait) && wait >= 0 ? wait : undefined;
}

/** The largest number that survives JSON unchanged. */
const LONGEST_WAIT_MS = Number.MAX_SAFE_INTEGER;

/** A delay in the body of an error, as Gemini sends it: `"34.07s"` in one of its `details`. */
function readRetryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay = isRecord(detail) ? ownString(detail, "retryDelay") : undefined;
    const seconds = delay?.endsWith("s") === true ? readNumber(delay.slice(0, -1)) : undefined;
    if (seconds !== undefined) return Math.min(seconds * 1000, LONGEST_WAIT_MS);
  }
  return undefined;
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\+?(\d+(\.\d*)?(e\+?\d+)?|Infinity)\s*$/i.test(text) ? Number(text) : undefined;
}

/** Parses an HTTP date. `Date.parse` alone accepts nearly anything. */
function readDate(text: string | undefined): number {
  const isDate =
    text !== undefined && /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4,6} \d{2}:\d{2}:\d{2} GMT$/.test(text.trim());
  return isDate ? Date.parse(text) : Number.NaN;
}
