import { describe, expect, it } from "vitest";
import { openaiHost, PROFILES, type ModelRequest } from "#dialects";
import { createEmulator } from "#emulator";
import { createHttpBackend } from "./backend.ts";

describe("the notice from a host", () => {
  it("comes with the first chunks from the host, never earlier, because it is no sign of life", async () => {
    const { fetch } = createEmulator({ script: { rules: [{ reply: { text: "Hello there" } }] } });
    const place = { apiKey: "any", baseUrl: "http://offline.invalid/v1" };
    const host = openaiHost({ ...place, provider: "openai", profile: PROFILES.openai, model: "gpt-5" });
    const backend = createHttpBackend(host, fetch);
    expect(backend.ignores).toEqual([]);
    const batches: string[][] = [];
    const messages = [{ id: "u", role: "user", blocks: [{ type: "text", text: "Hi" }] }] as const;
    const request: ModelRequest = { messages, tools: [], thinkingTokens: 4096 };
    for await (const batch of backend.stream(request, new AbortController().signal)) {
      batches.push(batch.map((chunk) => chunk.type));
    }
    expect(batches[0]?.[0]).toBe("notice");
    expect(batches[0]?.length).toBeGreaterThan(1);
    expect(batches.flat().filter((type) => type === "notice")).toHaveLength(1);
  });
});
