import type { Chunk, ErrorItem, ChunkOf } from "#domain";
import { openAiChat } from "#dialects";
import { createScriptedFetch, type FetchReply, type FetchScript } from "#testing";
import { describe, expect, it } from "vitest";
import { type Exchange, streamExchange } from "./exchange.ts";

const KEY = "sk-canary-0123456789";

function exchangeWith(script: FetchScript, headers: Record<string, string> = { authorization: `Bearer ${KEY}` }) {
  const fetch = createScriptedFetch(script);
  const exchange: Exchange = {
    fetch,
    url: "https://user:pass@models.test/v1/chat/completions",
    headers,
    body: '{"model":"m"}',
    format: openAiChat,
    provider: "openai",
    keyHint: "OPENAI_API_KEY",
  };
  return { fetch, exchange };
}

async function read(exchange: Exchange, signal: AbortSignal = new AbortController().signal): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const batch of streamExchange(exchange, signal)) chunks.push(...batch);
  return chunks;
}

async function refusal(reply: FetchReply): Promise<ChunkOf<ErrorItem>> {
  const { fetch, exchange } = exchangeWith([reply]);
  const [error, ...rest] = await read(exchange);
  expect(rest).toEqual([]);
  expect(fetch.requests).toHaveLength(1);
  if (error?.type !== "error") throw new Error("no error");
  expect(error.terminal).toBe(true);
  return error;
}

const delta = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;
const END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

