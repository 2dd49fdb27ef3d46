import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelBackend, ModelRequest, ToolSpec } from "#backends";
import type { Chunk, Fetch } from "#domain";
import { createEmulator } from "#emulator";
import { createHttpBackend } from "../../src/backends/http/backend.ts";
import { anthropicHost } from "../../src/dialects/anthropic/profile.ts";
import { geminiHost } from "../../src/dialects/gemini/profile.ts";
import { openaiHost, PROFILES } from "../../src/dialects/openai-chat/profile.ts";
import { fuzzRuns } from "../effort.ts";
import { conversation } from "./conversations.ts";

const numRuns = fuzzRuns(1000);

const place = { apiKey: "any", baseUrl: "http://offline.invalid/v1" };
const BACKENDS: readonly [string, (fetch: Fetch) => ModelBackend][] = [
  ["anthropic", (fetch) => createHttpBackend(anthropicHost({ ...place, model: "claude" }), fetch)],
  ["google, Gemini 2.5", (fetch) => createHttpBackend(geminiHost({ ...place, model: "gemini-2.5-pro" }), fetch)],
  ["google, Gemini 3", (fetch) => createHttpBackend(geminiHost({ ...place, model: "gemini-3-pro-preview" }), fetch)],
  ...Object.entries(PROFILES).map(([provider, profile]): [string, (fetch: Fetch) => ModelBackend] => [
    provider,
    (fetch) => createHttpBackend(openaiHost({ ...place, provider, profile, model: "m" }), fetch),
  ]),
];

const tools: readonly ToolSpec[] = [
  { name: "add", description: "Add", inputSchema: { type: "object", properties: { a: { type: "number" } } } },
  { name: "pick", description: "Pick", inputSchema: { anyOf: [{ type: "object" }] } },
];

const request: fc.Arbitrary<ModelRequest> = fc.record({
  messages: conversation,
  instructions: fc.constantFrom(undefined, "", "Be brief."),
  tools: fc.constantFrom<readonly ToolSpec[]>([], tools),
  toolChoice: fc.constantFrom<ModelRequest["toolChoice"]>(undefined, "auto", "none", "required", { name: "add" }),
  parallelToolCalls: fc.constantFrom(undefined, true, false),
  maxTokens: fc.constantFrom(undefined, 1, 4096),
  temperature: fc.constantFrom(undefined, 0, 1),
  thinkingTokens: fc.constantFrom(undefined, 1024, 20_000),
});

describe.each(BACKENDS)("%s", (_, create) => {
  it("AT-67 R10: the strict server accepts any conversation from any vendor", async () => {
    const emulator = createEmulator({ strict: true, script: { rules: [{ reply: { text: "ok" } }] } });
    const backend = create(emulator.fetch);
    await fc.assert(
      fc.asyncProperty(request, async (asked) => {
        const chunks: Chunk[] = [];
        for await (const batch of backend.stream(asked, new AbortController().signal)) chunks.push(...batch);
        expect(chunks.find((chunk) => chunk.type === "error")).toBeUndefined();
      }),
      { numRuns },
    );
  });
});
