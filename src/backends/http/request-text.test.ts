import type { HttpRequest, Message } from "#domain";
import { afterEach, describe, expect, it, vi } from "vitest";
import { anthropicHost, geminiHost, openaiHost, PROFILES } from "#dialects";
import type { ModelBackend } from "../backend.ts";
import { createHttpBackend } from "./backend.ts";

const TEXT = 'A sentence with a "quote", an é and a 𝄞.\n'.repeat(20_000);
const rows = Array.from({ length: 30_000 }, (_, at) => ({ at, name: `row "${at}"` }));

/** A conversation with everything that may be large. */
const conversation = (text: string, input: unknown): Message[] => [
  { id: "1", role: "user", blocks: [{ type: "text", text }] },
  { id: "2", role: "assistant", blocks: [{ type: "text", text: "First." }] },
  { id: "3", role: "user", blocks: [{ type: "text", text: "Go on." }] },
  {
    id: "4",
    role: "assistant",
    blocks: [
      { type: "text", text },
      { type: "tool-call", callId: "call_1", name: "keep", input },
    ],
  },
  { id: "5", role: "user", blocks: [{ type: "tool-result", callId: "call_1", output: text, isError: false }] },
];

const BACKENDS: readonly [string, (fetch: (request: HttpRequest) => Promise<never>) => ModelBackend][] = [
  ["anthropic", (fetch) => createHttpBackend(anthropicHost(HOST), fetch)],
  [
    "openai",
    (fetch) => createHttpBackend(openaiHost({ ...HOST, provider: "openai", profile: PROFILES.openai }), fetch),
  ],
  ["gemini", (fetch) => createHttpBackend(geminiHost(HOST), fetch)],
];
const HOST = { model: "m", apiKey: "k", baseUrl: "http://host.test" };

afterEach(() => vi.restoreAllMocks());

describe.each(BACKENDS)("F-B1: what is sent to %s", (_, create) => {
  /** What the backend sends for each of these conversations. */
  async function send(...conversations: (readonly Message[])[]): Promise<HttpRequest["body"][]> {
    const bodies: HttpRequest["body"][] = [];
    const backend = create(async ({ body }) => {
      bodies.push(body);
      throw new Error("enough");
    });
    for (const messages of conversations) {
      const request = { messages, tools: [{ name: "keep", description: "Keeps.", inputSchema: { type: "object" } }] };
      for await (const _chunks of backend.stream(request, new AbortController().signal));
    }
    return bodies;
  }
  const shown = (body: HttpRequest["body"]): string =>
    typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body);

  it("is the same text for large values as for small ones, turn after turn", async () => {
    const small = conversation("TEXT", { rows: "ROWS" });
    const large = conversation(TEXT, { rows });
    const turns = (messages: readonly Message[]) => [messages.slice(0, 3), messages];
    const expected = (await send(...turns(small))).map((body) => JSON.parse(shown(body)));
    const put = (value: unknown): unknown => {
      if (value === "TEXT") return TEXT;
      if (value === "ROWS") return rows;
      if (value === '{"rows":"ROWS"}') return JSON.stringify({ rows });
      if (typeof value !== "object" || value === null) return value;
      if (Array.isArray(value)) return value.map(put);
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, put(member)]));
    };
    const bodies = (await send(...turns(large))).map(shown);
    // Not `toEqual` on megabytes: it would print the difference.
    expect(bodies.map((body, at) => body === JSON.stringify(put(expected[at])))).toEqual([true, true]);
  });

  it("is written in pieces, so that nothing long is written at once", async () => {
    const write = JSON.stringify;
    let longest = 0;
    vi.spyOn(JSON, "stringify").mockImplementation(((value: unknown) => {
      const text = write(value);
      longest = Math.max(longest, text?.length ?? 0);
      return text;
    }) as typeof JSON.stringify);
    const [body] = await send(conversation(TEXT, { rows }));
    vi.restoreAllMocks();
    expect(body).toBeInstanceOf(Uint8Array);
    expect(longest).toBeLessThan(262_144);
  });
});