describe("an exchange with a model host", () => {
  it("sends one request and returns the decoded reply", async () => {
    const { fetch, exchange } = exchangeWith([{ body: [delta("Hel"), delta("lo"), END] }]);
    const chunks = await read(exchange);
    expect(chunks.map((chunk) => chunk.type)).toEqual(["start", "text-delta", "text-delta", "message"]);
    expect(fetch.requests).toEqual([
      {
        method: "POST",
        url: "https://user:pass@models.test/v1/chat/completions",
        headers: {
          "content-type": "application/json",
          accept: "text/event-stream",
          authorization: `Bearer ${KEY}`,
        },
        body: '{"model":"m"}',
      },
    ]);
  });

  it.each([
    [400, "provider-invalid-request"],
    [401, "provider-auth"],
    [403, "provider-auth"],
    [404, "provider-invalid-request"],
    [408, "provider-error"],
    [409, "provider-error"],
    [413, "provider-invalid-request"],
    [422, "provider-invalid-request"],
    [429, "provider-rate-limited"],
    [500, "provider-error"],
    [502, "provider-error"],
    [503, "provider-overloaded"],
    [504, "provider-error"],
    [529, "provider-overloaded"],
    [204, "provider-error"],
    [301, "provider-error"],
    [307, "provider-error"],
  ])("status %i is %s", async (status, code) => {
    const error = await refusal({ status });
    expect(error).toMatchObject({ code, message: `openai answered ${status}`, diagnostic: { status } });
  });

  it("the remedy names the key's variable, the model, the limit or the address", async () => {
    const remedy = async (status: number) => (await refusal({ status })).diagnostic?.troubleshooting;
    expect(await remedy(401)).toContain("OPENAI_API_KEY");
    expect(await remedy(404)).toContain("model");
    expect(await remedy(429)).toContain("limit");
    expect(await remedy(302)).toContain("base URL");
  });

  it("SEC6: a redirect is not followed, so the key is not sent anywhere else", async () => {
    const error = await refusal({ status: 307, headers: { location: "https://evil.test/" } });
    expect(error.diagnostic?.hint).toContain("not followed");
  });

  it.each([
    ["OpenAI", '{"error":{"message":"Too many","type":"rate_limit","code":"x"}}', "Too many", "rate_limit"],
    ["Anthropic", '{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}', "Busy", "overloaded_error"],
    ["Gemini in a list", '[{"error":{"code":400,"message":"Bad","status":"INVALID"}}]', "Bad", "INVALID"],
    ["a text for an error", '{"error":"model not found"}', "model not found", undefined],
    ["a sentence at the top", '{"object":"error","message":"No such model"}', "No such model", undefined],
    ["a detail", '{"detail":"Not Found"}', "Not Found", undefined],
    ["plain text", "upstream timed out", "upstream timed out", undefined],
    ["a web page", "<!doctype html><html><head><title>502\n Bad gateway</title>", "502 Bad gateway", undefined],
    ["a web page without a title", "<html><script>alert(1)</script>", "", undefined],
    ["broken JSON", '{"error":{"mess', '{"error":{"mess', undefined],
    ["hostile keys", '{"__proto__":{"error":{"message":"x"}}}', '{"__proto__":{"error":{"message":"x"}}}', undefined],
    ["nothing", "", "", undefined],
  ])("the host's own message is shown: %s", async (_, body, said, vendorCode) => {
    const error = await refusal({ status: 400, body: [body] });
    expect(error.message).toBe(said === "" ? "openai answered 400" : `openai answered 400: ${said}`);
    expect(error.diagnostic?.vendorCode).toBe(vendorCode);
  });

  it("reading of a huge error body stops early, and little of it is kept", async () => {
    let pieces = 0;
    const { exchange } = exchangeWith([{ status: 500 }]);
    const endless: Exchange = {
      ...exchange,
      fetch: async () => ({
        status: 500,
        headers: {},
        body: (async function* () {
          for (;;) {
            pieces += 1;
            yield new TextEncoder().encode("x".repeat(16_384));
          }
        })(),
      }),
    };
    const [error] = await read(endless);
    expect(pieces).toBeLessThan(10);
    expect(JSON.stringify(error).length).toBeLessThan(5000);
  });

  it("a very long message from a vendor is cut", async () => {
    const error = await refusal({ status: 400, body: [JSON.stringify({ error: { message: "y".repeat(60_000) } })] });
    expect(error.message.length).toBeLessThan(1100);
  });

  it("if an error body breaks off, the status is still reported", async () => {
    const error = await refusal({ status: 503, body: ["half", { break: new Error("reset") }] });
    expect(error).toMatchObject({ code: "provider-overloaded", message: "openai answered 503: half" });
  });

  it("a web page with status 200 is distinguished from a cut stream", async () => {
    const body = ["<html><title>Sign in</title>"];
    const error = await refusal({ headers: { "content-type": "text/html; charset=utf-8" }, body });
    expect(error).toMatchObject({ code: "provider-invalid-request", message: expect.stringContaining("Sign in") });
    expect(error.diagnostic?.troubleshooting).toContain("base URL");
  });

  const now = "Wed, 21 Oct 2026 07:28:00 GMT";
  it.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "7" }, 7000],
    ["a fraction of seconds", { "retry-after": "0.5" }, 500],
    ["zero", { "retry-after": "0" }, 0],
    ["more digits than a number holds (F-B15)", { "retry-after": "9".repeat(24) }, Number.MAX_SAFE_INTEGER],
    ["more than any number (F-B15)", { "retry-after": "9".repeat(400) }, Number.MAX_SAFE_INTEGER],
    ["a number written with an exponent (F-B15)", { "retry-after": "1e400" }, Number.MAX_SAFE_INTEGER],
    ["for ever (F-B15)", { "retry-after": "Infinity" }, Number.MAX_SAFE_INTEGER],
    ["a number with its sign (F-B15)", { "retry-after": "+120" }, 120_000],
    ["as many milliseconds (F-B15)", { "retry-after-ms": "9".repeat(24) }, Number.MAX_SAFE_INTEGER],
    ["milliseconds, which are more exact", { "retry-after-ms": "120", "retry-after": "1" }, 120],
    ["a date, by the host's own clock", { "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", date: now }, 30_000],
    ["a date that has passed", { "retry-after": "Wed, 21 Oct 2020 07:28:30 GMT", date: now }, undefined],
    ["a date without the host's clock", { "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT" }, undefined],
    ["a negative number", { "retry-after": "-5", date: now }, undefined],
    ["no number", { "retry-after": "soon", date: now }, undefined],
    ["almost a number", { "retry-after": "12 apples", date: now }, undefined],
    ["a number in disguise", { "retry-after": "0x10", date: now }, undefined],
    ["blank", { "retry-after": " ", date: now }, undefined],
    ["garbage in milliseconds, then seconds", { "retry-after-ms": "x", "retry-after": "2" }, 2000],
    ["nothing", {}, undefined],
  ])("R18: retry-after as %s", async (_, headers, expected) => {
    expect((await refusal({ status: 429, headers })).diagnostic?.retryAfterMs).toBe(expected);
  });

  it.each([
    ["OpenAI's header", { authorization: `Bearer ${KEY}` }],
    ["Anthropic's header", { "x-api-key": KEY }],
    ["Gemini's header", { "x-goog-api-key": KEY }],
    ["a header of one's own", { "my-secret-token": KEY }],
    ["a cookie", { cookie: `session=${KEY}; a=b` }],
  ])("SEC16: the key in %s never appears in an error, whoever repeats it", async (_, headers) => {
    const complaint = JSON.stringify({ error: { message: `Incorrect key ${KEY}.`, type: `bad ${KEY}` } });
    const replies: FetchReply[] = [
      { status: 401, body: [complaint] },
      { status: 500, body: [`stack trace: ${KEY}`] },
      { headers: { "content-type": "text/html" }, body: [`<title>${KEY}</title>`] },
      { fail: new Error(`Invalid header value ${KEY}`) },
      { body: [delta("Hi"), { break: new Error(`broke with ${KEY}`) }] },
      { body: [delta("Hi"), `data: ${complaint}\n\n`] },
      { body: [`data: {"error": ${KEY}\n\n`] },
    ];
    for (const reply of replies) {
      const { exchange } = exchangeWith([reply], headers);
      const errors = (await read(exchange)).filter((chunk) => chunk.type === "error");
      expect(errors.length).toBeGreaterThan(0);
      const shown = errors.map((error) => JSON.stringify(error) + new TextDecoder().decode(error.raw?.bytes));
      expect(shown.join("\n")).not.toContain(KEY);
    }
  });

  it("a password in the address never appears in an error", async () => {
    expect(JSON.stringify(await refusal({ fail: new Error("no") }))).not.toContain("pass@");
  });

  it("a connection that fails or breaks is provider-unreachable, and what came before is kept", async () => {
    const { exchange } = exchangeWith([{ body: [delta("Hel"), { break: new Error("reset") }] }]);
    expect((await read(exchange)).map((chunk) => chunk.type)).toEqual(["start", "text-delta", "error"]);
    expect(await refusal({ fail: new Error("refused") })).toMatchObject({
      code: "provider-unreachable",
      message: "The connection to openai (models.test) failed: refused",
    });
  });

  it("if aborted before it began, nothing is sent and nothing is reported", async () => {
    const { fetch, exchange } = exchangeWith([{ body: [delta("Hi"), END] }]);
    expect(await read(exchange, AbortSignal.abort())).toEqual([]);
    expect(fetch.requests).toEqual([]);
  });

  it.each<[string, FetchReply]>([
    ["before the status", { stall: true }],
    ["in the reply", { body: [delta("Hi"), { stall: true }] }],
    ["in an error body", { status: 500, body: ["oops", { stall: true }] }],
  ])("aborted %s, it ends without an error", async (_, reply) => {
    const { exchange } = exchangeWith([reply]);
    const controller = new AbortController();
    const reading = read(exchange, controller.signal);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect((await reading).filter((chunk) => chunk.type === "error")).toEqual([]);
  });

  it("the connection is released if the reader leaves", async () => {
    let released = false;
    const { exchange } = exchangeWith([]);
    const endless: Exchange = {
      ...exchange,
      fetch: async () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          try {
            for (;;) yield new TextEncoder().encode(delta("a"));
          } finally {
            released = true;
          }
        })(),
      }),
    };
    for await (const _ of streamExchange(endless, new AbortController().signal)) break;
    expect(released).toBe(true);
  });
});
